// Where the order of memory decides: what is a view, what a copy, and whom a
// write reaches; in the interpreter and compiled, as torch does it.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::random_tensor;

const Tensor kMatrix = random_tensor({3, 4});
const Tensor kImage = random_tensor({2, 3, 4, 5});

// What `fn` gives of `x`, by the interpreter and compiled: writes that others
// see end a part.
template <typename Fn>
ValueList results(Fn fn, const Tensor& x) {
  const auto gm = fx::symbolic_trace(fn, nn::Signature({"x"}), "f");
  const Value interpreted = gm->interpret(ValueList{x.clone()});
  compile(*gm, testing::quick());
  const Value compiled = gm->forward(ValueList{x.clone()});
  return {interpreted, compiled};
}

// Whether a write to what `fn` makes of a turned product leaves the product.
template <typename Fn>
void expect_copy(Fn fn) {
  const auto f = [&](Value x) {
    const Value y = transpose(x, 0, 1) * 2;
    const Value made = fn(y);
    method(made, "mul_", {0});
    return Value::tuple({y, made});
  };
  const Tensor expected = (transpose(kMatrix, 0, 1) * 2).as_tensor();
  for (const Value& result : results(f, kMatrix)) {
    EXPECT_EQ(testing::value_difference(result.at(0), expected, 0, 0), "");
    EXPECT_EQ(result.at(0).as_tensor().strides(), Dims({1, 4}));
    EXPECT_EQ(sum(result.at(1)).as_tensor().item(), 0);
    EXPECT_NE(result.at(0).as_tensor().storage(),
              result.at(1).as_tensor().storage());
  }
}

template <typename Fn>
void expect_view(Fn fn) {
  const auto f = [&](Value x) {
    const Value y = transpose(x, 0, 1) * 2;
    method(fn(y), "mul_", {0});
    return y;
  };
  for (const Value& result : results(f, kMatrix)) {
    EXPECT_EQ(sum(square(result)).as_tensor().item(), 0);
    EXPECT_EQ(result.as_tensor().strides(), Dims({1, 4}));
  }
}

TEST(Layouts, DecideWhatIsCopied) {
  expect_copy([](Value y) { return reshape(y, {-1}); });
  expect_copy([](Value y) { return flatten(y); });
  expect_copy([](Value y) { return method(y, "ravel"); });
  expect_copy([](Value y) { return method(y, "contiguous"); });
  expect_copy([](Value y) { return reshape(y, {2, 6}); });
}

TEST(Layouts, DecideWhatIsViewed) {
  expect_view([](Value y) { return reshape(transpose(y, 0, 1), {-1}); });
  expect_view([](Value y) { return method(transpose(y, 0, 1), "contiguous"); });
  expect_view([](Value y) { return method(y, "t"); });
}

TEST(Layouts, DecideWhatCannotBeViewed) {
  const auto f = [](Value x) {
    return method(transpose(x, 0, 1) + 1, "view", {-1});
  };
  EXPECT_THROW(results(f, kMatrix), RuntimeError);
}

TEST(Layouts, AreNumbersOfTheGraph) {
  const auto f = [](Value x) {
    return method(permute(x, {0, 2, 3, 1}) * 2, "stride", {1});
  };
  for (const Value& result : results(f, kImage)) EXPECT_EQ(result.as_int(), 5);
}

void expect_strides(Value (*f)(Value), const Tensor& x, const Dims& strides) {
  for (const Value& result : results(f, x)) {
    EXPECT_EQ(result.as_tensor().strides(), strides);
    EXPECT_EQ(testing::value_difference(result, f(x), 1e-5, 1e-6), "");
  }
}

TEST(Layouts, OfResults) {
  expect_strides([](Value x) { return relu(transpose(x, 0, 1) + 1); }, kMatrix,
                 {1, 4});
  expect_strides([](Value x) { return softmax(transpose(x, 0, 1), 0); },
                 kMatrix, {3, 1});
  expect_strides([](Value x) { return method(transpose(x, 0, 1), "clone"); },
                 kMatrix, {1, 4});
  expect_strides(
      [](Value x) { return method(transpose(x, 0, 1), "to", {DType::f64}); },
      kMatrix, {1, 4});
  // The first operand decides.
  expect_strides([](Value x) { return transpose(x, 0, 1) + exp(x); },
                 random_tensor({3, 3}), {1, 3});
  expect_strides([](Value x) { return exp(x) + transpose(x, 0, 1); },
                 random_tensor({3, 3}), {3, 1});
}

TEST(Layouts, AreThoseThatCallsAskFor) {
  const Dims last{60, 1, 15, 3};
  expect_strides(
      [](Value x) { return method(x, "contiguous", {"torch.channels_last"}); },
      kImage, last);
  expect_strides(
      [](Value x) {
        return method(x * 2, "clone", {},
                      {{"memory_format", "torch.channels_last"}});
      },
      kImage, last);
  expect_strides(
      [](Value x) {
        return method(x, "to", {DType::f64},
                      {{"memory_format", "torch.channels_last"}});
      },
      kImage, last);
  expect_strides(
      [](Value x) {
        return method(transpose(x, 0, 1), "clone", {},
                      {{"memory_format", "torch.contiguous_format"}});
      },
      kMatrix, {3, 1});
}

// as_strided and views of another type see them inside of a graph.
TEST(Layouts, AreSeenByLaterCalls) {
  const auto f = [](Value x) {
    const Value last = method(x, "contiguous", {"torch.channels_last"});
    return Value::tuple(
        {method(last, "as_strided", {Dims({3, 2}), Dims({2, 1})}) + 1,
         method(method(last, "contiguous"), "as_strided",
                {Dims({3, 2}), Dims({2, 1})}) *
             2});
  };
  const Tensor first = kImage.as_strided({3}, {20}, 0);
  for (const Value& result : results(f, kImage)) {
    const Tensor ordered = result.at(0).as_tensor().as_strided({3}, {1}, 0);
    EXPECT_EQ(testing::value_difference(ordered, first + 1, 0, 0), "");
    const Tensor plain = result.at(1).as_tensor().as_strided({6}, {1}, 0);
    EXPECT_EQ(testing::value_difference(
                  plain, kImage.as_strided({6}, {1}, 0) * 2, 0, 0),
              "");
  }
}

TEST(Layouts, OfKnownNumbersAreMade) {
  const auto f = [](Value x) {
    return method(method(x, "new_empty_strided", {Dims({2, 3}), Dims({1, 2})}),
                  "zero_");
  };
  for (const Value& result : results(f, kMatrix)) {
    EXPECT_EQ(result.as_tensor().strides(), Dims({1, 2}));
    EXPECT_EQ(sum(result).as_tensor().item(), 0);
  }
}

// Inside, convolutions and attention leave their results in orders of their
// own.
TEST(Layouts, OfConvolutionsAndAttention) {
  static const Tensor weight = random_tensor({6, 3, 3, 3});
  expect_strides([](Value x) { return F::relu(F::conv2d(x, weight)); }, kImage,
                 {36, 6, 3, 1});
  expect_strides(
      [](Value x) { return permute(F::conv2d(x, weight), {0, 2, 3, 1}); },
      kImage, {36, 3, 1, 6});
  expect_strides(
      [](Value x) {
        return getitem(transpose(F::conv2d(x, weight), 1, 2),
                       Value::tuple({Ellipsis, Value::slice(None, None, 2)}));
      },
      kImage, {36, 3, 6, 2});
  expect_strides(
      [](Value x) {
        return transpose(F::scaled_dot_product_attention(x, x, x), 1, 2);
      },
      kImage, {60, 5, 20, 1});
}

TEST(Layouts, OfImagesWithChannelsLast) {
  static const Tensor weight = random_tensor({6, 3, 3, 3});
  const Tensor image =
      random_tensor({2, 4, 5, 3}).as_strided({2, 3, 4, 5}, {60, 1, 15, 3}, 0);
  const auto f = [](Value x) {
    return F::conv2d(method(x * 1, "add", {1}), weight);
  };
  const auto gm = fx::symbolic_trace(f, nn::Signature({"x"}), "f");
  const Value interpreted = gm->interpret(ValueList{image});
  compile(*gm, testing::quick());
  for (const Value& result : {interpreted, gm->forward(ValueList{image})})
    EXPECT_EQ(result.as_tensor().strides(), Dims({36, 1, 18, 6}));
}

}  // namespace TEST_FILE
}  // namespace fxjit
