// Pooling of images keeps their channels innermost, or their planes.
#include "src/ops/eager/pooling.h"
#include "src/passes/channels_last.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {

Value lower_pool(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  if (!args[0].is_proxy()) return {};
  const Tensor input = val_of(args[0]);
  if (input.dtype() != DType::f32) return {};
  const ops::PoolParams params = ops::pool_params({op, meta_of(args)});
  if (!params.batched || params.indices || numel(params.output) == 0) return {};
  if (!is_channels_last(input)) return lower_pool_window(b, params, args[0]);
  return channels_to_front(
      b, b.call(pool_last_op(),
                {args[0], params.average, params.kernel, params.stride,
                 params.padding, params.dilation, params.count_include_pad,
                 params.divisor, params.output}));
}

}  // namespace fxjit::passes
