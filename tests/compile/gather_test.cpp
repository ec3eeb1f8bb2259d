// Picking by index tensors in generated code: rows, one element each, along
// inner dims; indices outside of their dim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::random_tensor;
using testing::value_difference;

Tensor indices(const Dims& sizes, int64_t low, int64_t high,
               DType dtype = DType::i64) {
  const Tensor made = Tensor::empty(sizes, DType::i64);
  for (int64_t i = 0; i < made.numel(); ++i)
    made.data_as<int64_t>()[i] = low + (i * 7 + 3) % (high - low);
  return made.to(dtype);
}

template <typename Fn>
nn::Ref<fx::GraphModule> traced(Fn fn) {
  return fx::symbolic_trace(fn, {"x", "i"}, "f");
}

void expect_native(fx::GraphModule& gm, const ValueList& inputs) {
  for (CpuLevel level : testing::host_levels()) {
    compile(gm, testing::options_for(level, 2));
    EXPECT_EQ(
        value_difference(gm.forward(inputs), gm.interpret(inputs), 1e-6, 1e-6),
        "");
    EXPECT_THAT(report(gm), Not(HasSubstr("not native")));
    EXPECT_THAT(report(gm), Not(HasSubstr("interpreter")));
  }
}

TEST(Gather, AlongEveryDim) {
  for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::u8, DType::f16,
                      DType::boolean})
    for (int dim : {0, 1, 2, -1}) {
      const auto gm =
          traced([=](Value x, Value i) { return gather(x, dim, i); });
      expect_native(
          *gm, {random_tensor({5, 6, 7}, dtype), indices({4, 5, 3}, 0, 5)});
    }
}

TEST(Gather, IsSummedOverEveryDim) {
  const Tensor x = random_tensor({5, 6, 7});
  for (int dim : {0, 1, 2})
    for (int summed : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(dim) + " " + std::to_string(summed));
      const auto all = traced([=](Value x, Value i) {
        return sum(gather(x, dim, i) * 2, summed);
      });
      expect_native(*all, {x, indices({4, 5, 3}, 0, 5)});
      const auto picked = traced([=](Value x, Value i) {
        return amax(function("torch.index_select", {x, dim, i}), summed);
      });
      expect_native(*picked, {x, indices({4}, 0, 5)});
      expect_native(*picked, {x, indices({1}, 2, 3)});
    }
}

// Places several times over, in order, of every dim and with few elements to
// each.
TEST(Gather, RepeatedPlaces) {
  for (DType dtype : {DType::f32, DType::i64, DType::boolean, DType::bf16})
    for (int dim : {0, 1, 2})
      for (int64_t times : {1, 2, 3}) {
        const Dims sizes{4, 3, 9};
        const Tensor places = Tensor::empty({sizes[dim] * times}, DType::i64);
        for (int64_t i = 0; i < places.numel(); ++i)
          places.data_as<int64_t>()[i] = i / times;
        const auto gm = fx::symbolic_trace(
            [=](Value x) { return index_select(x, dim, places); }, {"x"}, "f");
        expect_native(*gm, {random_tensor(sizes, dtype)});
      }
}

// Pixels out of channels are short runs of memory. Whole numbers have exact
// sums.
TEST(Gather, PixelShuffle) {
  const auto whole = [](const Dims& sizes) {
    return random_tensor(sizes).to(DType::i64).to(DType::f32);
  };
  const Tensor weight = whole({48, 5, 3, 3});
  for (int64_t factor : {1, 2, 4}) {
    const int64_t channels = 48 / (factor * factor);
    const auto gm = fx::symbolic_trace(
        [=](Value x) {
          const Value y = reshape(nn::functional::conv2d(x, weight),
                                  Dims{2, channels, factor, factor, 7, 21});
          return reshape(permute(y, Dims{0, 1, 4, 2, 5, 3}),
                         Dims{2, channels, 7 * factor, 21 * factor});
        },
        {"x"}, "f");
    expect_native(*gm, {whole({2, 5, 9, 23})});
  }
}

TEST(Gather, FusesWithWhatFollows) {
  const auto gm = traced(
      [](Value x, Value i) { return softmax(gather(x, 1, i) * 2 + 1, -1); });
  expect_native(*gm, {random_tensor({20, 50}), indices({20, 37}, 0, 50)});
  EXPECT_THAT(report(*gm), HasSubstr("gather+mul+add"));
}

TEST(Gather, OfStridedTablesAndIndices) {
  const auto gm = traced([](Value x, Value i) {
    return gather(transpose(x, 0, 1), 1, transpose(i, 0, 1));
  });
  expect_native(*gm, {random_tensor({30, 20}), indices({33, 18}, 0, 30)});
  const auto broadcast =
      traced([](Value x, Value i) { return gather(x, 0, expand(i, {9, 20})); });
  expect_native(*broadcast, {random_tensor({30, 20}), indices({1, 20}, 0, 30)});
}

TEST(Gather, OfComputedTablesAndIndices) {
  const auto gm = traced([](Value x, Value i) {
    const Value y = relu(x);
    return gather(y, 1, i + 1) + y;
  });
  expect_native(*gm, {random_tensor({6, 8}), indices({6, 8}, 0, 7)});
}

TEST(Gather, EmptyAndSizeOne) {
  const auto gm = traced([](Value x, Value i) { return gather(x, 1, i); });
  expect_native(*gm,
                {random_tensor({4, 5}), Tensor::empty({0, 3}, DType::i64)});
  expect_native(*gm, {random_tensor({1, 1}), indices({1, 1}, 0, 1)});
}

TEST(Gather, IndicesOutsideAreErrors) {
  const auto gm = traced([](Value x, Value i) { return gather(x, 1, i) * 2; });
  compile(*gm, testing::options_for(host_cpu_level()));
  for (int64_t bad : {5, -1}) {
    const Tensor index = indices({4, 3}, 0, 5);
    index.data_as<int64_t>()[7] = bad;
    EXPECT_THROW(gm->forward({random_tensor({4, 5}), index}), Error);
  }
  expect_native(*gm, {random_tensor({4, 5}), indices({4, 3}, 0, 5)});
}

TEST(Index, OneTensorAtAnyDim) {
  for (DType dtype : {DType::i64, DType::i32})
    for (const Dims& sizes : {Dims{3}, Dims{2, 4}, Dims{}}) {
      const auto gm =
          traced([](Value x, Value i) { return getitem(x, i) * 2; });
      expect_native(*gm,
                    {random_tensor({5, 6, 7}), indices(sizes, -5, 5, dtype)});
    }
  const auto inner = traced([](Value x, Value i) {
    return getitem(x, Value::tuple({Value::slice(None, None, None), i}));
  });
  expect_native(*inner, {random_tensor({5, 6, 7}), indices({4}, -6, 6)});
}

Value all() { return Value::slice(None, None, None); }

TEST(Index, SeveralTensorsSideBySideAndApart) {
  const Tensor second = indices({3, 1}, -7, 7), row = indices({4}, -6, 6);
  const auto both = [&](ValueList at) {
    return [at](Value x, Value i) {
      ValueList items = at;
      for (Value& item : items)
        if (item.is_string()) item = i;
      return getitem(x, Value::tuple(items)) * 2;
    };
  };
  const Value given = "i";
  const ValueList places[] = {
      {given, row},                  // In front: [4, 7, 8].
      {all(), row, given},           // In the middle: [5, 3, 4, 8].
      {all(), all(), given, row},    // At the end: [5, 6, 3, 4].
      {given, all(), second},        // Apart.
      {given, row, second, row},     // All dims.
      {Ellipsis, row, None, given},  // With a new dim between.
  };
  for (const ValueList& at : places)
    expect_native(*traced(both(at)),
                  {random_tensor({5, 6, 7, 8}), indices({3, 4}, -5, 5)});
}

TEST(Index, OutsideOfOneOfSeveralDims) {
  const auto gm =
      traced([](Value x, Value i) { return getitem(x, all(), i, i + 1) * 2; });
  compile(*gm, testing::options_for(host_cpu_level()));
  for (int64_t bad : {3, -5})  // Other elements of the tensor lie there.
    EXPECT_THROW(gm->forward({random_tensor({2, 3, 4}),
                              Tensor::full({1}, double(bad), DType::i64)}),
                 IndexError);
  expect_native(*gm, {random_tensor({2, 3, 4}), indices({5}, -3, 3)});
}

TEST(IndexSelect, OfInnerDimsTakesNoNeighbours) {
  for (int dim : {1, 2}) {
    const auto gm =
        traced([=](Value x, Value i) { return index_select(x, dim, i) + 1; });
    expect_native(*gm, {random_tensor({3, 4, 5}), indices({6}, 0, 4)});
    for (int64_t bad : {-1, 5})
      EXPECT_THROW(gm->forward({random_tensor({3, 4, 5}),
                                Tensor::full({1}, double(bad), DType::i64)}),
                   IndexError);
  }
}

// The compiled program only knows that an index is wrong.
TEST(Index, ErrorsNameTheNode) {
  const auto gm = traced([](Value x, Value i) { return getitem(x, i) * 2; });
  compile(*gm, testing::options_for(host_cpu_level()));
  try {
    gm->forward({random_tensor({5, 6}), Tensor::full({1}, 9, DType::i64)});
    FAIL() << "no error";
  } catch (const IndexError& error) {
    EXPECT_THAT(error.what(), HasSubstr("index 9 is out of bounds for "
                                        "dimension 0 with size 5"));
    EXPECT_THAT(error.what(), HasSubstr("%getitem"));
  }
}

TEST(OneHot, OfClassesInsideOnly) {
  const auto gm = traced(
      [](Value x, Value i) { return nn::functional::one_hot(i, 6) * x; });
  expect_native(*gm, {random_tensor({6}), indices({4, 3}, 0, 6)});
  for (int64_t bad : {-1, 6})
    EXPECT_THROW(gm->forward({random_tensor({6}),
                              Tensor::full({2}, double(bad), DType::i64)}),
                 RuntimeError);
}

TEST(Index, OutsideIsAnError) {
  const auto gm = traced([](Value x, Value i) { return getitem(x, i) * 2; });
  compile(*gm, testing::options_for(host_cpu_level()));
  for (int64_t bad : {5, -6}) {
    const Tensor index = Tensor::full({1}, bad, DType::i64);
    EXPECT_THROW(gm->forward({random_tensor({5, 6}), index}), IndexError);
  }
}

TEST(Flip, AlongEveryDim) {
  for (const Value& dims :
       {Value::tuple({0}), Value::tuple({1, 2}), Value::tuple({-1})}) {
    const auto gm = traced([=](Value x, Value) { return flip(x, dims) * 2; });
    expect_native(*gm, {random_tensor({3, 4, 5}), Tensor::zeros({1})});
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
