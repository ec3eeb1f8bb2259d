// Pooling of images keeps their channels innermost, or their planes.
#include "src/ops/eager/pooling.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {

Value lower_pool(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  if (!args[0].is_proxy()) return {};
  const Tensor input = val_of(args[0]);
  if (input.dtype() != DType::f32) return {};
  const ops::PoolParams params = ops::pool_params({op, meta_of(args)});
  if (!params.batched || params.indices || numel(params.output) == 0) return {};
  return lower_pool_window(b, params, args[0]);
}

}  // namespace fxjit::passes
