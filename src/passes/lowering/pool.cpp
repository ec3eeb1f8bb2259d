// Pooling of images keeps their channels innermost, or their planes.
#include "src/ops/eager/pooling.h"
#include "src/passes/channels_last.h"
#include "src/passes/lowering/integers.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {

Value lower_pool(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  if (!args[0].is_proxy()) return {};
  const Tensor input = val_of(args[0]);
  if (input.dtype() != DType::f32 && !is_byte(input.dtype())) return {};
  const ops::PoolParams params = ops::pool_params({op, meta_of(args)});
  if (!params.batched || params.indices || numel(params.output) == 0) return {};
  if (input.dtype() == DType::f32) return lower_pool_window(b, params, args[0]);
  if (params.average || params.spatial != 2) return {};
  // The greatest of numbers of 8 bits is one as a float.
  const Value image = channels_to_front(
      b, with_last_dim_dense(b, channels_to_back(b, args[0])));
  const Value greatest = lower_pool_window(b, params, image);
  if (greatest.is_none()) return {};
  return call(b, "cast", {greatest, input.dtype()});
}

}  // namespace fxjit::passes
