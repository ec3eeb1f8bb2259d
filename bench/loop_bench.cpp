#include "bench/loop_bench.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "fxjit/compile.h"
#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"

namespace fxjit::bench {
namespace {

using Model = nn::Ref<fx::GraphModule>;

constexpr int64_t kWidth = 16;
constexpr int64_t kFew = 1000, kMany = 100000;
constexpr int64_t kShort = 64, kLong = 320;  // Layers of straight programs.
constexpr int kTurns = 15;

Value number(int64_t value) { return Tensor::full({}, value, DType::i64); }
Value row() { return Tensor::full({1, kWidth}, 0.5); }

Model compiled(const nn::ModuleRef& model, int threads) {
  const Model traced = fx::symbolic_trace(model);
  CompileOptions options;
  options.threads = threads;
  options.cache_folder = "";
  compile(*traced, options);
  return traced;
}

// What one call takes: the least of some turns, since everything that disturbs
// adds.
double nanoseconds(const Model& model, const ValueList& inputs) {
  double best = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(model->call(inputs));
    const std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    best = turn == 0 ? time.count() : std::min(best, time.count());
  }
  return best;
}

double slope(double few, double many, int64_t distance) {
  return (many - few) / static_cast<double>(distance);
}

// A layer in a program without loops.
double straight(int threads) {
  const auto layers = [threads](int64_t count) {
    const auto linear = nn::Linear::create(kWidth, kWidth);
    const Model model =
        compiled(nn::lambda("Straight", {"x"},
                            [linear, count](Value x) {
                              for (int64_t i = 0; i < count; ++i) x = linear(x);
                              return x;
                            },
                            {{"linear", linear}}),
                 threads);
    return nanoseconds(model, {row()});
  };
  return slope(layers(kShort), layers(kLong), kLong - kShort);
}

// A flag changes with each iteration, whether or not a branch asks for it.
double while_loops(bool branches, int threads) {
  const auto first = nn::Linear::create(kWidth, kWidth);
  const auto second = nn::Linear::create(kWidth, kWidth);
  const auto step = [=](Value flag, Value x) {
    if (!branches) return first(x);
    return cond(
        flag, [=](Value x) { return first(x); },
        [=](Value x) { return second(x); }, {x});
  };
  const auto model = nn::lambda(
      "Loop", {"n", "x"},
      [step](Value n, Value x) {
        return while_loop(
            [n](Value i, Value, Value) { return i < n; },
            [step](Value i, Value flag, Value x) {
              return Value::tuple(
                  {i + 1, method(flag, "logical_not"), step(flag, x)});
            },
            {number(0), Tensor::full({}, true, DType::boolean), x});
      },
      {{"first", first}, {"second", second}});
  const Model loop = compiled(model, threads);
  const double few = nanoseconds(loop, {number(kFew), row()});
  const double many = nanoseconds(loop, {number(kMany), row()});
  return slope(few, many, kMany - kFew);
}

double scans(int threads) {
  const auto linear = nn::Linear::create(kWidth, kWidth);
  const auto model = nn::lambda("Scan", {"x", "xs"},
                                [linear](Value x, Value xs) {
                                  return scan(
                                      [linear](Value x, Value part) {
                                        const Value next = linear(x) + part;
                                        return Value::tuple({next, next});
                                      },
                                      x, xs);
                                },
                                {{"linear", linear}});
  const Model loop = compiled(model, threads);
  const auto time = [&](int64_t count) {
    return nanoseconds(loop, {row(), Tensor::full({count, 1, kWidth}, 0.25)});
  };
  const double few = time(kFew), many = time(kMany);
  return slope(few, many, kMany - kFew);
}

void add(const std::string& name, double (*loop)(int), double (*base)(int),
         int threads) {
  benchmark::RegisterBenchmark(("loop/" + name).c_str(),
                               [=](benchmark::State& state) {
                                 double ns = 0, without = 0;
                                 for (auto _ : state) {
                                   without = base(threads);
                                   ns = loop(threads);
                                 }
                                 state.counters["ns"] = ns;
                                 state.counters["overhead_ns"] = ns - without;
                               })
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

void register_loop_benchmarks(int threads) {
  add(
      "while", [](int t) { return while_loops(false, t); }, straight, threads);
  add("scan", scans, straight, threads);
  add(
      "branch", [](int t) { return while_loops(true, t); },
      [](int t) { return while_loops(false, t); }, threads);
}

}  // namespace fxjit::bench
