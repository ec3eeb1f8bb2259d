// Sizes with declared names: the first call is traced for all of them, and
// sizes that are not as declared are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/report.h"
#include "src/compile/compiled_module.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using testing::quick;
using testing::random_tensor;

// Rows of positions are added to rows of a table of 32.
nn::Ref<fx::GraphModule> placed() {
  const Tensor table = random_tensor({32, 8}, DType::f32, 2);
  const Tensor weight = random_tensor({16, 8}, DType::f32, 3);
  return fx::symbolic_trace(
      [&](Value x, Value mask) {
        const Value length = method(x, "size", {1});
        const Value y = x + narrow(table, 0, 0, length);
        return F::gelu(F::linear(y, weight)) * unsqueeze(mask, -1);
      },
      {"x", "mask"}, "placed");
}

CompileOptions declared() {
  CompileOptions options = quick();
  const NamedSize batch{"batch"}, length{"length", 2, 32};
  options.sizes = {{batch, length}, {batch, length}};
  return options;
}

ValueList inputs(int64_t batch, int64_t length) {
  return {random_tensor({batch, length, 8}), random_tensor({batch, length})};
}

void expect_right(fx::GraphModule& gm, const ValueList& given) {
  EXPECT_EQ(testing::value_difference(gm.forward(given), gm.interpret(given),
                                      1e-5, 1e-5),
            "");
}

std::string error_of(fx::GraphModule& gm, const ValueList& given) {
  try {
    gm.forward(given);
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "no error";
}

TEST(DeclaredSizes, HaveNamesInTheFirstCall) {
  const auto gm = placed();
  compile(*gm, declared());
  expect_right(*gm, inputs(3, 7));
  EXPECT_EQ(compiled_module(*gm)->kinds(), 1U);
  for (const auto& [batch, length] :
       {std::pair(5, 9), std::pair(2, 31), std::pair(7, 7)})
    expect_right(*gm, inputs(batch, length));
  EXPECT_EQ(compiled_module(*gm)->kinds(), 1U);
  expect_right(*gm, inputs(1, 9));  // A batch of one is a kind of its own.
  EXPECT_EQ(compiled_module(*gm)->kinds(), 2U);
}

TEST(DeclaredSizes, StandWithPlaceholdersAsWell) {
  const auto gm = placed();
  for (const fx::NodePtr node : gm->graph().placeholders())
    declare_sizes(*node, {NamedSize{"n"}, NamedSize{""}});
  EXPECT_EQ(declared_sizes(*gm->graph().placeholders()[0])[0], NamedSize{"n"});
  compile(*gm, quick());
  for (const auto& [batch, length] : {std::pair(3, 7), std::pair(4, 20)})
    expect_right(*gm, inputs(batch, length));
  EXPECT_EQ(compiled_module(*gm)->kinds(), 1U);
}

TEST(DeclaredSizes, EqualSizesOfOtherNamesStayApart) {
  const auto gm = placed();
  compile(*gm, declared());
  expect_right(*gm, inputs(7, 7));
  expect_right(*gm, inputs(7, 9));
  EXPECT_EQ(compiled_module(*gm)->kinds(), 1U);
}

TEST(DeclaredSizes, RefuseOthersByInputSizeAndRange) {
  const auto gm = placed();
  compile(*gm, declared());
  gm->forward(inputs(3, 7));
  EXPECT_THAT(error_of(*gm, inputs(3, 33)),
              HasSubstr("input x, dim 1 (length): expected a size in 2..32, "
                        "got 33"));
  const ValueList unequal{random_tensor({3, 7, 8}), random_tensor({3, 9})};
  EXPECT_THAT(error_of(*gm, unequal),
              HasSubstr("input mask, dim 1 (length): expected a size of 7, "
                        "that of input x, dim 1, got 9"));
  const ValueList flat{random_tensor({3}), random_tensor({3, 9})};
  EXPECT_THAT(error_of(*gm, flat),
              HasSubstr("input x: expected 2 dims, as declared, got 1"));
  expect_right(*gm, inputs(3, 8));
}

TEST(DeclaredSizes, ServeNoneAndInputsWithGaps) {
  const auto gm = placed();
  compile(*gm, declared());
  const Tensor wide = random_tensor({6, 9, 12}), masks = random_tensor({6, 9});
  for (int64_t batch = 0; batch < 4; ++batch) {
    expect_right(*gm, inputs(batch, 7));
    expect_right(*gm, {wide.as_strided({batch, 7, 8}, {108, 12, 1}, 3),
                       masks.as_strided({batch, 7}, {0, 1}, 2)});
  }
  EXPECT_THAT(error_of(*gm, inputs(3, 0)),
              HasSubstr("input x, dim 1 (length): expected a size in 2..32, "
                        "got 0"));
}

TEST(DeclaredSizes, OfNumbersRefuseOthersByInputAndRange) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value n) { return relu(narrow(x, 0, 0, n)) * 2.0; },
      {"x", "n"}, "cut");
  CompileOptions options = quick();
  options.sizes = {{NamedSize{"rows"}}, {NamedSize{"n", 0, 6}}};
  compile(*gm, options);
  for (int64_t n = 0; n < 7; ++n) expect_right(*gm, {random_tensor({9, 4}), n});
  for (const int64_t n : {int64_t{-1}, int64_t{7}, INT64_MAX, INT64_MIN})
    EXPECT_THAT(error_of(*gm, {random_tensor({9, 4}), n}),
                ::testing::ContainsRegex("input n.*expected.*0\\.\\.6, got " +
                                         std::to_string(n)));
}

TEST(DeclaredSizes, RefuseRangesWithoutASize) {
  const auto gm = placed();
  CompileOptions options = quick();
  options.sizes = {{NamedSize{"n", 8, 4}}};
  EXPECT_THROW(compile(*gm, options), UserError);
  options.sizes = {{NamedSize{"n", 8, 16}, NamedSize{"n", 2, 4}}};
  EXPECT_THROW(compile(*gm, options), UserError);
}

TEST(DeclaredSizes, AreInReportsWithTheirGuards) {
  const auto gm = placed();
  CompileOptions options = declared();
  options.sizes[0][1]->most = {};
  options.sizes[1][1]->most = {};
  compile(*gm, options);
  gm->forward(inputs(3, 7));
  const Report report = make_report(*gm);
  ASSERT_EQ(report.kinds.size(), 1U);
  EXPECT_EQ(report.kinds[0].inputs,
            "float32[batch, length, 8], float32[batch, length]");
  ASSERT_EQ(report.kinds[0].sizes.size(), 2U);
  EXPECT_EQ(report.kinds[0].sizes[1].name, "length");
  // All 32 rows are the table itself, which is another graph.
  EXPECT_EQ(report.kinds[0].sizes[1].most, 31);
  EXPECT_THAT(report.text(), HasSubstr("  batch in 2..\n"));
  EXPECT_THAT(report.text(), HasSubstr("  length in 2..31\n"));
  EXPECT_THAT(report.text(), HasSubstr("declared_sizes_test.cpp:"));
  EXPECT_THAT(report.json(), HasSubstr("\"name\": \"length\""));
}

TEST(DeclaredSizes, ThatAreAskedForAsNumbersAreReported) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        Value total = 0;
        const Value parts = unbind(x, 0);
        for (int64_t i = 0; i < 3; ++i)
          total = total + F::relu(getitem(parts, i));
        return total;
      },
      {"x"}, "asked");
  CompileOptions options = quick();
  options.sizes = {{std::nullopt, NamedSize{"n"}}};
  compile(*gm, options);
  for (int64_t n = 2; n < 6; ++n) expect_right(*gm, {random_tensor({3, n})});
  EXPECT_EQ(compiled_module(*gm)->kinds(), 1U);
  options.sizes = {{NamedSize{"n"}}};
  compile(*gm, options);
  expect_right(*gm, {random_tensor({3, 4})});
  const Report report = make_report(*gm);
  ASSERT_EQ(report.kinds.size(), 1U);
  EXPECT_THAT(report.text(),
              ::testing::ContainsRegex("only n == 3: .*unbind.*"
                                       "declared_sizes_test.cpp:"));
}

// Images of named heights and widths: results have the bits of programs that
// were made of numbers alone.
nn::Ref<fx::GraphModule> image_net() {
  const auto weight = [](const Dims& sizes, uint32_t seed) {
    const Tensor t = random_tensor(sizes, DType::f32, seed);
    for (int64_t i = 0; i < t.numel(); ++i) t.data_as<float>()[i] *= 0.2F;
    return t;
  };
  const Tensor first = weight({16, 3, 3, 3}, 1),
               deep = weight({16, 1, 3, 3}, 2),
               point = weight({32, 16, 1, 1}, 3),
               up = weight({16, 48, 3, 3}, 4), last = weight({10, 16}, 5);
  return fx::symbolic_trace(
      [&](Value x) {
        const Value a = F::relu(F::conv2d(x, first, None, 1, 1));
        const Value b = F::hardswish(F::conv2d(a, deep, None, 2, 1, 1, 16));
        const Value c = F::max_pool2d(F::conv2d(b, point), 2);
        const Value wide = F::interpolate(c, None, 2.0, "nearest");
        const Value smooth = F::interpolate(wide, None, 2.0, "bilinear", false);
        const Value d = F::relu(F::conv2d(cat({smooth, a}, 1), up, None, 1, 1));
        const Value squeezed = F::adaptive_avg_pool2d(d, 1);
        const Value cells = F::adaptive_avg_pool2d(d, 3);
        return Value::tuple({d * sigmoid(squeezed), cells,
                             F::linear(flatten(squeezed, 1), last)});
      },
      {"x"}, "images");
}

TEST(DeclaredSizes, OfImagesGiveTheBitsOfNumbers) {
  const auto gm = image_net();
  CompileOptions options = quick();
  options.sizes = {
      {std::nullopt, std::nullopt, NamedSize{"height"}, NamedSize{"width"}}};
  compile(*gm, options);
  for (const auto& [height, width] :
       {std::pair(32, 40), std::pair(64, 24), std::pair(16, 16),
        std::pair(40, 32), std::pair(96, 96)}) {
    const ValueList given{random_tensor({2, 3, height, width})};
    const auto alone = image_net();
    compile(*alone, quick());
    EXPECT_EQ(testing::value_difference(gm->forward(given),
                                        alone->forward(given), 0, 0),
              "")
        << height << " x " << width;
    expect_right(*gm, given);
  }
  const Report report = make_report(*gm);
  // Three cells of an image are equal where 3 divides its size.
  EXPECT_LE(report.kinds.size(), 4U) << report.text();
  for (const KindReport& kind : report.kinds) {
    EXPECT_EQ(kind.why_not, "");
    for (const GuardReport& guard : kind.guards)
      EXPECT_FALSE(guard.specialises) << guard.text << ": " << guard.where;
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
