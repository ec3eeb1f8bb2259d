// Named sizes: expressions, guards, and that an expression evaluated is the
// number that the same arithmetic on numbers gives.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>

#include "fxjit/error.h"
#include "fxjit/tensor.h"
#include "src/tensor/sizes/named.h"
#include "src/tensor/sizes/table.h"

namespace fxjit {
namespace TEST_FILE {

class Sizes : public ::testing::Test {
 protected:
  std::vector<std::string> guards() const {
    std::vector<std::string> texts;
    for (const SizeGuard& guard : table_.guards()) texts.push_back(guard.text);
    return texts;
  }
  std::optional<int64_t> value(Size size, std::vector<int64_t> names) const {
    std::vector<int64_t> values;
    if (!table_.evaluate(names, values)) return std::nullopt;
    return table_.value(size, values);
  }

  SizeTable table_;
  const SizeTable::Scope scope_{table_};
  const Size batch_ = table_.name("batch", 3);
  const Size length_ = table_.name("length", 17);
};

using Texts = std::vector<std::string>;

TEST_F(Sizes, EqualExpressionsHaveEqualWords) {
  EXPECT_EQ((batch_ * length_ * 384).word(), (384 * length_ * batch_).word());
  EXPECT_EQ(((length_ + 1) * (length_ - 1)).word(),
            (length_ * length_ - 1).word());
  EXPECT_EQ((length_ - length_).word(), 0);
  EXPECT_EQ((4 * length_ + 3) / 4, length_);
  EXPECT_EQ((4 * length_ + 3) % 4, 3);
  EXPECT_EQ(batch_ * length_ / batch_, length_);
  EXPECT_EQ(guards(), Texts());
}

TEST_F(Sizes, ComparisonsAreProvenOrBecomeGuards) {
  EXPECT_NE(length_, 1);
  EXPECT_GT(batch_ * length_, 3);
  EXPECT_LT(length_, length_ + batch_);
  EXPECT_EQ(guards(), Texts());
  {
    const SizeTable::Asker asker("model.cpp:12", [](const void* text) {
      return std::string(static_cast<const char*>(text));
    });
    EXPECT_LE(length_, 512);
  }
  EXPECT_NE(length_, 12);
  EXPECT_NE(12, length_);
  EXPECT_NE(length_, batch_);
  EXPECT_EQ(guards(),
            Texts({"length < 513", "length != 12", "length - batch != 0"}));
  EXPECT_EQ(table_.guards()[0].asker, "model.cpp:12");
  // The first narrowed the range.
  EXPECT_LT(length_, 600);
  EXPECT_EQ(guards().size(), 3U);
}

TEST_F(Sizes, GuardsTellWhichValuesAreOfTheKind) {
  EXPECT_LE(length_, 512);
  EXPECT_NE(length_, 12);
  const Size expression = batch_ * length_ + 1;
  EXPECT_EQ(value(expression, {2, 512}), 1025);
  EXPECT_EQ(value(expression, {2, 513}), std::nullopt);
  EXPECT_EQ(value(expression, {2, 12}), std::nullopt);
  EXPECT_EQ(value(expression, {1, 11}), std::nullopt);  // Below the range.
}

TEST_F(Sizes, ValuesThatDoNotFitAreOfNoKind) {
  const Size square = length_ * length_;
  EXPECT_EQ(value(square, {2, int64_t{1} << 31}), int64_t{1} << 62);
  EXPECT_EQ(value(square, {2, int64_t{1} << 32}), std::nullopt);
}

TEST_F(Sizes, ConversionSpecialises) {
  const int64_t number = length_;
  EXPECT_EQ(number, 17);
  EXPECT_EQ(guards(), Texts({"length == 17"}));
  EXPECT_TRUE(table_.guards()[0].specialises);
  EXPECT_EQ(value(batch_, {5, 17}), 5);
  EXPECT_EQ(value(batch_, {5, 18}), std::nullopt);
  EXPECT_EQ(hint(batch_), 3);
  EXPECT_EQ(guards().size(), 1U);
}

// Whether the product of all numbers is even.
int64_t is_even(std::span<const int64_t> numbers) {
  int64_t product = 1;
  for (const int64_t number : numbers) product *= number;
  return product % 2 == 0 ? 1 : 0;
}

TEST_F(Sizes, DecisionsAreOneGuard) {
  EXPECT_EQ(decided("evenness", is_even, {2, 3}), 1);
  EXPECT_EQ(guards(), Texts());
  EXPECT_EQ(decided("evenness", is_even, {batch_, length_, 5}), 0);
  EXPECT_EQ(decided("evenness", is_even, {batch_, length_, 5}), 0);
  EXPECT_EQ(guards(), Texts({"the same choice: evenness, by batch, length"}));
  EXPECT_EQ(value(length_, {5, 9}), 9);
  EXPECT_EQ(value(length_, {5, 8}), std::nullopt);
}

TEST_F(Sizes, QuotientsAreRounded) {
  const Size half = length_ / 2;
  EXPECT_EQ(half.is_number(), false);
  EXPECT_EQ(hint(half), 8);
  EXPECT_EQ(value(half, {2, 9}), 4);
  EXPECT_EQ(to_string(half), "(length) / (2)");
  EXPECT_EQ(value((length_ - 1) / batch_ + 1, {4, 9}), 3);
  EXPECT_EQ(value(length_ % batch_, {4, 9}), 1);
  EXPECT_THROW(static_cast<void>(length_ / 0), RuntimeError);
}

TEST_F(Sizes, TextsAreReadable) {
  EXPECT_EQ(to_string(4 * batch_ * length_ - length_ + 1),
            "-length + 4*batch*length + 1");
  EXPECT_EQ((Dims{batch_, 2, length_}).str(), "[batch, 2, length]");
}

TEST_F(Sizes, ShapesKeepNames) {
  const Tensor t = Tensor::meta({batch_, length_, 384}, DType::f32);
  EXPECT_EQ(t.stride(0).word(), (384 * length_).word());
  EXPECT_EQ(t.numel().word(), (batch_ * length_ * 384).word());
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_TRUE(has_name(t));
  EXPECT_FALSE(has_name(Tensor::meta({2, 3}, DType::f32)));
  const Value value(length_);
  EXPECT_TRUE(value.is_int());
  EXPECT_TRUE(value.is_named_size());
  EXPECT_TRUE(same(value, Value(length_)));
  EXPECT_EQ(value.as_size().word(), length_.word());
  EXPECT_TRUE(has_name(Value::list({1, value})));
  const Value copy = value;
  EXPECT_TRUE(copy.is_named_size());
  EXPECT_EQ(guards(), Texts());
}

TEST(SizeWords, NumbersThatLookLikeNamesStayNumbers) {
  const int64_t looks = Size::kNamed * (int64_t{1} << 32);
  EXPECT_THROW(Size{looks}, RuntimeError);
  const Value value(looks);
  EXPECT_FALSE(value.is_named_size());
  EXPECT_EQ(value.as_int(), looks);
  EXPECT_TRUE(same(value, Value(looks)));
}

TEST(SizeWords, NamesOfAnotherKindAreRefused) {
  Size stray;
  {
    SizeTable table;
    const SizeTable::Scope scope(table);
    stray = table.name("n", 5);
  }
  EXPECT_THROW(static_cast<void>(static_cast<int64_t>(stray)), InternalError);
  SizeTable other;
  const SizeTable::Scope scope(other);
  EXPECT_THROW(static_cast<void>(stray + 1), InternalError);
}

// A random calculation with comparisons: on names it must give what it gives on
// numbers, for all numbers that the guards hold for.
Size calculated(uint32_t seed, std::vector<Size> values) {
  std::mt19937 random(seed);
  const auto pick = [&] { return values[random() % values.size()]; };
  for (int i = 0; i < 12; ++i) {
    const Size a = pick(), b = pick();
    const auto number = static_cast<int64_t>(random() % 7);
    switch (random() % 8) {
      case 0:
        values.push_back(a + b);
        break;
      case 1:
        values.push_back(a - b);
        break;
      case 2:
        values.push_back(a * number);
        break;
      case 3:
        if (b != 0) values.push_back(a / b);
        break;
      case 4:
        values.push_back(a % (number + 1));
        break;
      case 5:
        values.push_back(larger(a, b));
        break;
      case 6:
        if (a == b) values.push_back(number);
        break;
      default:
        values.push_back((a + number) / (number + 1));
        break;
    }
  }
  return values.back();
}

TEST(SizeTraces, EvaluatedAreThoseOfNumbers) {
  int checked = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SizeTable table;
    Size named;
    try {
      const SizeTable::Scope scope(table);
      named = calculated(seed, {table.name("n", 9), table.name("m", 5)});
    } catch (const RuntimeError&) {
      continue;  // Too large for a polynomial, if not for a number.
    }
    for (int64_t n : {2, 3, 5, 8, 9, 10, 31, 64})
      for (int64_t m : {2, 4, 5, 6, 9, 100}) {
        std::vector<int64_t> values;
        if (!table.evaluate(std::vector{n, m}, values)) continue;
        EXPECT_EQ(table.value(named, values), int64_t{calculated(seed, {n, m})})
            << "seed " << seed << " at " << n << ", " << m;
        ++checked;
      }
  }
  EXPECT_GT(checked, 2000);
}

}  // namespace TEST_FILE
}  // namespace fxjit
