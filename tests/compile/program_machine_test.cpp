// A program says for which machine it was planned, and what it was planned by
// is nothing else of the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "src/compile/compiled_module.h"
#include "src/passes/pipeline.h"
#include "src/program/planning/planner.h"
#include "src/program/text/text.h"
#include "src/support/machine/processor.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using program::Program;

struct Traced {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
};

// Each differs from the default in one fact.
std::vector<program::Machine> other_machines() {
  std::vector<program::Machine> machines(8);
  machines[0].level = CpuLevel::avx2;
  machines[1].cache_bytes = 3;
  machines[2].threads = 7;
  machines[3].halves.f16 = true;
  machines[4].halves.bf16 = true;
  machines[5].fast_products = true;
  machines[6].dot_products = true;
  machines[7].tile_products = true;
  // A further field does not compile here, and needs a machine above.
  [[maybe_unused]] const auto& [level, cache_bytes, threads, halves,
                                fast_products, dot_products, tile_products] =
      machines[0];
  return machines;
}

TEST(ProgramMachine, ProgramsSayForWhichMachine) {
  const Program plain;
  for (const program::Machine& machine : other_machines()) {
    Program other;
    other.machine = machine;
    const std::string text = program::write_text(other);
    EXPECT_FALSE(other == plain) << text;
    EXPECT_TRUE(program::read_text(text) == other) << text;
  }
}

// A loop around a recurrent layer.
Traced recurrent_loop() {
  const auto lstm = nn::LSTM::create(12, 12);
  const auto model = nn::lambda(
      "Model", {"n", "x"},
      [lstm](Value n, Value x) {
        return while_loop([n](Value i, Value) { return i < n; },
                          [lstm](Value i, Value x) {
                            return Value::tuple({i + 1, getitem(lstm(x), 0)});
                          },
                          {Tensor::full({}, 0, DType::i64), x});
      },
      {{"lstm", lstm}});
  model->eval();
  return {
      fx::symbolic_trace(model),
      {Tensor::full({}, 3, DType::i64), testing::random_tensor({3, 5, 12})}};
}

TEST(ProgramMachine, BodiesAreForTheMachineOfTheProgram) {
  const Traced model = recurrent_loop();
  compile(*model.module, testing::options_for(host_cpu_level()));
  const auto shape = compiled_module(*model.module)->get(model.inputs);
  ASSERT_TRUE(shape->native()) << shape->why_not();
  const Program& program = shape->executable().program();
  EXPECT_EQ(program.machine.fast_products, support::host_is_intel());
  ASSERT_GT(program.bodies.size(), 0u);
  for (const Program& body : program.bodies)
    EXPECT_TRUE(body.machine == program.machine);
}

Program planned(const Traced& model, const program::Machine& machine) {
  program::PlanOptions options;
  options.machine = machine;
  options.pipeline = program::passes_for(machine);
  return program::plan(passes::run_pipeline(*model.module, model.inputs,
                                            options.pipeline),
                       options)
      .program;
}

int products_in(const Program& program) {
  int products = 0;
  for (const program::Step& step : program.steps)
    products += step.label.find("matmul") != step.label.npos;
  for (const Program& body : program.bodies) products += products_in(body);
  return products;
}

TEST(ProgramMachine, FastProductsStayApartFromRecurrentLayers) {
  program::Machine machine;
  machine.level = CpuLevel::avx512;
  const Traced model = recurrent_loop();
  EXPECT_EQ(products_in(planned(model, machine)), 0);
  machine.fast_products = true;
  EXPECT_EQ(products_in(planned(model, machine)), 1);
}

std::vector<weights::Format> formats_in(const Program& program) {
  std::vector<weights::Format> formats;
  for (const weights::PackSpec& weight : program.packed)
    formats.insert(formats.end(), weight.formats.begin(), weight.formats.end());
  return formats;
}

// One packed weight is for few rows and for many, whichever the form is.
TEST(ProgramMachine, TheFormOfIntegerProductsIsOfTheMachine) {
  using weights::Format;
  const Tensor w = Tensor::full({64, 32}, 3, DType::i8);
  for (const int64_t rows : {1, 40}) {
    const Traced model{
        fx::symbolic_trace(
            [w](Value x) {
              return function("fxjit.integer_matmul", {x, w, None, None});
            },
            {"x"}, "f"),
        {Tensor::full({rows, 64}, 2, DType::u8)}};
    program::Machine machine;
    machine.level = CpuLevel::avx512;
    // The best is chosen by its numbers, single rows take the first.
    std::vector<Format> any{Format::quads1, Format::quads2, Format::quads4};
    any.insert(rows == 1 ? any.begin() : any.end(), Format::quads);
    EXPECT_EQ(formats_in(planned(model, machine)), any);
    machine.dot_products = true;
    EXPECT_EQ(formats_in(planned(model, machine)),
              std::vector{Format::quads});
    machine.tile_products = true;
    EXPECT_EQ(formats_in(planned(model, machine)),
              std::vector{Format::tiles});
  }
}

// Transforms need products of 16 bits, which no longer pay where one
// instruction adds four products of 8 bits.
TEST(ProgramMachine, TransformsOfIntegersAreForMachinesWithoutDots) {
  const Tensor w = Tensor::full({64, 64, 3, 3}, 3, DType::i8);
  const Dims ones{1, 1};
  const Traced model{fx::symbolic_trace(
                         [&](Value x) {
                           return function("fxjit.integer_conv",
                                           {x, w, ones, ones, ones, ones, 1,
                                            None, None, None});
                         },
                         {"x"}, "f"),
                     {Tensor::full({1, 64, 28, 28}, 2, DType::u8)}};
  const auto transforms = [&](const program::Machine& machine) {
    return std::ranges::count_if(planned(model, machine).packed,
                                 [](const weights::PackSpec& weight) {
                                   return weight.winograd_tile > 0;
                                 });
  };
  program::Machine machine;
  machine.level = CpuLevel::avx512;
  EXPECT_EQ(transforms(machine), 1);
  machine.dot_products = true;
  EXPECT_EQ(transforms(machine), 0);
  machine.tile_products = true;
  EXPECT_EQ(transforms(machine), 0);
}

}  // namespace TEST_FILE
}  // namespace fxjit
