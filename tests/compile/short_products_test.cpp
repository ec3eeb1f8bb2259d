// Products of small integers of which both factors are known at run time only,
// held against whole sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;

// Any numbers, or the two ends in turns.
enum class Numbers : uint8_t { any, ends };

Tensor integers(DType dtype, const Dims& sizes, Numbers which, uint32_t seed) {
  const int bits = dtype == DType::i16 ? 16 : 8;
  const int64_t count = int64_t{1} << bits;
  const int64_t low = dtype == DType::u8 ? 0 : -count / 2;
  const Tensor wide = Tensor::empty(sizes, DType::i64);
  std::mt19937 random(seed);
  for (int64_t i = 0; i < wide.numel(); ++i)
    wide.data_as<int64_t>()[i] = which == Numbers::any ? low + random() % count
                                 : random() % 2        ? low
                                                       : low + count - 1;
  return wide.to(dtype);
}

// Whole sums of [B, M, K] by [B, K, N] less their zero points, as `dtype`;
// those beyond 64 bits wrap.
Tensor whole_sums(const Tensor& x, const Tensor& w, int64_t p, int64_t q,
                  DType dtype) {
  const int64_t batch = x.size(0), rows = x.size(1), depth = x.size(2),
                columns = w.size(2);
  const Tensor a = x.to(DType::i64).contiguous();
  const Tensor b = w.to(DType::i64).contiguous();
  const Tensor sums = Tensor::empty({batch, rows, columns}, DType::i64);
  for (int64_t i = 0; i < batch * rows; ++i)
    for (int64_t n = 0; n < columns; ++n) {
      uint64_t sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum +=
            uint64_t(a.data_as<int64_t>()[i * depth + k] - p) *
            uint64_t(
                b.data_as<int64_t>()[(i / rows * depth + k) * columns + n] - q);
      sums.data_as<int64_t>()[i * columns + n] = int64_t(sum);
    }
  return sums.to(dtype);
}

struct Sizes {
  int64_t batch, rows, depth, columns;
};

constexpr Sizes kSizes[] = {{1, 1, 1, 1},     {1, 2, 3, 5},    {3, 8, 16, 16},
                            {2, 9, 17, 33},   {1, 17, 1, 18},  {2, 33, 71, 50},
                            {12, 20, 32, 21}, {1, 16, 300, 4}, {2, 0, 5, 3},
                            {2, 4, 5, 0}};

using Traced = std::function<Value(Value, Value)>;

void expect_exact(const Traced& fn, const ValueList& inputs,
                  const Tensor& wanted) {
  const auto gm = fx::symbolic_trace(fn, {"x", "w"}, "f");
  EXPECT_EQ(testing::value_difference(gm->interpret(inputs), wanted, 0, 0), "");
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      compile(*gm, testing::options_for(level, threads));
      EXPECT_EQ(testing::value_difference(gm->forward(inputs), wanted, 0, 0),
                "");
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    }
}

TEST(ShortProducts, OfBytesWithZeroPoints) {
  for (const Sizes& s : kSizes)
    for (const DType left : {DType::u8, DType::i8})
      for (const DType right : {DType::u8, DType::i8}) {
        const Numbers which = s.depth % 2 ? Numbers::any : Numbers::ends;
        const Tensor x = integers(left, {s.batch, s.rows, s.depth}, which, 1);
        const Tensor w =
            integers(right, {s.batch, s.depth, s.columns}, which, 2);
        const int p = left == DType::u8 ? 255 : -128;
        const int q = right == DType::u8 ? 0 : 127;
        const Tensor zero = Tensor::full({}, p, left);
        const Tensor other = Tensor::full({}, q, right);
        expect_exact(
            [&](Value x, Value w) {
              return function("fxjit.integer_matmul", {x, w, zero, other});
            },
            {x, w}, whole_sums(x, w, p, q, DType::i32));
      }
}

// Sums of three factors of 255 do not fit 16 bits, many not 24.
TEST(ShortProducts, WrapAsTheirTypeDoes) {
  for (const Sizes& s : kSizes)
    for (const DType dtype : {DType::u8, DType::i8, DType::i16}) {
      const Numbers which = s.depth % 2 ? Numbers::ends : Numbers::any;
      const Tensor x = integers(dtype, {s.batch, s.rows, s.depth}, which, 1);
      const Tensor w = integers(dtype, {s.batch, s.depth, s.columns}, which, 2);
      expect_exact([](Value x, Value w) { return matmul(x, w); }, {x, w},
                   whole_sums(x, w, 0, 0, dtype));
    }
}

// Heads of attention: factors turned, and one matrix for all batches.
TEST(ShortProducts, OfViews) {
  const Tensor x = integers(DType::u8, {3, 18, 32}, Numbers::ends, 1);
  const Tensor w = integers(DType::i8, {3, 21, 32}, Numbers::ends, 2);
  expect_exact(
      [](Value x, Value w) {
        return function("fxjit.integer_matmul", {x, transpose(w, 1, 2)});
      },
      {x, w}, whole_sums(x, transpose(w, 1, 2).as_tensor(), 0, 0, DType::i32));
  const Tensor one = integers(DType::i8, {1, 32, 21}, Numbers::any, 2);
  const Tensor all = Tensor::empty({3, 32, 21}, DType::i8);
  all.copy_from(one);
  expect_exact(
      [](Value x, Value w) {
        return function("fxjit.integer_matmul", {x, reshape(w, {32, 21})});
      },
      {x, one}, whole_sums(x, all, 0, 0, DType::i32));
}

// Other integers wrap as well, by plain loops.
TEST(ShortProducts, OfWideIntegers) {
  for (const DType dtype : {DType::i32, DType::i64}) {
    Tensor x = integers(DType::i16, {2, 9, 17}, Numbers::any, 1).to(DType::i64);
    Tensor w = integers(DType::i16, {2, 17, 5}, Numbers::any, 2).to(DType::i64);
    for (Tensor* t : {&x, &w}) {
      for (int64_t i = 0; i < t->numel(); ++i)
        t->data_as<int64_t>()[i] *= 65537 * 3;
      *t = t->to(dtype);
    }
    const auto gm = fx::symbolic_trace(
        [](Value x, Value w) { return matmul(x, w); }, {"x", "w"}, "f");
    const Tensor wanted = whole_sums(x, w, 0, 0, dtype);
    const ValueList inputs{x, w};
    EXPECT_EQ(testing::value_difference(gm->interpret(inputs), wanted, 0, 0),
              "");
    compile(*gm, testing::quick());
    EXPECT_EQ(testing::value_difference(gm->forward(inputs), wanted, 0, 0), "");
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
