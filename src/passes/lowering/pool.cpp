// Pooling is windows over planes or over channels that lie innermost.
#include "src/ops/eager/pooling.h"
#include "src/passes/channels_last.h"
#include "src/passes/lowering/integers.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {
namespace {

// Lines are images of one row.
Value pool_lines(GraphBuilder& b, ops::PoolParams params, const Value& x) {
  ++params.spatial;
  for (Dims* dims : {&params.kernel, &params.stride, &params.dilation})
    dims->insert(0, 1);
  params.padding.insert(0, 0);
  params.output.insert(2, 1);
  const Value result =
      lower_pool_window(b, params, call(b, "unsqueeze", {x, 2}));
  return result.is_none() ? result : call(b, "squeeze", {result, 2});
}

}  // namespace

Value lower_pool(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  if (!args[0].is_proxy()) return {};
  const DType dtype = val_of(args[0]).dtype();
  const ops::PoolParams params = ops::pool_params({op, meta_of(args)});
  // The greatest of numbers of 8 bits is one as a float.
  const bool fits =
      is_byte(dtype) ? !params.average : compute_dtype(dtype) == DType::f32;
  if (!fits || params.indices || numel(params.output) == 0) return {};
  Value x = args[0];
  if (is_floating(dtype) && dtype != DType::f32)
    x = call(b, "cast", {x, DType::f32});
  if (!params.batched) x = call(b, "unsqueeze", {x, 0});
  const bool lines = params.spatial == 1 && !is_channels_last(val_of(x));
  x = lines ? pool_lines(b, params, x) : lower_pool_window(b, params, x);
  if (x.is_none()) return x;
  if (!params.batched) x = call(b, "squeeze", {x, 0});
  return dtype == DType::f32 ? x : call(b, "cast", {x, dtype});
}

}  // namespace fxjit::passes
