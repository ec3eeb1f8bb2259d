// Complex numbers are storage for transforms: what works on them is tested with
// the references of the rows, what does not is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fxjit.h"
#include "fxjit/op.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::AllOf;
using ::testing::HasSubstr;

Tensor numbers(DType dtype) { return Tensor::full({2, 2}, 3, dtype); }

TEST(Complex, OtherRowsAreRefusedByName) {
  for (const DType dtype : {DType::c64, DType::c128})
    for (const char* name :
         {"relu", "softmax", "sort", "floor", "cummax", "lerp", "maximum",
          "amax", "erf", "gelu", "round", "remainder", "clamp", "kthvalue"}) {
      const ops::Op* const op = ops::find_op(name);
      ASSERT_TRUE(op) << name;
      ValueList args(op->parameters.size(), Value(1));
      args[0] = numbers(dtype);
      for (const Value& meta :
           {Value(numbers(dtype)), Value(Tensor::meta({2, 2}, dtype))}) {
        args[0] = meta;
        try {
          ops::run_eager({*op, args});
          ADD_FAILURE() << name;
        } catch (const NotImplementedError& error) {
          EXPECT_THAT(error.what(),
                      AllOf(HasSubstr(name), HasSubstr(dtype_name(dtype))));
        }
      }
    }
}

TEST(Complex, CastsDoNotDropImaginaryParts) {
  EXPECT_THROW(method(numbers(DType::c64), "to", {DType::f32}),
               NotImplementedError);
  EXPECT_THROW(method(numbers(DType::c64), "float"), NotImplementedError);
}

TEST(Complex, PartsAreViews) {
  const Tensor c = numbers(DType::c64);
  const Tensor imag = function("torch.imag", {c}).as_tensor();
  imag.copy_from(Tensor::full({}, 5));
  const Tensor pairs = function("torch.view_as_real", {c}).as_tensor();
  EXPECT_EQ(pairs.to_floats(), (std::vector<float>{3, 5, 3, 5, 3, 5, 3, 5}));
  EXPECT_EQ(pairs.storage(), c.storage());
}

}  // namespace TEST_FILE
}  // namespace fxjit
