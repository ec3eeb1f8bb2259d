// Convolutions over lines whose windows are runs of memory: products of
// overlapping rows, with what products have, epilogues in registers.
#include "src/passes/channels_last.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

// Weights are put in another order while compiling; larger ones would be each
// time that the program runs.
constexpr int64_t kMostWeights = 256 << 10;

bool fits(const GraphBuilder& b, const ops::ConvParams& params,
          const Tensor& line, const Value& weight) {
  if (params.spatial != 1 || params.transposed || params.groups != 1 ||
      params.dilation[0] != 1 || params.pad_before[0] != 0 ||
      params.pad_after[0] != 0 || !b.constant_of(weight))
    return false;
  const int64_t channels = line.size(1);
  const bool ordered = channels == 1
                           ? line.stride(2) == 1
                           : line.stride(1) == 1 && line.stride(2) == channels;
  return ordered && val_of(weight).numel() <= kMostWeights;
}

}  // namespace

Value lower_line_windows(GraphBuilder& b, const ops::ConvParams& params,
                         const ValueList& args) {
  const Tensor line = val_of(args[0]), weight = val_of(args[1]);
  if (!fits(b, params, line, args[1])) return {};
  const int64_t channels = line.size(1), depth = channels * weight.size(2);
  const Dims sizes{params.output[0], params.output[2], depth};
  const Dims strides{line.stride(0), params.stride[0] * line.stride(2), 1};
  const Value windows =
      call(b, "as_strided", {args[0], sizes, strides, line.offset()});
  const Value rows = call(b, "reshape",
                          {call(b, "permute", {args[1], Dims{0, 2, 1}}),
                           Dims{weight.size(0), depth}});
  return channels_to_front(b, call(b, "linear", {windows, rows, args[2]}));
}

}  // namespace fxjit::passes
