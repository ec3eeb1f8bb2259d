// PyTorch's cases of the ops that write elements at places which index tensors
// give, each as a call that writes an input: compiled, the input afterwards is
// PyTorch's result, and only these elements are touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using testing::StructuredCase;

constexpr auto kFailure = StructuredCase::Kind::failure;

// x.row_(...) with tensors as inputs, x the first, and sums behind it.
struct WritingCall {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
};

WritingCall writing(const StructuredCase& c) {
  WritingCall made;
  auto graph = std::make_unique<fx::Graph>();
  const auto to_input = [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    made.inputs.push_back(leaf);
    return graph->placeholder("x" + std::to_string(made.inputs.size()));
  };
  ValueList args;
  Kwargs kwargs;
  for (const Value& arg : c.args) args.push_back(map_leaves(arg, to_input));
  for (const auto& [name, arg] : c.kwargs)
    kwargs.emplace_back(name, map_leaves(arg, to_input));
  const Value x = args[0];
  graph->call_method(c.op + "_", std::move(args), std::move(kwargs));
  graph->output(graph->call_method("neg", {graph->call_method("double", {x})}));
  made.module = fx::GraphModule::create(nn::Module(), std::move(graph));
  return made;
}

// A copy of the same strides.
Tensor copy_of(const Tensor& t) {
  int64_t last = 0;
  for (int d = 0; d < t.dim(); ++d)
    last += t.stride(d) * std::max<int64_t>(t.size(d) - 1, 0);
  const Tensor memory = Tensor::zeros({last + 1}, t.dtype());
  const Tensor copy = memory.as_strided(t.sizes(), t.strides(), 0);
  copy.copy_from(t);
  return copy;
}

ValueList with_own_first(const ValueList& inputs) {
  ValueList own = inputs;
  own[0] = copy_of(inputs[0].as_tensor());
  return own;
}

bool has_mask(const StructuredCase& c) {
  bool mask = false;
  visit_leaves(c.args[1], [&](const Value& leaf) {
    mask |= leaf.is_tensor() && leaf.as_tensor().dtype() == DType::boolean;
  });
  return mask;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + 1))
    ++count;
  return count;
}

// The update works in place and no other step touches the input but to read it:
// only masks lead to a copy back. Inputs whose memory is not row-major are
// written by the interpreter.
void expect_no_copies(const StructuredCase& c, const fx::GraphModule& module) {
  const std::string text = report(module);
  const bool native = c.args[0].as_tensor().is_contiguous();
  EXPECT_EQ(make_report(module).native(), native) << text;
  const int updates = native && !has_mask(c) ? 1 : 0;
  EXPECT_EQ(count_of(text, " in place  "), updates) << text;
  EXPECT_EQ(count_of(text, "loops write back"), has_mask(c) ? 1 : 0) << text;
  for (const char* copy : {" copy ", "materialize", "layout"})
    EXPECT_EQ(count_of(text, copy), 0) << text;
}

struct Outcome {
  std::string error;  // Empty: none.
  Value x;
};

template <typename Run>
Outcome outcome_of(const ValueList& inputs, const Run& run) {
  const ValueList own = with_own_first(inputs);
  try {
    run(own);
  } catch (const IndexError& error) {
    return {"IndexError: " + error.message(), own[0]};
  } catch (const RuntimeError& error) {
    return {"RuntimeError: " + error.message(), own[0]};
  }
  return {"", own[0]};
}

class Updates : public ::testing::TestWithParam<const char*> {
 protected:
  static std::vector<StructuredCase> cases() {
    std::vector<StructuredCase> all =
        testing::read_structured_reference("structured_reference.txt");
    std::erase_if(all, [](const StructuredCase& c) {
      return c.op != GetParam() || !c.args[0].is_tensor();
    });
    return all;
  }
};

TEST_P(Updates, OfInputsAreTorchs) {
  for (const StructuredCase& c : cases()) {
    if (c.kind == kFailure) continue;
    SCOPED_TRACE(c.op + " " + c.text);
    testing::WarningLog log;
    const WritingCall call = writing(c);
    compile(*call.module, testing::quick());
    for (int times = 0; times < 2; ++times) {
      const Outcome got = outcome_of(call.inputs, [&](const ValueList& own) {
        call.module->forward(own);
      });
      EXPECT_EQ(got.error, "");
      EXPECT_EQ(testing::difference(got.x, c.expected, false), "");
    }
    expect_no_copies(c, *call.module);
  }
}

// A call with bad indices leaves its input alone, also after good calls.
TEST_P(Updates, ThatFailGiveTorchsErrors) {
  for (const StructuredCase& c : cases()) {
    if (c.kind != kFailure) continue;
    SCOPED_TRACE(c.op + " " + c.text);
    testing::WarningLog log;
    const WritingCall call = writing(c);
    compile(*call.module, testing::quick());
    const Outcome got = outcome_of(
        call.inputs, [&](const ValueList& own) { call.module->forward(own); });
    EXPECT_EQ(got.error, c.error_type + ": " + c.error_text);
    EXPECT_EQ(testing::difference(got.x, call.inputs[0], false), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Updates,
                         ::testing::Values("index_put", "index_add",
                                           "index_copy", "scatter",
                                           "scatter_add", "scatter_reduce"),
                         [](const auto& info) { return info.param; });

}  // namespace TEST_FILE
}  // namespace fxjit
