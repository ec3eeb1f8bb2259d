#include "src/passes/lower_pool.h"

#include "src/passes/channels_last.h"
#include "src/passes/lower.h"

namespace fxjit::passes {
namespace {

Dims channels_back(const Dims& sizes) {
  Dims result = sizes;
  result.erase(1);
  result.push_back(sizes[1]);
  return result;
}

Value infer_pool_last(const ops::OpCall& call) {
  return Tensor::meta(channels_back(call.dims(8)), call.tensor(0).dtype());
}

Value run_pool_last(const ops::OpCall& call) {
  const ops::PoolParams params = pool_last_params(call);
  const Tensor planes = Tensor::empty(params.output, call.tensor(0).dtype());
  ops::run_pool(params, call.tensor(0), planes, Tensor());
  return planes
      .as_strided(channels_back(planes.sizes()),
                  channels_back(planes.strides()), 0)
      .contiguous();
}

constexpr ops::OpRow kRows[] = {
    {.name = "fxjit.pool_last",
     .schema = "input, average, kernel_size, stride, padding, dilation, "
               "count_include_pad, divisor, output",
     .names = "",
     .lowering = ops::Lowering::pool,
     .infer = infer_pool_last,
     .eager = run_pool_last},
};

}  // namespace

const ops::Op& pool_last_op() {
  static const ops::Op& op = []() -> const ops::Op& {
    ops::register_ops(kRows);
    return ops::get_op("fxjit.pool_last");
  }();
  return op;
}

ops::PoolParams pool_last_params(const ops::OpCall& call) {
  ops::PoolParams params;
  params.average = call.flag(1);
  params.kernel = call.dims(2);
  params.stride = call.dims(3);
  params.padding = call.dims(4);
  params.dilation = call.dims(5);
  params.count_include_pad = call.flag(6);
  params.divisor = call.integer(7);
  params.output = call.dims(8);
  params.spatial = params.kernel.size();
  return params;
}

Value lower_pool(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  if (&op == &pool_last_op() || !args[0].is_proxy()) return {};
  const Tensor input = val_of(args[0]);
  if (input.dtype() != DType::f32 || !is_channels_last(input)) return {};
  ValueList metas;
  for (const Value& arg : args) metas.push_back(meta_of(arg));
  const ops::PoolParams params = ops::pool_params({op, metas});
  if (!params.batched || params.indices || numel(params.output) == 0) return {};
  return channels_to_front(
      b, b.call(pool_last_op(),
                {args[0], params.average, params.kernel, params.stride,
                 params.padding, params.dilation, params.count_include_pad,
                 params.divisor, params.output}));
}

}  // namespace fxjit::passes
