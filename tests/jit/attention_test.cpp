// Attention kernels against softmax and sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "jit/emit/attention.h"
#include "jit/emit/kernel_function.h"
#include "jit/engine/compiler_llvm.h"
#include "src/program/kernel_plan.h"
#include "tests/jit/jit_test_util.h"

namespace fxjit::jit {
namespace {

using program::AttentionStep;
using program::HeadAccess;
using testing::host_levels;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kCanary = 123.5f;

std::shared_ptr<CompiledCode> compile_attention(const AttentionStep& step,
                                                CpuLevel level) {
  EngineOptions options;
  options.cpu_level = level;
  IrModule module = make_ir_module("attention");
  VectorBuilder b(*make_kernel_function(module_of(module), "kernel", level),
                  level);
  emit_attention(b, step);
  std::vector<IrModule> modules;
  modules.push_back(std::move(module));
  return Compiler(options).build(std::move(modules), SymbolTable());
}

HeadAccess contiguous(int64_t heads, int64_t rows, int64_t depth) {
  return {heads * rows * depth, rows * depth, depth};
}

// Contiguous operands, no mask.
AttentionStep make_step(int64_t queries, int64_t keys, int64_t depth,
                        int64_t value_depth, int64_t batch = 1,
                        int64_t heads = 1) {
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

// Elements from the first to the last of an operand.
size_t extent(const AttentionStep& step, const HeadAccess& access, int64_t rows,
              int64_t columns, int64_t column_stride = 1) {
  if (rows == 0 || columns == 0) return 0;
  return size_t((step.batch - 1) * access.batch +
                (step.heads - 1) * access.head + (rows - 1) * access.row +
                (columns - 1) * column_stride + 1);
}

size_t at(const HeadAccess& access, int64_t b, int64_t h, int64_t row) {
  return size_t(b * access.batch + h * access.head + row * access.row);
}

// A step with random operands, each in a buffer that ends with its last
// element; to be changed before run().
struct Problem {
  AttentionStep step;
  std::vector<float> q, k, v, mask, out;
  std::vector<uint8_t> keep;

  explicit Problem(const AttentionStep& s) : step(s) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> value(-2, 2);
    const auto fill = [&](std::vector<float>& x, size_t size) {
      x.resize(size);
      for (float& e : x) e = value(random);
    };
    fill(q, extent(step, step.q, step.queries, step.depth));
    fill(k, extent(step, step.k, step.keys, step.depth));
    fill(v, extent(step, step.v, step.keys, step.value_depth));
    const size_t masks = extent(step, step.mask_access, step.queries, step.keys,
                                step.mask_key_stride);
    if (step.mask == AttentionStep::Mask::additive) fill(mask, masks);
    if (step.mask == AttentionStep::Mask::boolean)
      for (size_t i = 0; i < masks; ++i) keep.push_back(random() % 3 != 0);
    out.assign(extent(step, step.out, step.queries, step.value_depth) + 32,
               kCanary);
  }

  size_t mask_at(int64_t b, int64_t h, int64_t q_row, int64_t key) const {
    return at(step.mask_access, b, h, q_row) +
           size_t(key * step.mask_key_stride);
  }

  void run(CpuLevel level) {
    const auto code = compile_attention(step, level);
    auto* kernel =
        code->function<void(const program::KernelCall*, int64_t, int64_t)>(
            "kernel");
    const program::KernelPlan plan = program::kernel_plan(step, level);
    // Scratch of exactly the size that was asked for, never zeroed.
    std::vector<float> store(plan.scratch_bytes / sizeof(float) + 32, kNan);
    auto place = reinterpret_cast<uintptr_t>(store.data() + 8);
    float* scratch = store.data() + 8 + (64 - place % 64) % 64 / sizeof(float);
    std::vector<void*> operands = {q.data(), k.data(), v.data()};
    if (step.mask == AttentionStep::Mask::additive)
      operands.push_back(mask.data());
    if (step.mask == AttentionStep::Mask::boolean)
      operands.push_back(keep.data());
    operands.push_back(out.data());
    int32_t status = 0;
    const program::KernelCall call{
        operands.data(), reinterpret_cast<std::byte*>(scratch), &status};
    // In two runs, as two threads would.
    kernel(&call, 0, plan.tasks / 2);
    kernel(&call, plan.tasks / 2, plan.tasks);
    for (const float* p = store.data(); p < scratch; ++p)
      ASSERT_TRUE(std::isnan(*p));
    for (const float* p = scratch + plan.scratch_bytes / sizeof(float);
         p < store.data() + store.size(); ++p)
      ASSERT_TRUE(std::isnan(*p));
  }

  // Scores of one query, as torch computes them but in double.
  std::vector<double> scores(int64_t b, int64_t h, int64_t row) const {
    std::vector<double> all;
    for (int64_t key = 0; key < step.keys; ++key) {
      double sum = 0;
      for (int64_t d = 0; d < step.depth; ++d)
        sum += double(q[at(step.q, b, h, row) + size_t(d)]) *
               k[at(step.k, b, h, key) + size_t(d)];
      sum *= double(step.scale);
      if (step.mask == AttentionStep::Mask::additive)
        sum += double(mask[mask_at(b, h, row, key)]);
      if (step.mask == AttentionStep::Mask::boolean &&
          !keep[mask_at(b, h, row, key)])
        sum += double(-kInfinity);
      if (step.causal && key > row) sum = double(-kInfinity);
      all.push_back(sum);
    }
    return all;
  }

  std::vector<double> expected(int64_t b, int64_t h, int64_t row) const {
    std::vector<double> weights = scores(b, h, row);
    double highest = -std::numeric_limits<double>::max();
    for (double s : weights) highest = std::max(highest, s);
    double total = 0;
    for (double& w : weights) total += w = std::exp(w - highest);
    std::vector<double> sums(size_t(step.value_depth), 0.0);
    for (int64_t key = 0; key < step.keys; ++key)
      for (size_t d = 0; d < sums.size(); ++d)
        sums[d] += weights[size_t(key)] * double(v[at(step.v, b, h, key) + d]);
    for (double& s : sums) s = total == 0 ? 0 : s / total;
    return sums;
  }

  // Only rows that are multiples of `every` where the oracle takes long.
  void expect_right(double tolerance = 4e-6, int64_t every = 1) {
    std::vector<char> written(out.size(), 0);
    for (int64_t b = 0; b < step.batch; ++b)
      for (int64_t h = 0; h < step.heads; ++h)
        for (int64_t row = 0; row < step.queries; ++row) {
          const size_t place = at(step.out, b, h, row);
          for (int64_t d = 0; d < step.value_depth; ++d)
            written[place + size_t(d)] = 1;
          if (row % every == 0) expect_row(b, h, row, tolerance);
        }
    for (size_t i = 0; i < out.size(); ++i) {
      if (!written[i]) {
        ASSERT_EQ(out[i], kCanary) << i;
      }
    }
  }

  void expect_row(int64_t b, int64_t h, int64_t row, double tolerance) {
    const std::vector<double> want = expected(b, h, row);
    for (size_t d = 0; d < want.size(); ++d) {
      const float got = out[at(step.out, b, h, row) + d];
      if (std::isnan(want[d]))
        ASSERT_TRUE(std::isnan(got)) << row << " " << d;
      else
        ASSERT_NEAR(got, want[d], tolerance)
            << b << " " << h << " " << row << " " << d;
    }
  }
};

class Attention : public ::testing::TestWithParam<CpuLevel> {
 protected:
  void check(const AttentionStep& step, double tolerance = 4e-6) {
    SCOPED_TRACE(::testing::Message()
                 << step.queries << " x " << step.keys << " depth "
                 << step.depth << ", " << step.value_depth << " mask "
                 << int(step.mask) << (step.causal ? " causal" : ""));
    Problem problem(step);
    problem.run(GetParam());
    problem.expect_right(tolerance);
  }
};

TEST_P(Attention, OfAllLengths) {
  for (int64_t queries : {1, 2, 7, 8, 15, 16, 17, 33, 128, 200})
    check(make_step(queries, queries, 32, 32));
  for (int64_t keys : {1, 2, 3, 7, 9, 16, 31, 77})
    for (int64_t queries : {1, 5, 18}) check(make_step(queries, keys, 17, 20));
}

TEST_P(Attention, OfAllDepths) {
  for (int64_t depth : {1, 3, 8, 16, 17, 32, 64, 80})
    check(make_step(19, 13, depth, depth));
  for (int64_t value_depth : {1, 3, 5, 8, 15, 16, 31, 33, 48, 80, 100})
    check(make_step(9, 11, 16, value_depth));
}

TEST_P(Attention, OfNothing) {
  check(make_step(5, 0, 8, 12));
  check(make_step(5, 6, 0, 12));
  check(make_step(5, 6, 8, 0));
  check(make_step(0, 6, 8, 12));
}

// Slices of [batch, rows, 3 * heads * depth], out [batch, rows, heads * depth].
TEST_P(Attention, OfSlicesOfOneBuffer) {
  const int64_t batch = 2, heads = 3, rows = 21, depth = 24;
  AttentionStep step = make_step(rows, rows, depth, depth, batch, heads);
  const int64_t width = 3 * heads * depth;
  step.q = step.k = step.v = {rows * width, depth, width};
  step.out = {rows * heads * depth, depth, heads * depth};
  step.mask = AttentionStep::Mask::additive;
  step.mask_access = {rows, 0, 0};
  step.mask_key_stride = 1;
  check(step);
}

// Rows of the output lie apart; what is between them stays.
TEST_P(Attention, LeavesGapsAlone) {
  AttentionStep step = make_step(11, 6, 8, 13, 2, 2);
  step.out = {1000, 400, 29};
  check(step);
}

struct MaskLayout {
  HeadAccess access;
  int64_t key_stride;
};

TEST_P(Attention, WithMasks) {
  const int64_t batch = 2, heads = 2, queries = 19, keys = 37;
  const MaskLayout layouts[] = {
      {{keys, 0, 0}, 1},      // [b, 1, 1, keys]
      {{2 * keys, 0, 0}, 2},  // The same, strided.
      {{0, 0, keys}, 1},      // [queries, keys]
      {{heads * queries * keys, queries * keys, keys}, 1},
      {{0, queries * keys, 1}, queries},  // Transposed.
      {{queries, 0, 1}, 0},               // One number per query.
      {{0, 0, 0}, 0},
  };
  for (const MaskLayout& layout : layouts)
    for (AttentionStep::Mask kind :
         {AttentionStep::Mask::additive, AttentionStep::Mask::boolean}) {
      for (int64_t depth : {8, 20}) {
        AttentionStep step =
            make_step(queries, keys, depth, depth, batch, heads);
        step.mask = kind;
        step.mask_access = layout.access;
        step.mask_key_stride = layout.key_stride;
        check(step);
      }
    }
}

TEST_P(Attention, WithFewerKeysThanLanesAndMasks) {
  for (int64_t keys : {1, 3, 5, 16, 17})
    for (int64_t queries : {1, 4, 16, 18}) {
      AttentionStep step = make_step(queries, keys, 8, 8);
      step.mask = AttentionStep::Mask::boolean;
      step.mask_access = {0, 0, keys};
      step.mask_key_stride = 1;
      check(step);
    }
}

TEST_P(Attention, Causal) {
  for (int64_t queries : {1, 3, 8, 16, 17, 40})
    for (int64_t keys : {1, 2, 9, 16, 40, 55}) {
      AttentionStep step = make_step(queries, keys, 12, 12);
      step.causal = true;
      check(step);
      step.mask = AttentionStep::Mask::additive;
      step.mask_access = {0, 0, 0};
      step.mask_key_stride = 1;
      check(step);
      step.mask_access = {0, 0, keys};
      check(step);
    }
}

TEST_P(Attention, ScalesAndKeepsLargeScoresApart) {
  AttentionStep step = make_step(18, 22, 16, 16);
  step.scale = 0.01f;
  check(step);
  step.scale = -3;
  check(step, 1e-4);
  // Scores of thousands: one key takes all.
  Problem problem(make_step(18, 22, 16, 16));
  for (float& x : problem.q) x *= 300;
  problem.run(GetParam());
  problem.expect_right(2e-3);
}

// The figures of torch 2.13 on CPU: zeros where every key is hidden by minus
// infinity, the mean of the values where it is by the lowest finite number.
TEST_P(Attention, OfQueriesThatSeeNothing) {
  const int64_t queries = 18, keys = 21;
  AttentionStep step = make_step(queries, keys, 8, 12);
  step.mask_access = {0, 0, keys};
  step.mask_key_stride = 1;
  step.mask = AttentionStep::Mask::boolean;
  Problem boolean(step);
  std::fill_n(boolean.keep.begin() + 3 * keys, keys, uint8_t{0});
  boolean.run(GetParam());
  boolean.expect_right();
  EXPECT_EQ(boolean.out[3 * 12], 0.0f);
  for (float hidden : {-kInfinity, std::numeric_limits<float>::lowest()}) {
    step.mask = AttentionStep::Mask::additive;
    Problem additive(step);
    std::fill_n(additive.mask.begin() + 5 * keys, keys, hidden);
    std::fill_n(additive.mask.begin() + 7 * keys, keys - 1, hidden);
    additive.run(GetParam());
    double mean = 0;
    for (int64_t key = 0; key < keys; ++key)
      mean += double(additive.v[size_t(key * 12)]) / double(keys);
    EXPECT_NEAR(additive.out[5 * 12], std::isinf(hidden) ? 0.0 : mean, 1e-6);
    EXPECT_NEAR(additive.out[7 * 12], additive.v[size_t((keys - 1) * 12)],
                1e-6);
  }
  // The same for a mask of keys alone.
  step.mask_access = {0, 0, 0};
  Problem all(step);
  std::fill(all.mask.begin(), all.mask.end(), -kInfinity);
  all.run(GetParam());
  all.expect_right();
}

TEST_P(Attention, KeepsNanInItsRows) {
  const int64_t queries = 18, keys = 21, depth = 20;
  const AttentionStep plain = make_step(queries, keys, depth, depth);
  Problem query(plain);
  query.q[5 * depth + 3] = kNan;
  query.run(GetParam());
  query.expect_right();
  EXPECT_TRUE(std::isnan(query.out[5 * depth]));
  EXPECT_FALSE(std::isnan(query.out[6 * depth]));
  Problem value(plain);
  value.v[2 * depth + 1] = kNan;
  value.run(GetParam());
  value.expect_right();
  AttentionStep step = plain;
  step.mask = AttentionStep::Mask::additive;
  step.mask_access = {0, 0, keys};
  step.mask_key_stride = 1;
  Problem mask(step);
  mask.mask[4 * keys + 2] = kNan;
  mask.mask[6 * keys + 2] = kInfinity;  // Infinity less itself, as in torch.
  mask.run(GetParam());
  mask.expect_right();
  EXPECT_TRUE(std::isnan(mask.out[4 * depth]));
  EXPECT_TRUE(std::isnan(mask.out[6 * depth]));
  // A hidden key's NaN score stays one under a mask, as in torch, but not for
  // queries before it.
  step.mask = AttentionStep::Mask::boolean;
  Problem key(step);
  key.k[9 * depth] = kNan;
  key.run(GetParam());
  key.expect_right();
  step = plain;
  step.causal = true;
  Problem causal(step);
  causal.k[9 * depth] = kNan;
  causal.run(GetParam());
  causal.expect_right();
  EXPECT_FALSE(std::isnan(causal.out[8 * depth]));
  EXPECT_TRUE(std::isnan(causal.out[9 * depth]));
}

// Rows of scores that outgrow the cache are summed by blocks of keys.
class LongAttention : public Attention {
 protected:
  static constexpr int64_t kKeys = 33001;

  Problem make(int64_t queries, const AttentionStep& step) {
    const auto shape = program::attention_shape(step, GetParam());
    EXPECT_GT(shape.key_blocks, 1) << queries;
    EXPECT_LT(shape.total * 4, int64_t{1} << 20);
    return Problem(step);
  }
};

TEST_P(LongAttention, BoundsItsMemory) {
  Problem problem = make(19, make_step(19, kKeys, 9, 21));
  // Maxima that rise along the keys.
  for (int64_t i = 0; i < kKeys * 9; ++i)
    problem.k[size_t(i)] *= 1 + float(i) / 1e5f;
  problem.run(GetParam());
  problem.expect_right();
}

TEST_P(LongAttention, WithMasks) {
  for (bool by_query : {false, true})
    for (AttentionStep::Mask kind :
         {AttentionStep::Mask::additive, AttentionStep::Mask::boolean}) {
      AttentionStep step = make_step(5, kKeys, 4, 6);
      step.mask = kind;
      step.mask_access = {0, 0, by_query ? kKeys : 0};
      step.mask_key_stride = 1;
      Problem problem = make(5, step);
      // The first key blocks see nothing, query 1 (or all) nothing at all.
      const int64_t hidden = by_query ? kKeys * 2 : kKeys / 2;
      if (kind == AttentionStep::Mask::additive)
        std::fill_n(problem.mask.begin(), hidden, -kInfinity);
      else
        std::fill_n(problem.keep.begin(), hidden, uint8_t{0});
      problem.run(GetParam());
      problem.expect_right();
    }
}

TEST_P(LongAttention, Causal) {
  AttentionStep step = make_step(kKeys, kKeys, 3, 2);
  step.causal = true;
  Problem problem = make(kKeys, step);
  problem.run(GetParam());
  problem.expect_right(4e-6, 511);
}

TEST_P(LongAttention, KeepsNan) {
  Problem problem = make(3, make_step(3, kKeys, 3, 4));
  problem.q[4] = kNan;
  problem.run(GetParam());
  problem.expect_right();
  EXPECT_TRUE(std::isnan(problem.out[4]));
  EXPECT_FALSE(std::isnan(problem.out[8]));
}

INSTANTIATE_TEST_SUITE_P(Levels, Attention, ::testing::ValuesIn(host_levels()),
                         testing::level_name);
INSTANTIATE_TEST_SUITE_P(Levels, LongAttention,
                         ::testing::ValuesIn(host_levels()),
                         testing::level_name);

}  // namespace
}  // namespace fxjit::jit
