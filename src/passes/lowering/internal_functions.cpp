#include "src/passes/lowering/internal_functions.h"

#include "fxjit/functions_structured.h"
#include "src/ops/eager/body_evaluator.h"
#include "src/ops/eager/convolution.h"
#include "src/ops/eager/pooling.h"
#include "src/passes/control_flow.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/window_combine.h"
#include "src/tensor/memory_order.h"

namespace fxjit::passes {
namespace {

// The view may have another dtype than its base.
DType view_dtype(const ops::OpCall& call) {
  return call.has(4) ? call[4].as_dtype() : call.tensor(0).dtype();
}

Dims channels_back(const Dims& sizes) {
  Dims result = sizes;
  result.erase(1);
  result.push_back(sizes[1]);
  return result;
}

// The first argument's shape, with as many columns as the weights have in
// `dim`.
Value side_by_side(const ops::OpCall& call, int64_t dim) {
  Dims sizes = call.tensor(0).sizes();
  sizes[sizes.size() - 1] = 0;
  for (const Value& weight : call[1].as_sequence())
    sizes[sizes.size() - 1] += weight.as_tensor().size(dim);
  return Tensor::meta(sizes, call.tensor(0).dtype());
}

// The last dims of the first argument, as many as the depth of the weight is
// made of, become its columns.
Value integer_sums(const ops::OpCall& call) {
  const Tensor& weight = call[1].as_sequence()[0].as_tensor();
  Dims sizes = call.tensor(0).sizes();
  if (weight.dim() > 2) {
    sizes[sizes.size() - 1] = weight.size(-1);
    return Tensor::meta(sizes, DType::i32);
  }
  int64_t depth = 1;
  do {
    depth *= sizes[sizes.size() - 1];
    sizes.resize(sizes.size() - 1);
  } while (depth != weight.size(0) && sizes.size() > 0);
  sizes.push_back(weight.size(1));
  return Tensor::meta(sizes, DType::i32);
}

// Planes [N, C, ...] as a contiguous [N, ..., C].
Tensor with_channels_back(const Tensor& planes) {
  return planes
      .as_strided(channels_back(planes.sizes()),
                  channels_back(planes.strides()), 0)
      .contiguous();
}

// The convolution in a call of conv_last_work.
ops::OpCall plain_conv(const ops::OpCall& call) {
  const ops::Op& conv = conv_last_op();
  return {conv, call.args.first(conv.parameters.size())};
}

}  // namespace

Value infer_as_strided(const ops::OpCall& call) {
  return Tensor::meta(call.dims(1), view_dtype(call), call.dims(2),
                      call.integer(3));
}

Value run_as_strided(const ops::OpCall& call) {
  return Tensor::view(call.tensor(0).storage(), call.dims(1), view_dtype(call),
                      call.dims(2), call.integer(3));
}

Value infer_as_input(const ops::OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), call.tensor(0).dtype());
}

Value run_materialize(const ops::OpCall& call) {
  return call.tensor(0).clone().contiguous();
}

Scalar identity(ScalarBuilder&, const ops::OpCall&,
                std::span<const Scalar> inputs) {
  return inputs[0];
}

Value infer_layout(const ops::OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), call.tensor(0).dtype(),
                      call.dims(1));
}

Value run_layout(const ops::OpCall& call) {
  return copy_in_layout(call.tensor(0), call.dims(1));
}

void direct_put_view(const ops::OpCall& call, std::span<const Tensor> results) {
  const Tensor &out = results[0], &source = call.tensor(1);
  if (out.data() != call.tensor(0).data()) out.copy_from(call.tensor(0));
  out.as_strided(source.sizes(), call.dims(2), call.integer(3))
      .copy_from(source);
}

Value infer_item(const ops::OpCall& call) {
  return call[0].at(static_cast<size_t>(call.integer(1)));
}

Value infer_draw(const ops::OpCall& call) {
  return ops::infer(
      {ops::get_op(call[1].as_string()), call[2].as_sequence(), call.source});
}

Value run_draw(const ops::OpCall& call) {
  return ops::run_eager(
      {ops::get_op(call[1].as_string()), call[2].as_sequence(), call.source});
}

Value infer_control(const ops::OpCall& call) {
  return Value::tuple(control_spec(call[0]).results);
}

Value infer_contract(const ops::OpCall& call) {
  if (!call[1].as_sequence().back().is_tensor()) {
    Dims sizes = call.tensor(0).sizes();
    sizes[sizes.size() - 1] = call[1].at(1).as_tensor().size(1);
    return Tensor::meta(sizes, DType::f32);
  }
  return is_integral(call.tensor(0).dtype()) ? integer_sums(call)
                                             : side_by_side(call, -1);
}

Value infer_plane_product(const ops::OpCall& call) {
  Dims sizes = call.tensor(0).sizes();
  sizes[1] = call.tensor(1).size(0);
  return Tensor::meta(sizes, call.tensor(0).dtype());
}

Value run_plane_product(const ops::OpCall& call) {
  const Value sums = matmul(call[1], flatten(call[0], 2));
  return reshape(sums, infer_plane_product(call).as_tensor().sizes());
}

Value infer_merged_linear(const ops::OpCall& call) {
  return side_by_side(call, 0);
}

// Runs where all parts are constants: before a loop over steps, say.
Value run_merged_linear(const ops::OpCall& call) {
  ValueList parts;
  for (size_t i = 0; i < call[1].size(); ++i)
    parts.push_back(nn::functional::linear(
        call[0], call[1].at(i), call.has(2) ? call[2].at(i) : Value()));
  return cat(Value::list(std::move(parts)), -1);
}

Value infer_winograd(const ops::OpCall& call) {
  const Dims& input = call.tensor(0).sizes();
  const Dims before = call.dims(2), after = call.dims(3);
  return Tensor::meta(
      {input[0], input[1] + before[0] + after[0] - 2,
       input[2] + before[1] + after[1] - 2, call.tensor(1).size(0)},
      is_integral(call.tensor(0).dtype()) ? DType::i32
                                          : call.tensor(0).dtype());
}

namespace {

// Sums of 8 bits are floats, as the weights are.
DType window_dtype(const ops::OpCall& call) {
  const DType dtype = call.tensor(0).dtype();
  if (!is_integral(dtype)) return dtype;
  return call.has(1) ? call.tensor(1).dtype() : DType::f32;
}

}  // namespace

Value infer_window(const ops::OpCall& call) {
  const Dims sizes = call.dims(9);
  return Tensor::meta(call.flag(10) ? channels_back(sizes) : sizes,
                      window_dtype(call));
}

namespace {

// Sums are averages that are divided by one.
void run_pool_window(const ops::OpCall& call, WindowCombine combine,
                     const Tensor& input, const Tensor& out) {
  ops::PoolParams params;
  params.average = combine == WindowCombine::sums;
  params.divisor = 1;
  params.spatial = call.dims(4).size();
  params.kernel = call.dims(4), params.stride = call.dims(5);
  params.padding = call.dims(6), params.dilation = call.dims(8);
  params.output = call.dims(9);
  ops::run_pool(params, input, out, Tensor());
}

// Zeros lie outside.
void run_window_products(const ops::OpCall& call, const Tensor& input,
                         const Tensor& out) {
  ops::ConvParams params;
  params.spatial = call.dims(4).size();
  params.groups = input.size(1);
  params.stride = call.dims(5);
  params.pad_before = call.dims(6), params.pad_after = call.dims(7);
  params.dilation = call.dims(8);
  params.output = call.dims(9);
  const Tensor bias = call.has(2) ? call.tensor(2) : Tensor();
  Tensor weight = call.tensor(1);
  if (call.integer(12) != 0) {
    params.groups = call.integer(12);
    weight = flatten(weight, 0, 1).as_tensor();
  }
  if (input.dim() == params.spatial + 2)
    return ops::run_conv(params, input, weight, bias, out);
  // The channels are a dim of taps.
  params.groups = 1;
  params.output.insert(2, 1);
  ops::run_conv(params, unsqueeze(input, 1).as_tensor(),
                unsqueeze(call[1], 1).as_tensor(), bias,
                unsqueeze(out, 2).as_tensor());
}

// sum wx = sum w (x - outside) + outside * sum w
Tensor run_moved_products(const ops::OpCall& call, const Tensor& input,
                          const Tensor& out) {
  const Value outside = call[11];
  run_window_products(call, (Value(input) - outside).as_tensor(), out);
  const int64_t channels = call.tensor(1).size(0);
  const Value sums = fxjit::sum(reshape(call[1], {channels, -1}), 1);
  Dims sizes(out.dim(), 1);
  sizes[1] = channels;
  return (Value(out) + reshape(sums, sizes) * outside).as_tensor();
}

}  // namespace

Value run_window(const ops::OpCall& call) {
  const Tensor input = call.tensor(0).to(window_dtype(call));
  Tensor out = Tensor::empty(call.dims(9), input.dtype());
  const auto combine = static_cast<WindowCombine>(call.integer(3));
  if (combine != WindowCombine::products)
    run_pool_window(call, combine, input, out);
  else if (call.integer(11) == 0)
    run_window_products(call, input, out);
  else
    out = run_moved_products(call, input, out);
  return call.flag(10) ? with_channels_back(out) : Value(out);
}

Value infer_window_product(const ops::OpCall& call) {
  return Tensor::meta(channels_back(call.dims(7)), DType::f32);
}

Value run_window_product(const ops::OpCall& call) {
  ops::ConvParams params;
  params.spatial = call.dims(2).size();
  params.stride = call.dims(3);
  params.pad_before = call.dims(4), params.pad_after = call.dims(5);
  params.dilation = call.dims(6);
  params.output = call.dims(7);
  Dims order{params.spatial + 1, params.spatial};  // [O, C, taps...]
  for (int i = 0; i < params.spatial; ++i) order.push_back(i);
  const Tensor weight = permute(call[1], order).as_tensor().contiguous();
  const Tensor out = Tensor::empty(params.output, DType::f32);
  ops::run_conv(params, call.tensor(0), weight, Tensor(), out);
  return with_channels_back(out);
}

Value infer_resample(const ops::OpCall& call) {
  Dims sizes = call.tensor(0).sizes();
  sizes[2] = call.tensor(1).size(1);
  if (call.has(3)) sizes[3] = call.tensor(3).size(1);
  return Tensor::meta(call.flag(5) ? channels_back(sizes) : sizes, DType::f32);
}

Value run_resample(const ops::OpCall& call) {
  ValueList dims, places, weights;
  for (size_t table : {1, 3}) {
    if (!call.has(table)) continue;
    dims.emplace_back(table == 1 ? 2 : 3);
    places.emplace_back(call.tensor(table).to(DType::i64));
    weights.push_back(call[table + 1]);
  }
  const ValueList args{call.tensor(0).to(DType::f32), Value::tuple(dims),
                       Value::tuple(places), Value::tuple(weights)};
  const Tensor out =
      ops::run_eager({ops::get_op("fxjit.resample_dims"), args, call.source})
          .as_tensor();
  return call.flag(5) ? with_channels_back(out.contiguous()) : Value(out);
}

Value infer_attention(const ops::OpCall& call) {
  const Tensor q = call.tensor(0), v = call.tensor(2);
  Dims sizes = q.sizes();
  sizes[q.dim() - 1] = v.size(-1);
  const int inner = static_cast<int>(call[9].as_int());
  // Outer dims, rows, inner dims, depth: joining heads is then a view, as it is
  // of the result of torch's own fused kernel.
  const int rows = q.dim() - 2, first = rows - inner;
  Dims strides = sizes;
  Size step = 1;
  const auto place = [&](int d) {
    strides[d] = step;
    step *= sizes[d];
  };
  place(rows + 1);
  for (int d = rows - 1; d >= first; --d) place(d);
  place(rows);
  for (int d = first - 1; d >= 0; --d) place(d);
  return Tensor::meta(sizes, q.dtype(), strides);
}

Value infer_written_attention(const ops::OpCall& call) {
  const Tensor q = call.tensor(0);
  Dims sizes = q.sizes();
  sizes[q.dim() - 1] = call.tensor(2).size(-1);
  return Tensor::meta(sizes, q.dtype());
}

Value infer_conv_last(const ops::OpCall& call) {
  return Tensor::meta(channels_back(ops::conv_params(call).output),
                      call.tensor(0).dtype());
}

Value run_conv_last(const ops::OpCall& call) {
  return with_channels_back(run_padded_conv(call).as_tensor());
}

Value infer_padded_conv(const ops::OpCall& call) {
  return Tensor::meta(ops::conv_params(call).output, call.tensor(0).dtype());
}

Value run_padded_conv(const ops::OpCall& call) {
  const ops::ConvParams params = ops::conv_params(call);
  const Tensor out = Tensor::empty(params.output, call.tensor(0).dtype());
  ops::run_conv(params, call.tensor(0), call.tensor(1),
                call.has(2) ? call.tensor(2) : Tensor(), out);
  return out;
}

Value infer_conv_last_work(const ops::OpCall& call) {
  return ops::infer(plain_conv(call));
}

Value run_conv_last_work(const ops::OpCall& call) {
  std::vector<Tensor> inputs{ops::run_eager(plain_conv(call)).as_tensor()};
  for (const Value& extra : conv_extras(call))
    inputs.push_back(extra.as_tensor());
  const Tensor out = Tensor::empty(inputs[0].sizes(), inputs[0].dtype());
  ops::evaluate_body(conv_epilogue(call), inputs, {{out}});
  return out;
}

}  // namespace fxjit::passes
