#include "fxjit/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "fxjit/error.h"

namespace fxjit {
namespace TEST_FILE {

Tensor counted(const Dims& sizes) {
  std::vector<float> values(static_cast<size_t>(numel(sizes)));
  std::iota(values.begin(), values.end(), 0.0f);
  return Tensor::from(values, sizes);
}

DType at(int i) { return static_cast<DType>(i); }

TEST(Tensor, HandlesShareData) {
  const Tensor a = counted({2, 3});
  const Tensor b = a;
  b.data_as<float>()[4] = 40;
  EXPECT_EQ(a.at({1, 1}), 40);
  EXPECT_TRUE(a.is(b));
  EXPECT_FALSE(a.is(a.clone()));
  EXPECT_EQ(a.describe(), "float32[2, 3]");
  EXPECT_EQ(a.size(-1), 3);
  EXPECT_EQ(a.stride(0), 3);
}

TEST(Tensor, FreshMemoryIsAligned) {
  const Tensor t = Tensor::empty({3}, DType::u8);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
  EXPECT_NE(Tensor::empty({0}).data(), nullptr);
}

TEST(Tensor, MetaHasNoData) {
  const Tensor t = Tensor::meta({2, 3}, DType::i64);
  EXPECT_TRUE(t.is_meta());
  EXPECT_EQ(t.data(), nullptr);
  EXPECT_TRUE(t.to(DType::f32).is_meta());
  EXPECT_TRUE(t.clone().is_meta());
  EXPECT_THROW(t.to_floats(), UserError);
  EXPECT_THROW(t.copy_from(Tensor::zeros({2, 3})), UserError);
}

TEST(Tensor, ViewsStayInsideTheirStorage) {
  const Tensor t = counted({2, 3});
  const Tensor transposed = t.as_strided({3, 2}, {1, 3}, 0);
  EXPECT_EQ(transposed.to_floats(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_FALSE(transposed.is_contiguous());
  EXPECT_EQ(transposed.contiguous().to_floats(), transposed.to_floats());
  const Tensor reversed = t.as_strided({6}, {-1}, 5);
  EXPECT_EQ(reversed.at({0}), 5);
  EXPECT_THROW(t.as_strided({3}, {3}, 0), UserError);
  EXPECT_THROW(t.as_strided({2}, {-1}, 0), UserError);
  EXPECT_THROW(t.as_strided({2}, {int64_t{1} << 62}, 0), UserError);
  EXPECT_THROW(t.as_strided({2}, {1, 1}, 0), UserError);
  EXPECT_NO_THROW(t.as_strided({0, 9}, {9, 1}, 100));
}

TEST(Tensor, SizesAreChecked) {
  const int64_t large = int64_t{1} << 40;
  EXPECT_THROW(Tensor::empty({large, large}), UserError);
  EXPECT_THROW(Tensor::empty({int64_t{1} << 62}, DType::f64), UserError);
  EXPECT_THROW(Tensor::empty({-1}), UserError);
  EXPECT_THROW(Tensor::empty({int64_t{1} << 58}), RuntimeError);
  EXPECT_THROW(Tensor::from(std::vector<float>(5), {2, 3}), UserError);
  EXPECT_THROW(Tensor::wrap(nullptr, {2}, DType::f32), UserError);
}

TEST(Tensor, ContiguousIgnoresSizeOneDimensions) {
  const Tensor t = counted({4, 3});
  EXPECT_TRUE(t.as_strided({1, 3}, {77, 1}, 0).is_contiguous());
  EXPECT_FALSE(t.as_strided({4, 1}, {3, 1}, 0).is_contiguous());
  EXPECT_TRUE(t.as_strided({4, 0}, {1, 9}, 0).is_contiguous());
}

TEST(Tensor, CopyBroadcastsAndSteps) {
  const Tensor out = Tensor::zeros({2, 3, 2});
  out.copy_from(counted({3, 1}));
  EXPECT_EQ(out.to_floats(),
            (std::vector<float>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
  const Tensor base = Tensor::zeros({2, 4});
  base.as_strided({2, 2}, {4, 2}, 1).copy_from(counted({2, 2}));
  EXPECT_EQ(base.to_floats(), (std::vector<float>{0, 0, 0, 1, 0, 2, 0, 3}));
  EXPECT_THROW(Tensor::zeros({2}).copy_from(Tensor::zeros({3})), RuntimeError);
  EXPECT_THROW(Tensor::zeros({2}).copy_from(Tensor::zeros({2, 2})), UserError);
}

TEST(Tensor, ReadOnlyMemoryIsNotWritten) {
  static const float values[] = {1, 2};
  auto storage = Storage::borrow(const_cast<float*>(values), sizeof(values),
                                 nullptr, true);
  const Tensor t = Tensor::view(storage, {2}, DType::f32, {1}, 0);
  EXPECT_EQ(t.at({1}), 2);
  EXPECT_THROW(t.copy_from(Tensor::zeros({2})), UserError);
}

TEST(Tensor, WrapKeepsTheOwner) {
  auto owner = std::make_shared<std::vector<float>>(4, 1.5f);
  std::weak_ptr<void> watch = owner;
  Tensor view;
  {
    const Tensor t = Tensor::wrap(owner->data(), {4}, DType::f32, owner);
    view = t.as_strided({2}, {2}, 1);
  }
  owner.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(view.at({1}), 1.5);
  view = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, ConvertsBetweenAllTypes) {
  // Small numbers are exact in every type; bool keeps only the truth.
  const std::vector<float> numbers{0, 1, 2, 3, 96};
  const Tensor base = Tensor::from(numbers, {5});
  for (int from = 0; from < kDTypeCount; ++from)
    for (int to = 0; to < kDTypeCount; ++to) {
      if (is_complex(at(from)) || is_complex(at(to))) continue;
      const Tensor t = base.to(at(from)).to(at(to));
      EXPECT_EQ(t.dtype(), at(to));
      const bool truth = at(from) == DType::boolean || at(to) == DType::boolean;
      for (int64_t i = 0; i < 5; ++i)
        EXPECT_EQ(t.at({i}), truth ? (i > 0) : numbers[static_cast<size_t>(i)])
            << dtype_name(at(from)) << " to " << dtype_name(at(to));
    }
}

// The numbers of a complex tensor, one after the other.
Tensor parts(const Tensor& t) {
  return Tensor::view(t.storage(), {2 * t.numel()}, part_type(t.dtype()), {1},
                      2 * t.offset());
}

TEST(Tensor, ComplexNumbersAreCopiedByTheirParts) {
  const Tensor c = Tensor::zeros({2, 3}, DType::c64);
  parts(c).copy_from(counted({12}));
  EXPECT_EQ(parts(c.to(DType::c128)).to_floats(), parts(c).to_floats());
  const Tensor turned = c.as_strided({3, 2}, {1, 3}, 0).contiguous();
  EXPECT_EQ(parts(turned).to_floats(),
            (std::vector<float>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
  EXPECT_EQ(parts(counted({2}).to(DType::c128)).to_floats(),
            (std::vector<float>{0, 0, 1, 0}));
  EXPECT_EQ(parts(Tensor::full({1}, 3, DType::c64)).to_floats(),
            (std::vector<float>{3, 0}));
  EXPECT_THROW(c.to(DType::f32), NotImplementedError);
  EXPECT_THROW(c.to_floats(), NotImplementedError);
  EXPECT_THROW(Tensor::full({}, 3, DType::c64).item(), NotImplementedError);
}

// A stride that reaches nothing may be any number.
TEST(Tensor, ComplexCopiesWithStridesOfNothing) {
  const Tensor one = Tensor::full({2, 1}, 3, DType::c64)
                         .as_strided({2, 1}, {1, INT64_MAX}, 0);
  EXPECT_EQ(parts(one.to(DType::c128)).to_floats(),
            (std::vector<float>{3, 0, 3, 0}));
  const Tensor none = one.as_strided({0, 2}, {INT64_MAX, INT64_MAX}, 0);
  EXPECT_EQ(none.to(DType::c128).numel(), 0);
}

TEST(Tensor, ConversionsTruncateWrapAndKeepNan) {
  const Tensor f = Tensor::from(std::vector<float>{-1.9f, 2.9f, 300}, {3});
  EXPECT_EQ(f.to(DType::i32).to_ints(), (std::vector<int64_t>{-1, 2, 300}));
  EXPECT_EQ(f.to(DType::u8).to_ints(), (std::vector<int64_t>{255, 2, 44}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor n = Tensor::from(std::vector<float>{nan}, {1});
  EXPECT_EQ(n.to(DType::boolean).item(), 1);
  for (DType type : {DType::f16, DType::bf16, DType::f64})
    EXPECT_TRUE(std::isnan(n.to(type).item()));
  const std::vector<int64_t> exact{(int64_t{1} << 53) + 1};
  EXPECT_EQ(Tensor::from(exact, {1}).to_ints(), exact);
}

TEST(Tensor, ToTheSameTypeIsTheSameTensor) {
  const Tensor t = counted({2});
  EXPECT_TRUE(t.to(DType::f32).is(t));
  EXPECT_TRUE(t.contiguous().is(t));
}

TEST(Tensor, ReadsSingleElements) {
  const Tensor t = counted({2, 3});
  EXPECT_EQ(t.at({-1, -3}), 3);
  EXPECT_THROW(t.at({2, 0}), IndexError);
  EXPECT_THROW(t.at({0}), IndexError);
  EXPECT_THROW(t.item(), RuntimeError);
  EXPECT_EQ(Tensor::full({1, 1}, 7, DType::f16).item(), 7);
}

}  // namespace TEST_FILE
}  // namespace fxjit
