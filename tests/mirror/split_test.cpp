// split_module: which submodules are made, what they pass on, in which order.
#include <map>

#include "fxjit/fx/passes/split_module.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {
namespace TEST_FILE {

using fx::symbolic_trace;
using fx::passes::SplitOptions;
using Callback = std::function<int64_t(const fx::Node&)>;

class Model : public nn::Custom<Model> {
 public:
  Model() : Custom("Model", {"x", "y"}) {
    param = register_parameter("param", Tensor::zeros({3, 4}));
    linear = register_module("linear", nn::Linear::create(4, 5));
  }
  Value forward(Value x, Value y) {
    auto clamped = [](const Value& v) {
      return method(v, "clamp", {}, {{"min", 0.0}, {"max", 1.0}});
    };
    Value z = clamped(linear(x + param));
    Value w = clamped(linear(y));
    return z + w;
  }
  nn::Parameter param;
  nn::Ref<nn::Linear> linear;
};

nn::Ref<fx::GraphModule> model() {
  return symbolic_trace(filled(Model::create()));
}

Callback by_turns(int64_t count) {
  return [count, next = int64_t{0}](const fx::Node&) mutable {
    return next++ % count;
  };
}
Callback by_name(std::map<std::string, int64_t> partitions) {
  return [partitions](const fx::Node& node) {
    return partitions.at(std::string(node.name()));
  };
}
int64_t all_in_0(const fx::Node&) { return 0; }

nn::Ref<fx::GraphModule> branches() {
  return symbolic_trace(
      [](Value x, Value y) -> Value {
        Value a = relu(x);
        Value b = sigmoid(y);
        Value c = neg(x);
        Value d = a + b;
        return Value::tuple({d * c, b});
      },
      {"x", "y"});
}
const std::map<std::string, int64_t> kParts = {
    {"relu", 0}, {"sigmoid", 1}, {"neg", 2}, {"add", 3}, {"mul", 3}};

class Split : public Case {
 protected:
  nn::Ref<fx::GraphModule> split(const nn::Ref<fx::GraphModule>& gm,
                                 const Callback& callback,
                                 const SplitOptions& options = {},
                                 fx::passes::QualnameMap* names = nullptr) {
    const std::string before = gm->graph().str();
    auto made = fx::passes::split_module(*gm, callback, options, names);
    EXPECT_EQ(gm->graph().str(), before);
    expect_graph(made);
    expect_code(made);
    for (const auto& [name, child] : made->children()) {
      auto* const part = dynamic_cast<fx::GraphModule*>(child.get());
      if (!part) continue;
      expect_text("submodule", name);
      expect_graph(part->graph());
    }
    return made;
  }
};

MIRROR_CASE(Split, by_turns_of_three) {
  const auto made = split(model(), by_turns(3));
  expect_outputs(made, {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(Split, one_partition) {
  split(model(), [](const fx::Node&) { return 7; });
}

MIRROR_CASE(Split, tuples_and_names) {
  SplitOptions options;
  options.tuple_return = true;
  options.keep_original_node_name = true;
  options.partition_affix = "part";
  fx::passes::QualnameMap names;
  split(model(), by_turns(3), options, &names);
  std::string lines;
  for (const auto& [now, before] : names)
    lines += (lines.empty() ? "" : "\n") + now + "=" + before;
  expect_text("names", lines);
}

MIRROR_CASE(Split, numbered_inputs) {
  SplitOptions options;
  options.keep_original_input_name = false;
  split(model(), by_turns(3), options);
}

MIRROR_CASE(Split, several_roots) {
  const auto made = split(branches(), by_name(kParts));
  expect_outputs(made, {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(Split, original_order) {
  SplitOptions options;
  options.keep_original_order = true;
  split(branches(), by_name(kParts), options);
}

MIRROR_CASE(Split, original_order_of_parameters) {
  SplitOptions options;
  options.keep_original_order = true;
  split(model(), by_turns(3), options);
}

MIRROR_CASE(Split, defaults_and_unused) {
  split(symbolic_trace([](Value x, Value,
                          Value scale) -> Value { return relu(x) * scale; },
                       {"x", "unused", {"scale", 2.0}}),
        all_in_0);
}

MIRROR_CASE(Split, nothing_to_split) {
  split(symbolic_trace([](Value x) -> Value { return x; }, {"x"}), all_in_0);
}

MIRROR_CASE(Split, cycle) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return neg(sigmoid(relu(x))); }, {"x"});
  expect_error([&] {
    fx::passes::split_module(*gm,
                             by_name({{"relu", 0}, {"sigmoid", 1}, {"neg", 0}}));
  });
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
