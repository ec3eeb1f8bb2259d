// Convolutions over lines whose windows are runs of memory: products of
// overlapping rows, with what products have, epilogues in registers.
#include "src/passes/channels_last.h"
#include "src/passes/folded_weights.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/tensor/tensor_memory.h"

namespace fxjit::passes {
namespace {

// [features, window * channels] in the order of the input's memory: numbers
// that are made when they are packed, and not kept.
Tensor in_memory_order(const Tensor& weight) {
  const Dims sizes{weight.size(0), weight.size(1) * weight.size(2)};
  return made_when_read(weight, sizes, [weight](std::byte* out) {
    const Tensor source = for_one_reading(weight);
    const Dims turned{source.size(0), source.size(2), source.size(1)};
    const Dims strides{source.stride(0), source.stride(2), source.stride(1)};
    Tensor::wrap(out, turned, source.dtype())
        .copy_from(source.as_strided(turned, strides, source.offset()));
  });
}

Tensor turned_once(const GraphBuilder& b, const Tensor& weight) {
  const auto make = [&] { return std::vector{in_memory_order(weight)}; };
  FoldedWeights* const folded = b.options().folded;
  return folded ? folded->get({weight}, 0, make)[0] : make()[0];
}

}  // namespace

Value lower_line_windows(GraphBuilder& b, const ops::ConvParams& params,
                         const ValueList& args) {
  const Tensor line = val_of(args[0]), weight = val_of(args[1]);
  const Size channels = line.size(1), depth = channels * weight.size(2);
  const Dims sizes{params.output[0], params.output[2], depth};
  const Dims strides{line.stride(0), params.stride[0] * line.stride(2), 1};
  const Value windows =
      call(b, "as_strided", {args[0], sizes, strides, line.offset()});
  const Value rows = b.constant(turned_once(b, *b.constant_of(args[1])), true);
  return channels_to_front(b, call(b, "linear", {windows, rows, args[2]}));
}

}  // namespace fxjit::passes
