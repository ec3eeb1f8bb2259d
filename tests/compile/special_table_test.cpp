// Special numbers through every op of one and two arguments, at every CPU level
// of this machine: alone as PyTorch's eager functions have them, and with other
// ops before and behind as IEEE arithmetic does it in the type.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "tests/compile/compile_testing.h"
#include "tests/compile/op_cases.h"
#include "tests/ops/reference.h"

namespace fxjit {
namespace TEST_FILE {

using testing::OpCase;

// The distance of neighbours at 1, and the least number above zero.
struct Grain {
  double step, least;
};

Grain grain_of(DType type) {
  switch (type) {
    case DType::f64:
      return {0x1p-52, 0x1p-1074};
    case DType::f16:
      return {0x1p-10, 0x1p-24};
    case DType::bf16:
      return {0x1p-7, 0x1p-133};
    default:
      return {0x1p-23, 0x1p-149};
  }
}

// How far a result may be off: `places` times the grain of its type, `steps` of
// its type at 1 where it cancels, and `absolute`.
struct Bound {
  double places = 0, steps = 0, absolute = 0;
  bool signs = true;  // Whether the signs of zeros count.
};

bool within(double got, double expected, const Grain& grain,
            const Bound& bound) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  if (got == 0 && expected == 0)
    return !bound.signs || std::signbit(got) == std::signbit(expected);
  return std::abs(got - expected) <=
         bound.places * (grain.step * std::abs(expected) + grain.least) +
             bound.steps * grain.step + bound.absolute;
}

double number_at(const Tensor& wide, int64_t i) {
  return wide.data_as<double>()[i];
}

// Of bools and integers the same values.
void expect_near(const Tensor& got, const Tensor& expected, const Bound& bound,
                 const std::string& what) {
  ASSERT_EQ(got.dtype(), expected.dtype()) << what;
  ASSERT_TRUE(got.sizes() == expected.sizes()) << what;
  const Tensor x = got.contiguous().to(DType::f64);
  const Tensor y = expected.contiguous().to(DType::f64);
  int shown = 0;
  for (int64_t i = 0; i < x.numel() && shown < 3; ++i) {
    if (within(number_at(x, i), number_at(y, i), grain_of(expected.dtype()),
               bound))
      continue;
    ++shown;
    ADD_FAILURE() << what << " element " << i << ": " << number_at(x, i)
                  << " for " << number_at(y, i);
  }
}

std::string at_level(const std::string& what, CpuLevel level) {
  return what + " at " + std::string(cpu_level_name(level));
}

// What an op may be off from eager: by a few places where it is written by the
// same formula, by steps at 1 where PyTorch's formula cancels. Of two zeros
// extremes give either. PyTorch's trigamma is right to 1e-9, and its erf of
// bfloat16 loses numbers near the least.
Bound bound_of(const OpCase& c) {
  static const std::map<std::string_view, Bound> kBounds = {
      {"erf", {4, 0, 1e-18}},           {"mish", {4, 0, 1e-40}},
      {"polygamma", {1e7, 0, 1e-300}},  {"gelu", {4, 3}},
      {"logaddexp2", {4, 1, 0, false}}, {"tanhshrink", {4, 1, 0, false}},
      {"minimum", {0, 0, 0, false}},    {"maximum", {0, 0, 0, false}},
      {"fmin", {0, 0, 0, false}},       {"fmax", {0, 0, 0, false}}};
  const auto found = kBounds.find(c.op->name());
  return found == kBounds.end() ? Bound{4} : found->second;
}

struct Step {
  const char* op;
  ValueList rest;
};

// An op, or two, before or behind others, and the same of the C++ library.
struct Neighbour {
  const char* name;
  std::vector<Step> steps;
  float (*single)(float);
  double (*wide)(double);
  Bound bound;
};

template <typename Fn>
Neighbour neighbour(const char* name, std::vector<Step> steps, Fn function,
                    Bound bound = {}) {
  return {name, std::move(steps), function, function, bound};
}

const std::vector<Neighbour>& neighbours() {
  static const auto* const all = new std::vector<Neighbour>{
      neighbour("neg", {{"neg", {}}}, [](auto x) { return -x; }),
      neighbour("abs", {{"abs", {}}}, [](auto x) { return std::abs(x); }),
      neighbour("relu", {{"relu", {}}},
                [](auto x) { return x < 0 ? decltype(x)(0) : x; }),
      neighbour("add_zero", {{"add", {0.0}}}, [](auto x) { return x + 0; }),
      neighbour("zero_less", {{"rsub", {0.0}}}, [](auto x) { return 0 - x; }),
      neighbour("less_minus_zero", {{"sub", {-0.0}}},
                [](auto x) { return x - decltype(x)(-0.0); }),
      neighbour("reciprocal", {{"reciprocal", {}}},
                [](auto x) { return 1 / x; }),
      neighbour("sqrt", {{"sqrt", {}}}, [](auto x) { return std::sqrt(x); }),
      neighbour("times_and_plus", {{"mul", {3.0}}, {"add", {1.0}}},
                [](auto x) { return x * 3 + 1; },
                // Behind a quotient the product is part of it, rounded once.
                {1}),
      neighbour("divided", {{"div", {-3.0}}}, [](auto x) { return x / -3; }),
      neighbour("clamp", {{"clamp", {-1.0, 1.0}}},
                [](auto x) {
                  using T = decltype(x);
                  return x < -1 ? T(-1) : x > 1 ? T(1) : x;
                }),
      neighbour("exp", {{"exp", {}}}, [](auto x) { return std::exp(x); }, {4}),
      neighbour("elu", {{"elu", {}}},
                [](auto x) { return x < 0 ? std::expm1(x) : x; }, {4}),
      neighbour("softplus", {{"softplus", {}}},
                [](auto x) { return x > 20 ? x : std::log1p(std::exp(x)); },
                {4})};
  return *all;
}

Tensor applied(const Neighbour& by, const Tensor& x) {
  const Tensor y = x.contiguous().clone();
  for (int64_t i = 0; i < y.numel(); ++i) {
    if (y.dtype() == DType::f64)
      y.data_as<double>()[i] = by.wide(y.data_as<double>()[i]);
    else
      y.data_as<float>()[i] = by.single(y.data_as<float>()[i]);
  }
  return y;
}

bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

// Of halves f32, in which they are computed.
Tensor computed(const Tensor& x) {
  return is_half(x.dtype()) ? x.to(DType::f32) : x;
}

std::vector<OpCase> special_cases() {
  std::vector<OpCase> all;
  for (testing::ReferenceCase& c :
       testing::read_reference("special_reference.txt"))
    all.push_back({&ops::get_op(c.op), c.op + " " + c.text, c.args, c.kwargs,
                   c.expected});
  return all;
}

// What of halves is other than in f32: nan_to_num asks for the greatest of its
// type, calls of C++ round in between, and torch takes no roots for powers.
bool is_of_its_type(const OpCase& c) {
  const Value& last = c.args.back();
  const bool root = last.is_float() && std::abs(last.as_double()) == 0.5;
  return c.op->name() == "nan_to_num" || (c.op->name() == "pow" && root) ||
         c.op->row.lowering == ops::Lowering::none;
}

// Those of `all` that give floats.
std::vector<OpCase> floating(std::vector<OpCase> all) {
  std::erase_if(all, [](const OpCase& c) {
    const DType type = c.expected.as_tensor().dtype();
    return !is_floating(type) || (is_half(type) && is_of_its_type(c));
  });
  return all;
}

std::vector<OpCase> widened(std::vector<OpCase> all) {
  for (OpCase& c : all)
    for (Value& arg : c.args)
      if (arg.is_tensor()) arg = computed(arg.as_tensor());
  return all;
}

// A compiled module of many calls, each with a neighbour before or behind.
class Calls {
 public:
  Calls(const std::vector<OpCase>& cases, const CompileOptions& options,
        const Neighbour* before = nullptr, const Neighbour* behind = nullptr) {
    auto graph = std::make_unique<fx::Graph>();
    std::vector<ValueList> args(cases.size());
    for (size_t i = 0; i < cases.size(); ++i)
      for (const Value& arg : cases[i].args) {
        if (arg.is_tensor()) inputs_.push_back(arg);
        args[i].push_back(arg.is_tensor()
                              ? Value(graph->placeholder(
                                    "x" + std::to_string(inputs_.size())))
                              : arg);
      }
    ValueList results;
    for (size_t i = 0; i < cases.size(); ++i) {
      args[i][0] = added(*graph, args[i][0], before);
      const Value result = graph->call_function(cases[i].op->canonical, args[i],
                                                cases[i].kwargs);
      results.push_back(added(*graph, result, behind));
    }
    graph->output(Value::tuple(std::move(results)));
    module_ = fx::GraphModule::create(nn::Module(), std::move(graph));
    compile(*module_, options);
  }

  const ValueList& inputs() const { return inputs_; }
  ValueList run(const ValueList& inputs) const {
    const Value results = module_->forward(inputs);
    return ValueList(results.as_sequence().begin(),
                     results.as_sequence().end());
  }
  ValueList run() const { return run(inputs_); }

 private:
  static Value added(fx::Graph& graph, Value value, const Neighbour* by) {
    if (by == nullptr) return value;
    for (const Step& step : by->steps) {
      ValueList args{value};
      args.insert(args.end(), step.rest.begin(), step.rest.end());
      value = graph.call_function(ops::get_op(step.op).canonical, args);
    }
    return value;
  }

  nn::Ref<fx::GraphModule> module_;
  ValueList inputs_;
};

TEST(SpecialTable, OpsAlone) {
  const std::vector<OpCase> cases = special_cases();
  ASSERT_GT(cases.size(), 400u);
  for (CpuLevel level : testing::host_levels()) {
    const ValueList got = Calls(cases, testing::options_for(level)).run();
    for (size_t i = 0; i < cases.size(); ++i)
      expect_near(got[i].as_tensor(), cases[i].expected.as_tensor(),
                  bound_of(cases[i]), at_level(cases[i].text, level));
  }
}

class Neighbours : public ::testing::TestWithParam<size_t> {
 protected:
  const Neighbour& by() const { return neighbours()[GetParam()]; }
};

Bound rounded_bound(const OpCase& c, Bound bound) {
  if (is_half(c.expected.as_tensor().dtype()))
    bound.places = std::max(bound.places, 1.0);
  return bound;
}

const std::vector<OpCase>& floating_cases() {
  static const auto* const all =
      new std::vector<OpCase>(floating(special_cases()));
  return *all;
}

// The calls without neighbours, made once for all tests of a process. Their
// kernels stay on the disk, for the processes that run the other shards.
const Calls& calls_alone(CpuLevel level) {
  static auto* const made = new std::map<CpuLevel, Calls>();
  CompileOptions options = testing::options_for(level);
  options.cache_folder = FXJIT_BINARY_DIR "/test_kernels";
  return made->try_emplace(level, widened(floating_cases()), options)
      .first->second;
}

TEST_P(Neighbours, Behind) {
  const std::vector<OpCase>& cases = floating_cases();
  for (CpuLevel level : testing::host_levels()) {
    const ValueList alone = calls_alone(level).run();
    const ValueList got =
        Calls(cases, testing::options_for(level), nullptr, &by()).run();
    for (size_t i = 0; i < cases.size(); ++i)
      expect_near(got[i].as_tensor(),
                  applied(by(), alone[i].as_tensor())
                      .to(cases[i].expected.as_tensor().dtype()),
                  rounded_bound(cases[i], by().bound),
                  at_level(cases[i].text + " then " + by().name, level));
  }
}

// Halves that are broadcast are computed before, by a loop that ends with a
// rounding.
bool rounds_before(const OpCase& c) {
  const Tensor& first = c.args[0].as_tensor();
  return is_half(first.dtype()) &&
         !(first.sizes() == c.expected.as_tensor().sizes());
}

// The inputs of all cases, the first of each as `by` gives it.
ValueList inputs_behind(const Neighbour& by, const ValueList& inputs) {
  ValueList changed;
  for (const OpCase& c : floating_cases())
    for (size_t k = 0; k < c.args.size(); ++k) {
      if (!c.args[k].is_tensor()) continue;
      const Value& input = inputs[changed.size()];
      changed.push_back(k == 0 ? Value(applied(by, input.as_tensor())) : input);
    }
  return changed;
}

TEST_P(Neighbours, Before) {
  if (by().bound.places > 1)
    GTEST_SKIP() << "what follows makes errors of some places larger";
  const std::vector<OpCase>& cases = floating_cases();
  for (CpuLevel level : testing::host_levels()) {
    const Calls& plain = calls_alone(level);
    const ValueList alone = plain.run(inputs_behind(by(), plain.inputs()));
    const ValueList got =
        Calls(cases, testing::options_for(level), &by()).run();
    for (size_t i = 0; i < cases.size(); ++i) {
      if (rounds_before(cases[i])) continue;
      expect_near(
          got[i].as_tensor(),
          alone[i].as_tensor().to(cases[i].expected.as_tensor().dtype()),
          rounded_bound(cases[i], by().bound),
          at_level(by().name + (" then " + cases[i].text), level));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SpecialTable, Neighbours,
                         ::testing::Range(size_t{0}, neighbours().size()),
                         [](const auto& test) {
                           return std::string(neighbours()[test.param].name);
                         });

}  // namespace TEST_FILE
}  // namespace fxjit
