#include "tests/compile/compile_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/log.h"
#include "fxjit/nn.h"
#include "src/compile/compiled_module.h"

namespace fxjit::testing {

CompileOptions options_for(CpuLevel level, int threads) {
  CompileOptions options;
  options.threads = threads;
  options.cpu_level = level;
  options.cache_folder = "";
  return options;
}

std::vector<StepView> steps_for(const fx::GraphModule& module,
                                std::span<const Value> inputs) {
  const auto shape = compiled_module(module)->get(inputs);
  std::vector<StepView> views;
  if (!shape->native()) return views;
  const program::Executable& executable = shape->executable();
  const std::vector<program::Step>& steps = executable.program().steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const program::ExternCode* const external = executable.external(i);
    views.push_back(
        {steps[i].label, *steps[i].nodes, !external || external->native()});
  }
  return views;
}

namespace {

std::string tensor_difference(const Tensor& got, const Tensor& expected,
                              double relative, double absolute) {
  if (got.describe() != expected.describe())
    return "expected " + expected.describe() + ", got " + got.describe();
  if (got.dtype() == DType::i64)
    return got.to_ints() == expected.to_ints() ? "" : "integers differ";
  if (is_integral(got.dtype()) || got.dtype() == DType::boolean)
    relative = absolute = 0;
  const Tensor a = got.to(DType::f64).contiguous();
  const Tensor b = expected.to(DType::f64).contiguous();
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.data_as<double>()[i], y = b.data_as<double>()[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (std::isfinite(x) && std::isfinite(y) &&
        std::abs(x - y) <= absolute + relative * std::abs(y))
      continue;
    std::ostringstream text;
    text.precision(9);
    text << "element " << i << ": expected " << y << ", got " << x;
    return text.str();
  }
  return "";
}

}  // namespace

std::string value_difference(const Value& got, const Value& expected,
                             double relative, double absolute) {
  if (got.kind() != expected.kind())
    return "expected " + std::string(expected.kind_name()) + ", got " +
           std::string(got.kind_name());
  if (got.is_tensor())
    return tensor_difference(got.as_tensor(), expected.as_tensor(), relative,
                             absolute);
  if (got.is_dict()) {
    if (got.size() != expected.size()) return "dicts of different sizes";
    for (size_t i = 0; i < got.size(); ++i) {
      const auto& [key, item] = got.as_dict()[i];
      const auto& [other_key, other] = expected.as_dict()[i];
      if (!same(key, other_key)) return "keys differ";
      const std::string text =
          value_difference(item, other, relative, absolute);
      if (!text.empty()) return repr(key) + ": " + text;
    }
    return "";
  }
  if (!got.is_sequence())
    return same(got, expected)
               ? ""
               : "expected " + repr(expected) + ", got " + repr(got);
  if (got.size() != expected.size())
    return "expected " + std::to_string(expected.size()) + " items, got " +
           std::to_string(got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string text =
        value_difference(got.at(i), expected.at(i), relative, absolute);
    if (!text.empty()) return "item " + std::to_string(i) + ": " + text;
  }
  return "";
}

WarningLog::WarningLog() {
  set_log_callback([this](LogLevel level, std::string_view message) {
    if (level < LogLevel::warning) return;
    std::lock_guard lock(mutex_);
    messages_.emplace_back(message);
  });
}

WarningLog::~WarningLog() { set_log_callback(nullptr); }

std::vector<std::string> WarningLog::messages() const {
  std::lock_guard lock(mutex_);
  return messages_;
}

int WarningLog::count(const std::string& part) const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(std::count_if(
      messages_.begin(), messages_.end(), [&](const std::string& message) {
        return message.find(part) != message.npos;
      }));
}

CompileOptions quick() { return options_for(host_cpu_level()); }

nn::Ref<fx::GraphModule> model() {
  namespace F = nn::functional;
  const Tensor weight = random_tensor({8, 6}, DType::f32, 7);
  return fx::symbolic_trace(
      [weight](Value x) { return softmax(F::gelu(F::linear(x, weight)), -1); },
      {"x"}, "f");
}

ValueList batch(int64_t rows, uint32_t seed) {
  return {random_tensor({rows, 6}, DType::f32, seed)};
}

void expect_right(fx::GraphModule& gm, const ValueList& inputs) {
  EXPECT_EQ(
      value_difference(gm.forward(inputs), gm.interpret(inputs), 1e-5, 1e-6),
      "");
}

}  // namespace fxjit::testing
