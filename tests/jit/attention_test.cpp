// Attention kernels against softmax and sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/program/attention/run.h"
#include "tests/jit/attention_problem.h"
#include "tests/jit/jit_test_util.h"
#include "tests/support/analysed.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::AttentionMask;
using program::AttentionStep;
using program::HeadAccess;
using testing::add_mask;
using testing::AttentionProblem;
using testing::host_levels;
using testing::kInfinity;
using testing::make_attention;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Attention : public ::testing::TestWithParam<CpuLevel> {
 protected:
  void check(const AttentionStep& step, double tolerance = 4e-6) {
    SCOPED_TRACE(::testing::Message()
                 << step.queries << " x " << step.keys << " depth "
                 << step.depth << ", " << step.value_depth << " masks "
                 << step.masks.size() << (step.causal ? " causal" : ""));
    AttentionProblem problem(step);
    problem.run(GetParam());
    problem.expect_right(tolerance);
  }
};

TEST_P(Attention, OfAllLengths) {
  for (int64_t queries : {1, 2, 7, 8, 15, 16, 17, 33, 128, 200})
    check(make_attention(queries, queries, 32, 32));
  for (int64_t keys : {1, 2, 3, 7, 9, 16, 31, 77})
    for (int64_t queries : {1, 5, 18})
      check(make_attention(queries, keys, 17, 20));
}

TEST_P(Attention, OfAllDepths) {
  for (int64_t depth : {1, 3, 8, 16, 17, 32, 64, 80})
    check(make_attention(19, 13, depth, depth));
  for (int64_t value_depth : {1, 3, 5, 8, 15, 16, 31, 33, 48, 80, 100})
    check(make_attention(9, 11, 16, value_depth));
}

TEST_P(Attention, OfNothing) {
  check(make_attention(5, 0, 8, 12));
  check(make_attention(5, 6, 0, 12));
  check(make_attention(5, 6, 8, 0));
  check(make_attention(0, 6, 8, 12));
}

// Slices of [batch, rows, 3 * heads * depth], out [batch, rows, heads * depth].
TEST_P(Attention, OfSlicesOfOneBuffer) {
  const int64_t batch = 2, heads = 3, rows = 21, depth = 24;
  AttentionStep step = make_attention(rows, rows, depth, depth, batch, heads);
  const int64_t width = 3 * heads * depth;
  step.q = step.k = step.v = {rows * width, depth, width};
  step.out = {rows * heads * depth, depth, heads * depth};
  add_mask(step, passes::MaskKind::add, {rows, 0, 0});
  check(step);
}

// Rows of the output lie apart; what is between them stays.
TEST_P(Attention, LeavesGapsAlone) {
  AttentionStep step = make_attention(11, 6, 8, 13, 2, 2);
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
    for (passes::MaskKind kind :
         {passes::MaskKind::add, passes::MaskKind::hide, passes::MaskKind::keep,
          passes::MaskKind::fill}) {
      for (int64_t depth : {8, 20}) {
        AttentionStep step =
            make_attention(queries, keys, depth, depth, batch, heads);
        add_mask(step, kind, layout.access, layout.key_stride, -0.75f);
        check(step);
      }
    }
}

// Masks in sequence, each of its own form; the last word has the last one.
TEST_P(Attention, WithSeveralMasks) {
  const int64_t batch = 2, heads = 3, queries = 21, keys = 18;
  AttentionStep step = make_attention(queries, keys, 8, 12, batch, heads);
  add_mask(step, passes::MaskKind::add,
           {0, queries * keys, keys});  // [heads, queries, keys]
  add_mask(step, passes::MaskKind::add, {keys, 0, 0}, 1, 0.5f);
  check(step);
  add_mask(step, passes::MaskKind::fill, {0, 0, keys}, 1, -3.5f);
  check(step);
  add_mask(step, passes::MaskKind::add, {0, 0, 1}, 0, -2.0f);
  add_mask(step, passes::MaskKind::keep, {keys, 0, 0}, 1, -1e4f);
  check(step);
  add_mask(step, passes::MaskKind::hide, {0, 0, keys});
  check(step);
}

// Windows of images: [images, windows, heads], a mask per window, one per head.
TEST_P(Attention, OfThreeLeadingDims) {
  const int64_t images = 2, windows = 3, heads = 2, tokens = 10, depth = 8;
  AttentionStep step =
      make_attention(tokens, tokens, depth, depth, windows, heads);
  step.outer = images;
  for (HeadAccess* access : {&step.q, &step.k, &step.v, &step.out})
    access->outer = windows * heads * tokens * depth;
  add_mask(step, passes::MaskKind::add, {0, tokens * tokens, tokens});
  add_mask(step, passes::MaskKind::add, {tokens * tokens, 0, tokens});
  check(step);
  step.k.head = step.v.head = 0;  // Shared by the heads.
  check(step);
}

// A row that is filled everywhere is the mean of the values, unless filled with
// minus infinity.
TEST_P(Attention, OfFilledRows) {
  const int64_t queries = 18, keys = 21;
  for (float value : {-1e4f, std::numeric_limits<float>::lowest()}) {
    AttentionStep step = make_attention(queries, keys, 8, 12);
    step.zero_rows = false;
    add_mask(step, passes::MaskKind::fill, {0, 0, keys}, 1, value);
    AttentionProblem filled(step);
    std::fill_n(filled.flags[0].begin() + 3 * keys, keys, uint8_t{1});
    filled.run(GetParam());
    filled.expect_right();
    step.masks[0].value = -kInfinity;
    AttentionProblem hidden(step);
    std::fill_n(hidden.flags[0].begin() + 3 * keys, keys, uint8_t{1});
    hidden.k[8 * 5] = kNan;  // Gives way as well.
    std::fill_n(hidden.flags[0].begin() + 4 * keys, keys, uint8_t{0});
    hidden.run(GetParam());
    hidden.expect_right();
    EXPECT_TRUE(std::isnan(hidden.out[3 * 12]));
  }
}

TEST_P(Attention, WithFewerKeysThanLanesAndMasks) {
  for (int64_t keys : {1, 3, 5, 16, 17})
    for (int64_t queries : {1, 4, 16, 18}) {
      AttentionStep step = make_attention(queries, keys, 8, 8);
      add_mask(step, passes::MaskKind::hide, {0, 0, keys});
      check(step);
    }
}

TEST_P(Attention, Causal) {
  for (int64_t queries : {1, 3, 8, 16, 17, 40})
    for (int64_t keys : {1, 2, 9, 16, 40, 55}) {
      AttentionStep step = make_attention(queries, keys, 12, 12);
      step.causal = true;
      check(step);
      add_mask(step, passes::MaskKind::add, {0, 0, 0});
      check(step);
      step.masks[0].access = {0, 0, keys};
      check(step);
    }
}

// Long enough for blocks of several vectors of queries.
TEST_P(Attention, OfManyQueriesAndKeys) {
  const int64_t queries = 107, keys = 1311;
  AttentionStep step = make_attention(queries, keys, 102, 103);
  check(step);
  add_mask(step, passes::MaskKind::hide, {0, 0, keys});
  check(step);
  step.masks[0].kind = passes::MaskKind::add;
  check(step);
  step = make_attention(queries, keys, 201, 203);
  step.causal = true;
  check(step);
}

TEST_P(Attention, ScalesAndKeepsLargeScoresApart) {
  AttentionStep step = make_attention(18, 22, 16, 16);
  step.scale = 0.01f;
  check(step);
  step.scale = -3;
  check(step, 1e-4);
  // Scores of thousands: one key takes all.
  AttentionProblem problem(make_attention(18, 22, 16, 16));
  for (float& x : problem.q) x *= 300;
  problem.run(GetParam());
  problem.expect_right(2e-3);
}

// The figures of torch 2.13 on CPU: zeros where every key is hidden by minus
// infinity, the mean of the values where it is by the lowest finite number.
TEST_P(Attention, OfQueriesThatSeeNothing) {
  const int64_t queries = 18, keys = 21;
  AttentionStep step = make_attention(queries, keys, 8, 12);
  add_mask(step, passes::MaskKind::hide, {0, 0, keys});
  AttentionProblem boolean(step);
  std::fill_n(boolean.flags[0].begin() + 3 * keys, keys, uint8_t{0});
  boolean.run(GetParam());
  boolean.expect_right();
  EXPECT_EQ(boolean.out[3 * 12], 0.0f);
  for (float hidden : {-kInfinity, std::numeric_limits<float>::lowest()}) {
    step.masks[0].kind = passes::MaskKind::add;
    AttentionProblem additive(step);
    std::fill_n(additive.masks[0].begin() + 5 * keys, keys, hidden);
    std::fill_n(additive.masks[0].begin() + 7 * keys, keys - 1, hidden);
    additive.run(GetParam());
    double mean = 0;
    for (int64_t key = 0; key < keys; ++key)
      mean += double(additive.v[size_t(key * 12)]) / double(keys);
    EXPECT_NEAR(additive.out[5 * 12], std::isinf(hidden) ? 0.0 : mean, 1e-6);
    EXPECT_NEAR(additive.out[7 * 12], additive.v[size_t((keys - 1) * 12)],
                1e-6);
  }
  // The same for a mask of keys alone.
  step.masks[0].access = {0, 0, 0};
  AttentionProblem all(step);
  std::fill(all.masks[0].begin(), all.masks[0].end(), -kInfinity);
  all.run(GetParam());
  all.expect_right();
  // And of a softmax followed by a product.
  step.zero_rows = false;
  AttentionProblem written(step);
  std::fill(written.masks[0].begin(), written.masks[0].end(), -kInfinity);
  written.run(GetParam());
  written.expect_right();
  EXPECT_TRUE(std::isnan(written.out[0]));
}

TEST_P(Attention, KeepsNanInItsRows) {
  const int64_t queries = 18, keys = 21, depth = 20;
  const AttentionStep plain = make_attention(queries, keys, depth, depth);
  AttentionProblem query(plain);
  query.q[5 * depth + 3] = kNan;
  query.run(GetParam());
  query.expect_right();
  EXPECT_TRUE(std::isnan(query.out[5 * depth]));
  EXPECT_FALSE(std::isnan(query.out[6 * depth]));
  AttentionProblem value(plain);
  value.v[2 * depth + 1] = kNan;
  value.run(GetParam());
  value.expect_right();
  AttentionStep step = plain;
  add_mask(step, passes::MaskKind::add, {0, 0, keys});
  AttentionProblem mask(step);
  mask.masks[0][4 * keys + 2] = kNan;
  mask.masks[0][6 * keys + 2] =
      kInfinity;  // Infinity less itself, as in torch.
  mask.run(GetParam());
  mask.expect_right();
  EXPECT_TRUE(std::isnan(mask.out[4 * depth]));
  EXPECT_TRUE(std::isnan(mask.out[6 * depth]));
  // A hidden key's NaN score stays one under a mask, as in torch, but not for
  // queries before it.
  step.masks[0].kind = passes::MaskKind::hide;
  AttentionProblem key(step);
  key.k[9 * depth] = kNan;
  key.run(GetParam());
  key.expect_right();
  step = plain;
  step.causal = true;
  AttentionProblem causal(step);
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

  AttentionProblem make(int64_t queries, const AttentionStep& step) {
    const auto known = program::analysed(step, GetParam());
    EXPECT_GT(known.shape.key_blocks, 1) << queries;
    EXPECT_LT(known.plan(GetParam()).scratch_bytes, size_t{1} << 20);
    return AttentionProblem(step);
  }
};

TEST_P(LongAttention, BoundsItsMemory) {
  AttentionProblem problem = make(19, make_attention(19, kKeys, 9, 21));
  // Maxima that rise along the keys.
  for (int64_t i = 0; i < kKeys * 9; ++i)
    problem.k[size_t(i)] *= 1 + float(i) / 1e5f;
  problem.run(GetParam());
  problem.expect_right();
}

TEST_P(LongAttention, WithMasks) {
  for (bool by_query : {false, true})
    for (passes::MaskKind kind :
         {passes::MaskKind::add, passes::MaskKind::hide}) {
      AttentionStep step = make_attention(5, kKeys, 4, 6);
      add_mask(step, kind, {0, 0, by_query ? kKeys : 0});
      AttentionProblem problem = make(5, step);
      // The first key blocks see nothing, query 1 (or all) nothing at all.
      const int64_t hidden = by_query ? kKeys * 2 : kKeys / 2;
      if (kind == passes::MaskKind::add)
        std::fill_n(problem.masks[0].begin(), hidden, -kInfinity);
      else
        std::fill_n(problem.flags[0].begin(), hidden, uint8_t{0});
      problem.run(GetParam());
      problem.expect_right();
    }
}

TEST_P(LongAttention, Causal) {
  AttentionStep step = make_attention(kKeys, kKeys, 3, 2);
  step.causal = true;
  AttentionProblem problem = make(kKeys, step);
  problem.run(GetParam());
  problem.expect_right(4e-6, 511);
}

TEST_P(LongAttention, KeepsNan) {
  AttentionProblem problem = make(3, make_attention(3, kKeys, 3, 4));
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

}  // namespace TEST_FILE
}  // namespace fxjit::jit
