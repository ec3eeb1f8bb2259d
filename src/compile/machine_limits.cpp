#include "src/compile/machine_limits.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <mutex>

#include "src/program/steps/steps.h"
#include "src/support/machine/cache_sizes.h"
#include "src/support/memory/aligned_block.h"
#include "src/support/threads/own_stack.h"
#include "src/weights/panels.h"

namespace fxjit {
namespace {

using program::Program;
using program::StepCall;

constexpr double kMeasuredSeconds = 0.012;
constexpr size_t kSharedCache = size_t{8} << 20;
constexpr size_t kMemory = size_t{96} << 20;

// Runs one step's kernel over `operands` for a while; the best time of a run in
// nanoseconds. The best is the machine's, the rest its neighbours'.
double best_run(Engine& engine, program::StepBody body,
                std::vector<void*> operands) {
  program::analyse(body, program::Machine{.level = engine.level()});
  Program program;
  program.steps.push_back({body, {}, "limit", {}});
  const jit::ProgramCode code = jit::compile_program(
      program, nullptr, engine.compiler(), engine.code(), 1);
  const program::StepPlan plan = program::step_plan(body, engine.level());
  support::AlignedBlock scratch(plan.scratch_bytes + 64);
  int32_t status = 0;
  const program::StepCode& step = code.kernels[0];
  const StepCall call{operands.data(), scratch.data(), &status,
                      step.data.get()};
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double best = 1e18;
  for (int runs = 0;
       runs < 3 || std::chrono::duration<double>(Clock::now() - begin).count() <
                       kMeasuredSeconds;
       ++runs) {
    const auto start = Clock::now();
    step.kernel(&call, 0, plan.tasks);
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

// A product whose panel and rows stay in the nearest caches.
double measure_gflops(Engine& engine) {
  const weights::RegisterTile tile = weights::register_tile(engine.level());
  program::TileStep step;
  step.rows = int64_t{tile.max_rows} * 20;
  step.columns = tile.width() * 2;
  step.depth = 256;
  step.lhs_row = step.depth;
  step.outputs = {{DType::f32, 0, step.columns, 1}};
  ScalarBuilder body;
  step.epilogue = body.finish({body.input(0, DType::f32)});
  const auto packed = static_cast<size_t>(
      weights::packed_elements(step.depth, step.columns, tile.width()));
  support::AlignedBlock lhs(static_cast<size_t>(step.rows * step.depth) * 4);
  support::AlignedBlock rhs(packed * 4);
  support::AlignedBlock out(static_cast<size_t>(step.rows * step.columns) * 4);
  std::fill_n(reinterpret_cast<float*>(lhs.data()), lhs.size() / 4, 0.5f);
  std::fill_n(reinterpret_cast<float*>(rhs.data()), packed, 0.5f);
  const double ns =
      best_run(engine, step, {lhs.data(), rhs.data(), out.data()});
  return 2.0 * static_cast<double>(step.rows * step.columns * step.depth) / ns;
}

// Rows summed one after the other: one stream of reads.
double measure_bandwidth(Engine& engine, size_t bytes) {
  constexpr int64_t kRow = 1024;
  program::RowStep step;
  step.outer = {static_cast<int64_t>(bytes / (kRow * 4))};
  step.inner = kRow;
  program::Access in, out;
  in.outer = {kRow};
  out.outer = {1};
  out.inner = 0;
  step.inputs = {in};
  step.outputs = {out};
  ScalarBuilder body;
  step.body =
      body.finish({body.apply(Prim::reduce_sum, body.input(0, DType::f32))});
  support::AlignedBlock data(bytes), sums(bytes / kRow + 64);
  std::fill_n(reinterpret_cast<float*>(data.data()), bytes / 4, 1.0f);
  const double ns = best_run(engine, step, {data.data(), sums.data()});
  return static_cast<double>(bytes) / ns;
}

MachineLimits measure(Engine& engine) {
  MachineLimits limits;
  limits.gflops = measure_gflops(engine);
  const std::array<size_t, 3> sizes = support::cache_sizes();
  // Half of a cache is surely in it; a shared one is seldom ours alone.
  const size_t measured[] = {sizes[0] / 2, sizes[1] / 2,
                             std::max(2 * sizes[1], kSharedCache), kMemory};
  for (size_t i = 0; i < limits.levels.size(); ++i)
    limits.levels[i] = {i < sizes.size() ? sizes[i] : SIZE_MAX,
                        measure_bandwidth(engine, measured[i])};
  return limits;
}

}  // namespace

double MachineLimits::nanoseconds(const program::StepPlan& plan,
                                  int threads) const {
  const double each = plan.bytes / std::max(1, threads);
  size_t level = 0;
  while (each > static_cast<double>(levels[level].bytes)) ++level;
  const double gigabytes = levels[level].gigabytes;
  return std::max(plan.flops / gflops, plan.bytes / gigabytes) /
         std::max(1, threads);
}

const MachineLimits& machine_limits(Engine& engine) {
  static std::mutex mutex;
  static std::map<CpuLevel, MachineLimits> known;
  std::lock_guard lock(mutex);
  const auto found = known.find(engine.level());
  if (found != known.end()) return found->second;
  MachineLimits limits;
  support::run_with_compile_stack([&] { limits = measure(engine); });
  return known.emplace(engine.level(), limits).first->second;
}

}  // namespace fxjit
