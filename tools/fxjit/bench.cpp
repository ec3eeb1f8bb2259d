// Measures one model interpreted, compiled without fusion and compiled with it,
// turn by turn, so that a change of the machine's speed meets all alike.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "fxjit/fx/pytree.h"
#include "tools/fxjit/commands.h"
#include "tools/fxjit/numbers.h"

namespace fxjit::command {
namespace {

using Clock = std::chrono::steady_clock;

struct Way {
  const char* name;
  Model model;
  ValueList results;
  double first_ms = 0;  // Compilation included.
  std::vector<double> microseconds;

  double percentile(double share) const {
    std::vector<double> sorted = microseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<size_t>(share *
                                      static_cast<double>(sorted.size() - 1))];
  }
};

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

ValueList kept(const Value& result) {
  ValueList leaves = fx::tree_leaves(result);
  for (Value& leaf : leaves)
    if (leaf.is_tensor()) leaf = leaf.as_tensor().clone();
  return leaves;
}

void compile_for(Way& way, const BenchOptions& options, bool fused) {
  CompileOptions compile_options;
  compile_options.threads = options.threads;
  compile_options.disabled_passes = options.disabled;
  if (!fused)
    for (const char* pass :
         {"fuse", "fuse_epilogues", "fuse_attention", "merge_linears"})
      compile_options.disabled_passes.emplace_back(pass);
  compile(way.model.module(), compile_options);
}

void first_call(Way& way, const ValueList& inputs) {
  const auto start = Clock::now();
  way.results = kept(way.model.call(copies(inputs)));
  way.first_ms = milliseconds_since(start);
}

// The largest difference of two results, relative to the largest number.
double difference(const ValueList& a, const ValueList& b) {
  double largest = 0, error = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].is_tensor()) continue;
    const Tensor x = doubles_of(a[i].as_tensor());
    const Tensor y = doubles_of(b[i].as_tensor());
    for (int64_t k = 0; k < x.numel(); ++k) {
      const double p = x.data_as<double>()[k], q = y.data_as<double>()[k];
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      largest = std::max({largest, std::abs(p), std::abs(q)});
      error = std::max(error, std::abs(p - q));
    }
  }
  return largest > 0 ? error / largest : error;
}

// Turns of calls until each way has had its time; at least five each.
void measure(std::vector<Way>& ways, const ValueList& inputs, double seconds) {
  constexpr size_t kLeast = 5;
  const auto start = Clock::now();
  const double all_ms = seconds * 1e3 * static_cast<double>(ways.size());
  while (milliseconds_since(start) < all_ms ||
         ways[0].microseconds.size() < kLeast)
    for (Way& way : ways) {
      const ValueList own = copies(inputs);
      const auto turn = Clock::now();
      const Value result = way.model.call(own);
      way.microseconds.push_back(1e3 * milliseconds_since(turn));
    }
}

void print(const std::vector<Way>& ways, const BenchOptions& options) {
  if (options.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const Way& way : ways)
      rows.push_back(
          {{"name", way.name},
           {"p10_us", way.percentile(0.1)},
           {"median_us", way.percentile(0.5)},
           {"first_ms", way.first_ms},
           {"calls", way.microseconds.size()},
           {"difference", difference(ways[0].results, way.results)}});
    const nlohmann::json table = {
        {"model", options.model}, {"threads", options.threads}, {"rows", rows}};
    std::printf(
        "%s\n",
        table.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
            .c_str());
    return;
  }
  std::printf("%-12s %12s %12s %12s %8s %12s\n", "", "p10, us", "median, us",
              "first, ms", "calls", "difference");
  for (const Way& way : ways)
    std::printf("%-12s %12.1f %12.1f %12.1f %8zu %12.1e\n", way.name,
                way.percentile(0.1), way.percentile(0.5), way.first_ms,
                way.microseconds.size(),
                difference(ways[0].results, way.results));
}

// Why the fused program is faster: tables of both.
void print_steps(const std::vector<Way>& ways, const ValueList& inputs) {
  for (size_t i = 1; i < ways.size(); ++i)
    std::printf("\n%s:\n%s", ways[i].name,
                profile_text(profile(ways[i].model.module(), inputs)).c_str());
}

}  // namespace

void bench(const BenchOptions& options) {
  std::vector<Way> ways;
  for (const char* name : {"interpreter", "unfused", "fused"})
    ways.push_back({name, Model(options.model, options.weights), {}, 0, {}});
  compile_for(ways[1], options, false);
  compile_for(ways[2], options, true);
  const ValueList inputs = make_inputs(ways[0].model, options.inputs);
  for (Way& way : ways) first_call(way, inputs);
  measure(ways, inputs, options.seconds);
  print(ways, options);
  if (options.steps) print_steps(ways, inputs);
}

}  // namespace fxjit::command
