#include "tests/jit/attention_problem.h"
#include "tests/jit/build_ir.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/engine/compiler.h"
#include "jit/engine/ir_module.h"
#include "src/program/attention/run.h"
#include "src/program/steps/steps.h"
#include "tests/jit/emulated.h"
#include "tests/jit/guarded_floats.h"
#include "tests/support/analysed.h"

namespace fxjit::jit::testing {
namespace {

using program::AttentionMask;
using program::AttentionStep;
using program::HeadAccess;
using support::GuardedBytes;

std::shared_ptr<CompiledCode> compile_attention(
    const program::AttentionForm& form, CpuLevel level) {
  EngineOptions options;
  options.cpu_level = level;
  IrModule module = make_ir_module("attention");
  VectorBuilder b(
      *make_function<program::AttentionFn>(*module.module, "kernel"), level);
  emit(b, form);
  return build(Compiler(options), std::move(module));
}

HeadAccess contiguous(int64_t heads, int64_t rows, int64_t depth) {
  return {heads * rows * depth, rows * depth, depth};
}

// Elements from the first to the last of an operand.
size_t extent(const AttentionStep& step, const HeadAccess& access, int64_t rows,
              int64_t columns, int64_t column_stride = 1) {
  if (rows == 0 || columns == 0) return 0;
  return size_t((step.outer - 1) * access.outer +
                (step.batch - 1) * access.batch +
                (step.heads - 1) * access.head + (rows - 1) * access.row +
                (columns - 1) * column_stride + 1);
}

bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

// Copies of a problem's operands that nothing can be read or written beside.
class LaidOutOperands {
 public:
  LaidOutOperands(const AttentionProblem& problem, GuardedBytes::Tight tight)
      : tight_(tight) {
    add(problem.q);
    add(problem.k);
    add(problem.v);
    for (size_t i = 0; i < problem.masks.size(); ++i)
      if (problem.step.masks[i].kind == passes::MaskKind::add)
        add(problem.masks[i]);
      else
        add(problem.flags[i]);
    add(std::vector<float>(problem.out.size(), kCanary));
  }

  void* const* addresses() const { return addresses_.data(); }
  std::vector<float> result() const {
    const auto* first = reinterpret_cast<const float*>(blocks_.back()->data());
    return {first, first + blocks_.back()->size() / sizeof(float)};
  }

 private:
  template <typename T>
  void add(const std::vector<T>& values) {
    blocks_.push_back(std::make_unique<GuardedBytes>(bytes_of(values), tight_));
    addresses_.push_back(blocks_.back()->data());
  }

  GuardedBytes::Tight tight_;
  std::vector<std::unique_ptr<GuardedBytes>> blocks_;
  std::vector<void*> addresses_;
};

// Aligned, so that there may be some bytes behind what the step asks for.
class Scratch {
 public:
  Scratch(size_t bytes, GuardedBytes::Tight tight)
      : bytes_(bytes), block_((bytes + 63) / 64 * 64, tight) {
    std::memset(block_.data(), kUnwritten, block_.size());
  }

  std::byte* data() const { return block_.data(); }
  void expect_whole() const {
    for (size_t i = bytes_; i < block_.size(); ++i)
      EXPECT_EQ(std::to_integer<int>(data()[i]), kUnwritten);
  }

 private:
  static constexpr int kUnwritten = 0xff;  // NaN as floats.

  size_t bytes_;
  GuardedBytes block_;
};

}  // namespace

AttentionStep make_attention(int64_t queries, int64_t keys, int64_t depth,
                             int64_t value_depth, int64_t batch,
                             int64_t heads) {
  AttentionStep step;
  step.batch = batch;
  step.heads = heads;
  step.queries = queries;
  step.keys = keys;
  step.depth = depth;
  step.value_depth = value_depth;
  step.q = contiguous(heads, queries, depth);
  step.k = contiguous(heads, keys, depth);
  step.v = contiguous(heads, keys, value_depth);
  step.out = contiguous(heads, queries, value_depth);
  step.scale = depth ? float(1 / std::sqrt(double(depth))) : 1;
  return step;
}

void add_mask(AttentionStep& step, passes::MaskKind kind,
              const HeadAccess& access, int64_t key_stride, float value) {
  step.masks.push_back({kind, access, key_stride, value});
}

AttentionProblem::AttentionProblem(const AttentionStep& s) : step(s) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-2, 2);
  const auto fill = [&](std::vector<float>& x, size_t size) {
    x.resize(size);
    for (float& e : x) e = value(random);
  };
  fill(q, extent(step, step.q, step.queries, step.depth));
  fill(k, extent(step, step.k, step.keys, step.depth));
  fill(v, extent(step, step.v, step.keys, step.value_depth));
  masks.resize(step.masks.size());
  flags.resize(step.masks.size());
  for (size_t i = 0; i < masks.size(); ++i) {
    const AttentionMask& mask = step.masks[i];
    const size_t size =
        extent(step, mask.access, step.queries, step.keys, mask.key_stride);
    if (mask.kind == passes::MaskKind::add)
      fill(masks[i], size);
    else
      for (size_t e = 0; e < size; ++e) flags[i].push_back(random() % 3 != 0);
  }
  out.assign(extent(step, step.out, step.queries, step.value_depth), kCanary);
}

void AttentionProblem::run(CpuLevel level) {
  const AttentionStep known = program::analysed(step, level);
  program::AttentionRun run(known);
  const auto code = compile_attention(run.form(), level);
  run.set_code(runnable(
      level, code->function<void(const program::AttentionCall*)>("kernel")));
  const program::StepPlan plan = known.plan(level);
  std::vector<float> before;
  for (GuardedBytes::Tight tight :
       {GuardedBytes::Tight::begin, GuardedBytes::Tight::end}) {
    const LaidOutOperands operands(*this, tight);
    const Scratch scratch(plan.scratch_bytes, tight);
    int32_t status = 0;
    const program::StepCall call{operands.addresses(), scratch.data(), &status,
                                 &run};
    // In two runs, as two threads would.
    program::run_attention_step(&call, 0, plan.tasks / 2);
    program::run_attention_step(&call, plan.tasks / 2, plan.tasks);
    scratch.expect_whole();
    before = std::exchange(out, operands.result());
  }
  ASSERT_TRUE(std::ranges::equal(before, out, same_bits));
}

size_t AttentionProblem::at(const HeadAccess& access, const Row& r) {
  return size_t(r.outer * access.outer + r.batch * access.batch +
                r.head * access.head + r.row * access.row);
}

double AttentionProblem::masked(double score, const Row& r, int64_t key) const {
  for (size_t i = 0; i < masks.size(); ++i) {
    const AttentionMask& mask = step.masks[i];
    const size_t place = at(mask.access, r) + size_t(key * mask.key_stride);
    switch (mask.kind) {
      case passes::MaskKind::add:
        score += double(mask.value) * double(masks[i][place]);
        break;
      case passes::MaskKind::hide:
        if (!flags[i][place]) score += double(-kInfinity);
        break;
      case passes::MaskKind::keep:
        if (!flags[i][place]) score = double(mask.value);
        break;
      case passes::MaskKind::fill:
        if (flags[i][place]) score = double(mask.value);
        break;
    }
  }
  return score;
}

// As torch computes them, but in double.
std::vector<double> AttentionProblem::scores(const Row& r) const {
  std::vector<double> all;
  for (int64_t key = 0; key < step.keys; ++key) {
    const Row other{r.outer, r.batch, r.head, key};
    double sum = 0;
    for (int64_t d = 0; d < step.depth; ++d)
      sum += double(q[at(step.q, r) + size_t(d)]) *
             k[at(step.k, other) + size_t(d)];
    sum = masked(sum * double(step.scale), r, key);
    if (step.causal && key > r.row) sum = double(-kInfinity);
    all.push_back(sum);
  }
  return all;
}

std::vector<double> AttentionProblem::expected(const Row& r) const {
  std::vector<double> weights = scores(r);
  double highest = -std::numeric_limits<double>::max();
  for (double s : weights) highest = std::max(highest, s);
  double total = 0;
  for (double& w : weights) total += w = std::exp(w - highest);
  std::vector<double> sums(size_t(step.value_depth), 0.0);
  for (int64_t key = 0; key < step.keys; ++key)
    for (size_t d = 0; d < sums.size(); ++d)
      sums[d] += weights[size_t(key)] *
                 double(v[at(step.v, {r.outer, r.batch, r.head, key}) + d]);
  const bool zero = total == 0 && step.zero_rows;
  for (double& s : sums) s = zero ? 0 : s / total;
  return sums;
}

void AttentionProblem::expect_right(double tolerance, int64_t every) const {
  std::vector<char> written(out.size(), 0);
  const int64_t heads = step.outer * step.batch * step.heads;
  for (int64_t i = 0; i < heads; ++i)
    for (int64_t row = 0; row < step.queries; ++row) {
      const int64_t batch = i / step.heads;
      const Row r{batch / step.batch, batch % step.batch, i % step.heads, row};
      for (int64_t d = 0; d < step.value_depth; ++d)
        written[at(step.out, r) + size_t(d)] = 1;
      if (row % every == 0) expect_row(r, tolerance);
    }
  for (size_t i = 0; i < out.size(); ++i) {
    if (!written[i]) {
      ASSERT_EQ(out[i], kCanary) << i;
    }
  }
}

void AttentionProblem::expect_row(const Row& r, double tolerance) const {
  const std::vector<double> want = expected(r);
  for (size_t d = 0; d < want.size(); ++d) {
    const float got = out[at(step.out, r) + d];
    if (std::isnan(want[d]))
      ASSERT_TRUE(std::isnan(got)) << r.row << " " << d;
    else
      ASSERT_NEAR(got, want[d], tolerance)
          << r.outer << " " << r.batch << " " << r.head << " " << r.row << " "
          << d;
  }
}

}  // namespace fxjit::jit::testing
