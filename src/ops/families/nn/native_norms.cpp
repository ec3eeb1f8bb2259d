// The kernels that torch's exporter writes norms as: the norm and the
// statistics that a backward pass would read. Compiled programs compute the
// latter only where they are read.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/tensor/exact_int.h"

namespace fxjit::ops {
namespace {

struct Statistics {
  Value mean, inverse_deviation;
};

// Over `axes`, which are dropped, in the type of the elements.
Statistics statistics_of(const Value& value, const Dims& axes, double eps) {
  const DType dtype = meta_of(value).dtype();
  const Value wide = widened(value, dtype);
  const Value dims = axes_value(axes);
  const Value count = count_along(meta_of(wide), axes);
  const Value mean = fxjit::sum(wide, dims, true) / count;
  const Value distance = wide - mean;
  const Value variance = fxjit::sum(distance * distance, dims) / count;
  return {narrowed(fxjit::squeeze(mean, dims), wide, dtype),
          narrowed(fxjit::rsqrt(variance + eps), wide, dtype)};
}

// (input, weight, bias, N, C, HxW, num_groups, eps).
Value native_group_norm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const int64_t images = call.integer(3), groups = call.integer(6);
  if (support::ExactInt(call.integer(4)) * call.integer(5) * images !=
      input.numel())
    runtime_error("native_group_norm: expected N * C * HxW elements, got ",
                  input.sizes());
  const Value result =
      call_row("group_norm", {call[0], groups, call[1], call[2], call[7]});
  const int64_t each =
      groups == 0 || images == 0 ? Size(0) : input.numel() / images / groups;
  const Value rows = fxjit::reshape(call[0], Dims{images, groups, each});
  const Statistics s = statistics_of(rows, {2}, call.number(7));
  return Value::tuple({result, s.mean, s.inverse_deviation});
}

// (input, weight, bias, running_mean, running_var, training, momentum, eps).
Value native_batch_norm(const OpCall& call) {
  if (!call.flag(5)) {
    const Value result = call_row(
        "batch_norm",
        {call[0], call[3], call[4], call[1], call[2], false, call[6], call[7]});
    const DType dtype = meta_of(call[0]).dtype();
    const auto none = [&] { return fxjit::zeros(Value::tuple({0}), dtype); };
    return Value::tuple({result, none(), none()});
  }
  if (call.has(3) || call.has(4))
    throw NotImplementedError(
        "native_batch_norm: expected no running statistics in training, which "
        "the call would write");
  const Dims others = dims_between(0, meta_of(call[0]).dim(), {1});
  const Value result = call_row(
      "aten_batch_norm",
      {call[0], call[1], call[2], None, None, true, call[6], call[7], false});
  const Statistics s = statistics_of(call[0], others, call.number(7));
  return Value::tuple({result, s.mean, s.inverse_deviation});
}

// (input, normalized_shape, weight, eps): the second result is the inverse of
// the root of the mean square, in the type of the calculation.
Value fused_rms_norm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Value result =
      call_row("rms_norm", {call[0], call[1], call[2], call[3]});
  const Dims axes =
      dims_between(input.dim() - call.dims(1).size(), input.dim());
  const Value wide = widened(call[0], input.dtype());
  return Value::tuple({result, inverse_rms(call, wide, axes)});
}

constexpr OpRow kNativeNormsRows[] = {
    inlined_row("native_group_norm",
                "input, weight, bias, N, C, HxW, group, eps",
                "torch.native_group_norm", native_group_norm),
    inlined_row("native_batch_norm",
                "input, weight, bias, running_mean, running_var, training, "
                "momentum, eps",
                "torch.native_batch_norm", native_batch_norm),
    inlined_row("_fused_rms_norm", "input, normalized_shape, weight, eps",
                "torch._fused_rms_norm", fused_rms_norm),
};

}  // namespace

std::span<const OpRow> native_norm_rows() { return kNativeNormsRows; }

}  // namespace fxjit::ops
