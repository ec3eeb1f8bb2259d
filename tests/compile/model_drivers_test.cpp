// Drivers of whole nets with one thread: they call the kernel of each generated
// step and each primitive of oneDNN themselves, and ask the runtime for
// routines alone.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <variant>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/inspection.h"
#include "fxjit/nn.h"
#include "jit/program_compiler.h"
#include "src/compile/compiled_module.h"
#include "src/passes/pipeline.h"
#include "src/program/driver/primitive_code.h"
#include "src/program/driver/schedule.h"
#include "src/program/planning/planner.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::random_tensor;

struct Calls {
  size_t kernels = 0, primitives = 0, runtime = 0;

  friend bool operator==(const Calls&, const Calls&) = default;
};

void PrintTo(const Calls& calls, std::ostream* out) {
  *out << calls.kernels << " kernels, " << calls.primitives << " primitives, "
       << calls.runtime << " by the runtime";
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

// Those in a driver, without its block for calls that are measured. The runtime
// is told of each primitive that fails.
Calls calls_in(const std::string& ir) {
  const std::string code = ir.substr(0, ir.find("\nobserved:"));
  const size_t primitives = count_of(code, "@dnnl_primitive_execute(");
  return {count_of(code, "call void %kernel"), primitives,
          count_of(code, "@fxjit_run_step(") - primitives};
}

// Whether the code of such a step is more than one call of a primitive: a
// routine, or a convolution whose generated tail follows each part of it.
bool is_routine(const program::ExternCode& code, const program::Step& step) {
  const auto* const call = std::get_if<program::CallSpec>(
      &std::get<program::ExternStep>(*step.body).what);
  return code.computed_by() == ComputedBy::routine ||
         (call && !call->tail.empty());
}

Tensor weight(const Dims& sizes, DType dtype = DType::f32) {
  static uint32_t seed = 0;
  const auto sums = static_cast<double>(numel(sizes) / sizes[0]);
  const Tensor numbers = random_tensor(sizes, DType::f32, ++seed);
  const auto scale = static_cast<float>(std::sqrt(2.0 / sums));
  for (int64_t i = 0; i < numbers.numel(); ++i)
    numbers.data_as<float>()[i] *= scale;
  return numbers.to(dtype);
}

Tensor bias(int64_t count, DType dtype = DType::f32) {
  return weight({1, count}, dtype).as_strided({count}, {1}, 0);
}

Value conv(const Value& x, int64_t from, int64_t to, int64_t kernel,
           int64_t stride = 1) {
  return F::conv2d(x, weight({to, from, kernel, kernel}), bias(to), stride,
                   kernel / 2);
}

// Three convolutions of which the second one may halve the image.
Value bottleneck(const Value& x, int64_t from, int64_t inner, int64_t stride) {
  const Value first = F::relu(conv(x, from, inner, 1));
  const Value second = F::relu(conv(first, inner, inner, 3, stride));
  const Value last = conv(second, inner, 4 * inner, 1);
  const bool same = from == 4 * inner && stride == 1;
  return F::relu(last + (same ? x : conv(x, from, 4 * inner, 1, stride)));
}

nn::Ref<fx::GraphModule> resnet50() {
  return fx::symbolic_trace(
      [](Value x) {
        Value y = F::max_pool2d(F::relu(conv(x, 3, 64, 7, 2)), 3, 2, 1);
        int64_t channels = 64, inner = 64;
        for (const int blocks : {3, 4, 6, 3}) {
          for (int i = 0; i < blocks; ++i) {
            y = bottleneck(y, channels, inner, i == 0 && inner > 64 ? 2 : 1);
            channels = 4 * inner;
          }
          inner *= 2;
        }
        return F::linear(flatten(F::adaptive_avg_pool2d(y, 1), 1),
                         weight({1000, channels}));
      },
      {"x"}, "resnet50");
}

TEST(ModelDrivers, ResNet50CallsKernelsAndPrimitivesItself) {
  const auto gm = resnet50();
  CompileOptions options = testing::quick();
  options.threads = 1;
  compile(*gm, options);
  const ValueList inputs{random_tensor({1, 3, 32, 32})};
  EXPECT_EQ(testing::value_difference(gm->forward(inputs),
                                      gm->interpret(inputs), 1e-3, 1e-3),
            "");
  const Inspection seen = inspect(*gm, inputs, {.calls = 1});
  ASSERT_EQ(seen.programs.size(), 1U);
  const auto shape = compiled_module(*gm)->get(inputs);
  const program::Executable& executable = shape->executable();
  Calls expected;
  for (size_t i = 0; i < executable.program().steps.size(); ++i) {
    const program::ExternCode* const code = executable.external(i);
    const bool primitive = code && program::primitive_code(code);
    ++(!code       ? expected.kernels
       : primitive ? expected.primitives
                   : expected.runtime);
    if (code && !primitive)
      EXPECT_TRUE(is_routine(*code, executable.program().steps[i])) << i;
  }
  EXPECT_GE(expected.kernels + expected.primitives, 50U);
  EXPECT_EQ(calls_in(seen.programs[0].driver.ir), expected);
}

// Of bf16, with the sizes of MiniLM's layers.
Value encoder_layer(const Value& x) {
  constexpr int64_t kWidth = 384, kHeads = 12;
  constexpr DType kType = DType::bf16;
  const auto linear = [](const Value& y, int64_t from, int64_t to) {
    return F::linear(y, weight({to, from}, kType), bias(to, kType));
  };
  const auto heads = [&](const Value& y) {
    return transpose(unflatten(linear(y, kWidth, kWidth), 2,
                               Value::tuple({kHeads, kWidth / kHeads})),
                     1, 2);
  };
  const auto norm = [](const Value& y) {
    return F::layer_norm(y, Dims{kWidth}, bias(kWidth, kType),
                         bias(kWidth, kType));
  };
  const Value mixed =
      F::scaled_dot_product_attention(heads(x), heads(x), heads(x));
  const Value joined = flatten(transpose(mixed, 1, 2), 2);
  const Value y = norm(x + linear(joined, kWidth, kWidth));
  const Value wide = F::gelu(linear(y, kWidth, 4 * kWidth));
  return norm(y + linear(wide, 4 * kWidth, kWidth));
}

// Stands for a primitive or a routine that this machine may not have.
class Primitive : public program::PrimitiveCode {
 public:
  std::vector<program::PrimitiveArgument> arguments() const override {
    return {{program::PrimitiveArgument::Kind::operand, 0}};
  }
  std::unique_ptr<program::BoundPrimitive> bind() const override { return {}; }
  void run(const program::StepCall&, int64_t, int64_t) const override {}
  std::string describe() const override { return "primitive"; }
  ComputedBy computed_by() const override { return ComputedBy::library; }
};

class Routine : public Primitive {
 public:
  std::vector<program::PrimitiveArgument> arguments() const override {
    return {};
  }
};

bool is_product(const program::ExternStep& step) {
  const auto* const call = std::get_if<program::CallSpec>(&step.what);
  return call && call->code == program::CallCode::half_product;
}

// On a machine with fast bf16, for which the driver is emitted, not run.
TEST(ModelDrivers, MiniLMOfBf16CallsEachPrimitiveItself) {
  constexpr int kLayers = 6;
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        for (int i = 0; i < kLayers; ++i) x = encoder_layer(x);
        return x;
      },
      {"x"}, "encoder");
  program::PlanOptions options;
  options.machine.level = CpuLevel::avx512;
  options.machine.halves.bf16 = true;
  options.pipeline = program::passes_for(options.machine);
  const program::Program program =
      program::plan(passes::run_pipeline(
                        *gm, ValueList{Tensor::meta({2, 64, 384}, DType::bf16)},
                        options.pipeline),
                    options)
          .program;
  std::vector<program::StepPlan> plans;
  std::vector<std::shared_ptr<const program::ExternCode>> externals;
  Calls expected;
  for (const program::Step& step : program.steps) {
    plans.push_back(program::step_plan(*step.body, options.machine.level));
    auto& external = externals.emplace_back();
    const auto* const body = std::get_if<program::ExternStep>(step.body.get());
    if (!body) {
      ++expected.kernels;
    } else if (is_product(*body)) {
      ++expected.primitives;
      external = std::make_shared<Primitive>();
    } else {
      ++expected.runtime;
      external = std::make_shared<Routine>();
    }
  }
  EXPECT_GE(expected.primitives, size_t{4 * kLayers});
  EXPECT_GE(expected.kernels, size_t{2 * kLayers});
  const program::Schedule schedule =
      program::make_schedule(program, plans, externals, 1);
  const jit::Compiler compiler(jit::EngineOptions{});
  EXPECT_EQ(
      calls_in(
          jit::program_text({}, schedule.driver, compiler, 1).driver.text.ir),
      expected);
}

}  // namespace TEST_FILE
}  // namespace fxjit
