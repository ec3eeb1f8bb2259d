// What a parallel region costs beyond its work. Times are per region, taken one
// by one, as outliers of a busy neighbour would hide in a mean: read the p50_ns
// and p99_ns counters. The clock's own cost is taken off.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "fxjit/thread_pool.h"
#include "src/support/machine/cpu_quota.h"

namespace fxjit::support {
namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

double percentile(std::vector<double>& values, double share) {
  auto at =
      values.begin() + static_cast<ptrdiff_t>(share * (values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double clock_cost_ns() {
  std::vector<double> samples(10000);
  for (double& sample : samples) {
    auto start = Clock::now();
    sample = nanoseconds(Clock::now() - start);
  }
  return percentile(samples, 0.5);
}

// Times `region` in every iteration; `between` runs before, untimed.
template <typename Region, typename Between>
void sample(benchmark::State& state, Region region, Between between) {
  std::vector<double> samples;
  for (auto _ : state) {
    between();
    auto start = Clock::now();
    region();
    samples.push_back(nanoseconds(Clock::now() - start));
  }
  double clock = clock_cost_ns();
  state.counters["p50_ns"] = percentile(samples, 0.5) - clock;
  state.counters["p90_ns"] = percentile(samples, 0.9) - clock;
  state.counters["p99_ns"] = percentile(samples, 0.99) - clock;
}

// Keeps the caller busy for about a microsecond, as serial steps do.
void pause_briefly() {
  for (int i = 0; i < 200; ++i) benchmark::DoNotOptimize(i);
}

// A region of two empty tasks: the caller's cost, whoever runs the second.
void empty_region(benchmark::State& state) {
  ThreadPool pool({.threads = static_cast<int>(state.range(0))});
  auto region = [&] {
    pool.parallel_for(2, [](void*, int64_t, int64_t, int) {}, nullptr, 2);
  };
  sample(state, region, pause_briefly);
}
BENCHMARK(empty_region)->Arg(1)->Arg(2);

// Threads that wait for each other by polling do so for long on one CPU, for
// ever where the scheduler preempts neither.
bool has_two_cpus(benchmark::State& state) {
  if (available_cpus() >= 2) return true;
  state.SkipWithError("needs two CPUs");
  return false;
}

// The same, but task 0 waits until a worker runs task 1: the round trip from
// the caller to a worker and back. The pool promises no worker, so the wait is
// bounded; "missed" is the share of regions without one.
void hand_over(benchmark::State& state) {
  if (!has_two_cpus(state)) return;
  ThreadPool pool({.threads = 2});
  std::atomic<bool> there{false};
  double missed = 0;
  auto task = [&](int64_t, int64_t, int thread) {
    if (thread > 0) {
      there.store(true, std::memory_order_release);
      return;
    }
    for (int polls = 0; !there.load(std::memory_order_acquire); ++polls) {
      if (polls < 100000) continue;
      ++missed;
      return;
    }
  };
  auto region = [&] {
    there.store(false, std::memory_order_relaxed);
    pool.parallel_for(2, task, 2);
  };
  sample(state, region, pause_briefly);
  state.counters["missed"] = missed / static_cast<double>(state.iterations());
}
BENCHMARK(hand_over);

// The least that two threads can do: one flag there, one flag back.
void bare_round_trip(benchmark::State& state) {
  if (!has_two_cpus(state)) return;
  alignas(128) std::atomic<int> ping{0};
  alignas(128) std::atomic<int> pong{0};
  std::thread other([&] {
    for (int turn = 1;; ++turn) {
      int seen;
      while ((seen = ping.load(std::memory_order_acquire)) != turn)
        if (seen < 0) return;
      pong.store(turn, std::memory_order_release);
    }
  });
  int turn = 0;
  auto region = [&] {
    ping.store(++turn, std::memory_order_release);
    while (pong.load(std::memory_order_acquire) != turn) {
    }
  };
  sample(state, region, pause_briefly);
  ping.store(-1);
  other.join();
}
BENCHMARK(bare_round_trip);

// Two tasks of `range` nanoseconds each on two threads: what is above `range`
// is the cost of sharing. Threads that have to be woken show in sleeping.
void busy_for(double duration_ns) {
  auto start = Clock::now();
  while (nanoseconds(Clock::now() - start) < duration_ns) {
  }
}

void split_work(benchmark::State& state) {
  ThreadPool pool({.threads = 2});
  auto task_ns = static_cast<double>(state.range(0));
  auto region = [&] {
    pool.parallel_for(2, [&](int64_t, int64_t, int) { busy_for(task_ns); }, 2);
  };
  sample(state, region, pause_briefly);
}
BENCHMARK(split_work)->Arg(1000)->Arg(10000)->Arg(100000);

void split_work_sleeping(benchmark::State& state) {
  ThreadPool pool({.threads = 2, .spin = std::chrono::microseconds(0)});
  auto task_ns = static_cast<double>(state.range(0));
  auto region = [&] {
    pool.parallel_for(2, [&](int64_t, int64_t, int) { busy_for(task_ns); }, 2);
  };
  auto sleep = [] {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  };
  sample(state, region, sleep);
}
BENCHMARK(split_work_sleeping)->Arg(1000)->Arg(100000)->Iterations(2000);

// Requests of twenty regions from several threads at once. items_per_second is
// the throughput: with as many request threads as CPUs it should be that many
// times the one of a single thread without the pool (range 1).
void requests(benchmark::State& state) {
  static ThreadPool pool({.threads = 2});
  auto max_threads = static_cast<int>(state.range(0));
  auto work = [](int64_t begin, int64_t end, int) {
    // A chain of dependent operations takes the same time wherever it is.
    double value = static_cast<double>(begin) + 2;
    for (int64_t i = begin * 2500; i < end * 2500; ++i)
      value = value * 0.999 + 0.001;
    benchmark::DoNotOptimize(value);
  };
  for (auto _ : state) {
    ThreadPool::RequestScope scope(pool);
    for (int region = 0; region < 20; ++region)
      pool.parallel_for(8, work, max_threads);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(requests)->Arg(1)->Arg(2)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace fxjit::support
