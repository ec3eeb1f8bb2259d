#include <algorithm>
#include <chrono>

#include "fxjit/compile.h"
#include "tools/fxjit/contestants.h"
#include "tools/fxjit/results.h"
#include "tools/fxjit/sizes.h"

namespace fxjit::command {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// Writes of a model must not be seen by the next call.
ValueList copies(const ValueList& inputs) {
  ValueList copied;
  for (const Value& input : inputs)
    copied.push_back(input.is_tensor() ? Value(input.as_tensor().clone())
                                       : input);
  return copied;
}

double at(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place =
      static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<long>(place),
                   values.end());
  return values[place];
}

CompileOptions compile_options(const BenchOptions& options, bool fused) {
  CompileOptions compiled;
  compiled.threads = options.threads;
  compiled.disabled_passes = options.disabled;
  if (!fused)
    for (const char* pass :
         {"fuse", "fuse_epilogues", "fuse_attention", "merge_linears"})
      compiled.disabled_passes.emplace_back(pass);
  return compiled;
}

}  // namespace

size_t Row::calls() const {
  size_t calls = 0;
  for (const auto& round : rounds) calls += round.size();
  return calls;
}

double Row::percentile(double share) const {
  std::vector<double> all;
  for (const auto& round : rounds)
    all.insert(all.end(), round.begin(), round.end());
  return at(std::move(all), share) - empty_us;
}

double Row::spread() const {
  std::vector<double> medians;
  for (const auto& round : rounds) medians.push_back(at(round, 0.5));
  const auto [least, most] =
      std::minmax_element(medians.begin(), medians.end());
  const double median = percentile(0.5);
  return median > 0 ? (*most - *least) / 2 / median : 0;
}

OwnWay::OwnWay(Kind kind, const BenchOptions& options)
    : kind_(kind), model_([&] {
        const auto start = Clock::now();
        Model model(options.model, options.weights);
        declare_sizes(model, options.inputs.sizes);
        load_ms_ = milliseconds_since(start);
        return model;
      }()) {
  if (kind != Kind::interpreter)
    compile(model_.module(), compile_options(options, kind == Kind::fused));
}

const char* OwnWay::name() const {
  switch (kind_) {
    case Kind::interpreter:
      return "interpreter";
    case Kind::unfused:
      return "unfused";
    case Kind::fused:
      break;
  }
  return "fused";
}

ValueList OwnWay::start(Row& row) {
  const ValueList own = copies(inputs_);
  const auto start = Clock::now();
  const Value result = model_.call(own);
  row.first_ms = load_ms_ + milliseconds_since(start);
  return kept_tensors(result);
}

std::vector<double> OwnWay::turn(double seconds) {
  std::vector<double> times;
  const auto start = Clock::now();
  do {
    const ValueList own = copies(inputs_);
    const auto call = Clock::now();
    const Value result = model_.call(own);
    times.push_back(1e3 * milliseconds_since(call));
  } while (milliseconds_since(start) < seconds * 1e3);
  return times;
}

}  // namespace fxjit::command
