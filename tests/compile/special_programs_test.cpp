// Random programs of ops that IEEE arithmetic defines to the last bit, over
// special numbers: compiled code gives what the interpreter gives, op by op.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fxjit/op.h"
#include "tests/compile/compile_testing.h"
#include "tests/ops/reference.h"

namespace fxjit {
namespace TEST_FILE {

constexpr int kPrograms = 20, kGraphs = 16, kOps = 14;

struct Op {
  const char* name;
  int tensors;
  ValueList rest;
};

// No minimum and maximum of two tensors: of two zeros they give either.
const std::vector<Op>& exact_ops() {
  static const auto* const ops =
      new std::vector<Op>{{"add", 2, {}},        {"sub", 2, {}},
                          {"mul", 2, {}},        {"div", 2, {}},
                          {"neg", 1, {}},        {"abs", 1, {}},
                          {"sqrt", 1, {}},       {"rsqrt", 1, {}},
                          {"reciprocal", 1, {}}, {"square", 1, {}},
                          {"relu", 1, {}},       {"clamp", 1, {-1.0, 1.0}},
                          {"floor", 1, {}},      {"sign", 1, {}},
                          {"add", 1, {0.0}},     {"sub", 1, {-0.0}},
                          {"rsub", 1, {0.0}},    {"mul", 1, {0.0}},
                          {"mul", 1, {3.0}},     {"div", 1, {-7.0}},
                          {"div", 1, {8.0}},     {"addcmul", 3, {}},
                          {"leaky_relu", 1, {}}, {"hardshrink", 1, {}},
                          {"pow", 1, {-0.5}},    {"pow", 1, {3.0}},
                          {"lerp", 2, {0.25}},   {"threshold", 1, {0.5, 20.0}}};
  return *ops;
}

// All numbers of the table, from place `at` on.
Tensor special_numbers(DType type, int64_t at) {
  for (const auto& c : testing::read_reference("special_reference.txt")) {
    const Tensor& given = c.args[0].as_tensor();
    if (given.dtype() != type) continue;
    // The pool holds all of them twice.
    return given.as_strided(given.sizes(), {1}, at).contiguous().clone();
  }
  throw UserError("no special numbers of " + std::string(dtype_name(type)));
}

nn::Ref<fx::GraphModule> random_programs(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](size_t count) { return random() % count; };
  auto graph = std::make_unique<fx::Graph>();
  const std::vector<Value> inputs{graph->placeholder("x"),
                                  graph->placeholder("y"),
                                  graph->placeholder("z")};
  ValueList results;
  for (int program = 0; program < kPrograms; ++program) {
    std::vector<Value> values = inputs;
    for (int i = 0; i < kOps; ++i) {
      const Op& op = exact_ops()[below(exact_ops().size())];
      ValueList args;
      for (int k = 0; k < op.tensors; ++k)
        args.push_back(values[values.size() - 1 -
                              std::min(below(values.size()), below(3))]);
      args.insert(args.end(), op.rest.begin(), op.rest.end());
      values.push_back(
          graph->call_function(ops::get_op(op.name).canonical, args));
    }
    results.push_back(values.back());
  }
  graph->output(Value::tuple(std::move(results)));
  return fx::GraphModule::create(nn::Module(), std::move(graph));
}

// Empty, or the first element that is another number or a zero of another sign.
std::string exact_difference(const Tensor& got, const Tensor& expected) {
  const Tensor a = got.contiguous().to(DType::f64);
  const Tensor b = expected.contiguous().to(DType::f64);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data_as<double>()[i], y = b.data_as<double>()[i];
    if (std::isnan(x) ? std::isnan(y)
                      : x == y && std::signbit(x) == std::signbit(y))
      continue;
    return "element " + std::to_string(i) + ": " + std::to_string(x) + " for " +
           std::to_string(y);
  }
  return "";
}

class SpecialPrograms : public ::testing::TestWithParam<DType> {};

TEST_P(SpecialPrograms, AreExact) {
  const ValueList inputs{special_numbers(GetParam(), 0),
                         special_numbers(GetParam(), 5),
                         special_numbers(GetParam(), 27)};
  for (unsigned seed = 0; seed < kGraphs; ++seed)
    for (CpuLevel level : testing::host_levels()) {
      const auto gm = random_programs(seed);
      compile(*gm, testing::options_for(level));
      ASSERT_TRUE(prepare(*gm, inputs)) << report(*gm);
      const Value got = gm->forward(inputs), expected = gm->interpret(inputs);
      for (int program = 0; program < kPrograms; ++program)
        EXPECT_EQ(exact_difference(got.at(program).as_tensor(),
                                   expected.at(program).as_tensor()),
                  "")
            << "seed " << seed << ", program " << program << " at "
            << cpu_level_name(level) << "\n"
            << gm->code();
    }
}

INSTANTIATE_TEST_SUITE_P(Types, SpecialPrograms,
                         ::testing::Values(DType::f32, DType::f64),
                         [](const auto& test) {
                           return std::string(dtype_name(test.param));
                         });

}  // namespace TEST_FILE
}  // namespace fxjit
