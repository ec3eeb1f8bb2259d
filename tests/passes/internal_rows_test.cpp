// Whose memory the results of rows are that torch does not have. That their
// kernels do so is checked wherever a test evaluates a graph
// (pass_testing.cpp), and for compiled calls by
// tests/compile/aliasing_test.cpp.
#include <gtest/gtest.h>

#include <map>

#include "src/ops/table/aliasing.h"
#include "src/passes/lowering/internal_ops.h"
#include "tests/passes/pass_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ops::Aliasing;

const std::map<std::string_view, Aliasing> kStated = {
    {"fxjit.as_strided", Aliasing::always},
    {"fxjit.materialize", Aliasing::never},
    {"fxjit.layout", Aliasing::never},
    {"fxjit.put_view", Aliasing::never},
    {"fxjit.repeat_places", Aliasing::never},
    {"fxjit.repeat_by", Aliasing::never},
    {"fxjit.non_max_suppression", Aliasing::never},
    {"fxjit.complex_map", Aliasing::never},
    {"fxjit.complex_quotient", Aliasing::never},
    {"fxjit.complex_power", Aliasing::never},
    {"fxjit.complex_product", Aliasing::never},
    {"fxjit.complex_running_product", Aliasing::never},
    {"fxjit.item", Aliasing::item},
    {"fxjit.draw", Aliasing::never},
    {"fxjit.control", Aliasing::never},
    {"fxjit.contract", Aliasing::never},
    {"fxjit.plane_product", Aliasing::never},
    {"fxjit.window_product", Aliasing::never},
    {"fxjit.merged_linear", Aliasing::never},
    {"fxjit.attention", Aliasing::never},
    {"fxjit.written_attention", Aliasing::never},
    {"fxjit.padded_conv", Aliasing::never},
    {"fxjit.conv_last", Aliasing::never},
    {"fxjit.conv_last_work", Aliasing::never},
    {"fxjit.winograd", Aliasing::never},
    {"fxjit.window", Aliasing::never},
    {"fxjit.resample", Aliasing::never},
    {"fxjit.resample_dims", Aliasing::never},
    {"fxjit.resample_places", Aliasing::never},
    {"fxjit.resample_weights", Aliasing::never},
    {"fxjit.resize", Aliasing::never},
    {"fxjit.adaptive_max_places1d", Aliasing::never},
    {"fxjit.adaptive_max_places2d", Aliasing::never},
    {"fxjit.adaptive_max_places3d", Aliasing::never},
    {"fxjit.bag_places", Aliasing::never},
    {"fxjit.tree_ensemble", Aliasing::never},
    {"fxjit.weight_norm_interface", Aliasing::never},
    {"fxjit.fft_c2c", Aliasing::never},
    {"fxjit.fft_c2r", Aliasing::never},
    {"fxjit.fft_r2c", Aliasing::never},
    {"fxjit.overlap_add", Aliasing::never},
    {"fxjit.recurrence", Aliasing::never},
    {"fxjit.integer_matmul", Aliasing::never},
    {"fxjit.integer_conv", Aliasing::never},
    {"fxjit.weight_product", Aliasing::never},
    {"fxjit.blocked_product", Aliasing::never},
    {"fxjit.dequantize", Aliasing::never},
    {"fxjit.quantize", Aliasing::never},
    {"fxjit.quantize_per_tensor", Aliasing::never},
    {"fxjit.dequantize_per_tensor", Aliasing::never},
    {"fxjit.quantize_per_channel", Aliasing::never},
    {"fxjit.dequantize_per_channel", Aliasing::never},
    {"fxjit.lookup", Aliasing::never},
    {"fxjit.amax_or", Aliasing::never},
    {"fxjit.amin_or", Aliasing::never},
};

TEST(InternalRows, StateWhoseMemoryTheirResultsAre) {
  passes::as_strided_op();  // All are registered with the first.
  size_t found = 0;
  for (const ops::Op* op : ops::all_ops()) {
    if (!op->name().starts_with("fxjit.")) continue;
    const auto stated = kStated.find(op->name());
    ASSERT_NE(stated, kStated.end()) << op->name();
    EXPECT_EQ(ops::aliasing(*op), stated->second) << op->name();
    ++found;
  }
  EXPECT_EQ(found, kStated.size());
}

TEST(InternalRows, DoAsTheyState) {
  const Value x = testing::random_tensor({3, 4});
  const auto shares = [&](const ops::Op& op, ValueList args) {
    const Value result = ops::run_eager({op, args});
    return result.as_tensor().storage() == x.as_tensor().storage();
  };
  EXPECT_TRUE(
      shares(passes::as_strided_op(), {x, Dims{4, 3}, Dims{1, 4}, 0, None}));
  EXPECT_FALSE(shares(passes::materialize_op(), {x}));
  EXPECT_FALSE(shares(passes::layout_op(), {x, Dims{1, 3}}));
  EXPECT_TRUE(shares(passes::item_op(), {Value::tuple({1, x}), 1}));
}

}  // namespace TEST_FILE
}  // namespace fxjit
