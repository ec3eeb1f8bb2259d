// Reductions over dims. Sums, products, extrema and any/all reduce directly;
// the rest is composed of them (in float32 for the half types).
#include <cmath>
#include <limits>

#include "fxjit/functions_structured.h"
#include "src/ops/families/reductions/reduction_loops.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Tensor reduced(const OpCall& call, DType dtype) {
  const Tensor& input = call.tensor(0);
  const Dims axes = axes_arg(call, 1, input.dim());
  return Tensor::meta(reduced_shape(input.sizes(), axes, call.flag(2)), dtype);
}

DType sum_dtype(const OpCall& call, const Tensor& input) {
  return dtype_arg(call, 3,
                   is_floating(input.dtype()) ? input.dtype() : DType::i64);
}

Value infer_sum(const OpCall& call) {
  return reduced(call, sum_dtype(call, call.tensor(0)));
}

// Extrema of nothing do not exist.
void check_not_empty(const char* name, const Tensor& input, const Dims& axes,
                     bool all) {
  if (input.numel() != 0) return;
  const std::string what = std::string(name) + "(): Expected reduction dim ";
  if (all)
    runtime_error(what,
                  "to be specified for input.numel() == 0. Specify the "
                  "reduction dim with the 'dim' argument.");
  for (int64_t axis : axes)
    if (input.dim() > 0 && input.sizes()[axis] == 0)
      throw IndexError(what + std::to_string(axis) + " to have non-zero size.");
}

bool reduces_all(const OpCall& call) {
  return !call.has(1) || (call[1].is_sequence() && call[1].size() == 0);
}

Value infer_extremum(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  check_not_empty(call.op.row.name, input, axes_arg(call, 1, input.dim()),
                  reduces_all(call));
  return reduced(call, input.dtype());
}

Value infer_position(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (reduces_all(call) && input.numel() == 0)
    throw IndexError(std::string(call.op.name()) +
                     "(): Expected reduction dim to be specified for "
                     "input.numel() == 0.");
  check_not_empty(call.op.row.name, input, axes_arg(call, 1, input.dim()),
                  false);
  return reduced(call, DType::i64);
}

Value infer_truth(const OpCall& call) {
  // uint8 stood for bool once and still gives uint8.
  const DType dtype = call.tensor(0).dtype();
  return reduced(call, dtype == DType::u8 ? DType::u8 : DType::boolean);
}

template <bool kMax>
Value eager_position(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Tensor out = empty_like(infer_position(call));
  if (call.has(1))
    arg_extremum(input, dim_arg(call, 1, input.dim()), kMax, out);
  else
    arg_extremum(input.contiguous().as_strided({input.numel()}, {1},
                                               input.contiguous().offset()),
                 0, kMax, out);
  return out;
}

// The least place along `axis` that holds the extremum; a NaN is one, as in
// torch.
Value first_place(const Value& input, int axis, bool greatest) {
  const Tensor meta = meta_of(input);
  const int64_t size = meta.sizes()[axis];
  constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
  const DType counter = size < kMost32 ? DType::i32 : DType::i64;
  Dims line(meta.dim(), 1);
  line[axis] = size;
  const Value best = (greatest ? amax : amin)(input, axis, true);
  Value found = fxjit::eq(input, best);
  if (is_floating(meta.dtype()))
    found = fxjit::logical_or(found, fxjit::ne(input, input));
  const Value places = fxjit::reshape(fxjit::arange(0, size, 1, counter), line);
  return cast_to(fxjit::amin(fxjit::where(found, places, size), axis, true),
                 DType::i64);
}

template <bool kMax>
Value decompose_position(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Dims sizes = reduced_shape(
      input.sizes(), axes_arg(call, 1, input.dim()), call.flag(2));
  if (input.dim() == 0 || numel(sizes) == 0)
    return fxjit::zeros(sizes, DType::i64);
  // Places among truth values are counted as among numbers.
  const Value numbers =
      input.dtype() == DType::boolean ? cast_to(call[0], DType::u8) : call[0];
  const Value place =
      call.has(1) ? first_place(numbers, dim_arg(call, 1, input.dim()), kMax)
                  : first_place(fxjit::reshape(numbers, {-1}), 0, kMax);
  return fxjit::reshape(place, sizes);
}

// max(x) and max(x, dim) -> (values, indices) and max(x, other).
template <bool kMax>
Value decompose_extremum(const OpCall& call) {
  const auto best = kMax ? amax : amin;
  if (call[1].is_tensor() || call[1].is_proxy())
    return kMax ? maximum(call[0], call[1]) : minimum(call[0], call[1]);
  if (!call.has(1)) {
    check_not_empty(kMax ? "max" : "min", meta_of(call[0]), {}, true);
    return best(call[0], Value::tuple({}), false);
  }
  const auto position = kMax ? argmax : argmin;
  check_not_empty(kMax ? "max" : "min", meta_of(call[0]),
                  axes_arg(call, 1, meta_of(call[0]).dim()), false);
  Value extremum = best(call[0], call[1], true);
  if (!call.flag(2) && meta_of(call[0]).dim() > 0)
    extremum = fxjit::squeeze(extremum, call[1]);
  return Value::tuple({extremum, position(call[0], call[1], call[2])});
}

// amax and amin with a value for none: input, dim, keepdim, of_none.
template <bool kMax>
Value extreme_or(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Dims axes = axes_arg(call, 1, input.dim());
  if (count_along(input, axes) == 0)
    return fxjit::full(reduced_shape(input.sizes(), axes, call.flag(2)),
                       call[3], input.dtype());
  return (kMax ? amax : amin)(call[0], axes_value(axes), call[2]);
}

Value decompose_mean(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const DType dtype = dtype_arg(call, 3, input.dtype());
  if (!is_floating(dtype))
    runtime_error(
        "mean(): could not infer output dtype. Input dtype must be either a "
        "floating point or complex dtype. Got: ",
        torch_type_name(dtype));
  const Dims axes = axes_arg(call, 1, input.dim());
  const Value wide = widened(call[0], dtype);
  const Value total = fxjit::sum(wide, axes_value(axes), call[2]);
  return narrowed(total / Value(count_along(input, axes)), wide, dtype);
}

// Elements less the correction, 0 where that is more.
Value degrees_of_freedom(Size count, double correction) {
  constexpr double kLimit = 4503599627370496.0;  // 2^52
  if (std::trunc(correction) == correction && std::abs(correction) < kLimit)
    return larger(count - static_cast<int64_t>(correction), 0);
  return std::max(0.0, static_cast<double>(int64_t{count}) - correction);
}

// Two passes: the mean, then the mean of squared distances. In double
// precision, as torch sums: squares of floats overflow and cancel in float.
// Doubles have no wider type, so what the mean was rounded by is taken off.
template <bool kRoot>
Value spread(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  if (!is_floating(input.dtype()))
    runtime_error("std and var only support floating point and complex dtypes");
  // var(x, False) gives `unbiased` in the place of `dim`.
  const bool flag_first = call[1].is_bool();
  const Dims axes = flag_first ? dims_between(0, input.dim())
                               : axes_arg(call, 1, input.dim());
  const Value& unbiased = flag_first ? call[1] : call[2];
  double correction = 1;
  if (!unbiased.is_none()) correction = unbiased.as_bool() ? 1 : 0;
  if (call.has(4)) correction = call.number(4);
  const Size count = count_along(input, axes);
  const Value wide = cast_to(call[0], DType::f64);
  const Value dims = axes_value(axes);
  const Value center = fxjit::sum(wide, dims, true) / Value(count);
  const Value distance = wide - center;
  Value total = fxjit::sum(distance * distance, dims, call[3]);
  if (input.dtype() == DType::f64) {
    const Value rest = fxjit::sum(distance, dims, call[3]);
    total = total - rest * rest / Value(count);
  }
  const Value variance = total / degrees_of_freedom(count, correction);
  return narrowed(kRoot ? fxjit::sqrt(variance) : variance, wide,
                  input.dtype());
}

Value decompose_logsumexp(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const DType dtype = is_floating(input.dtype()) ? input.dtype() : DType::f32;
  const Value wide = widened(call[0], dtype);
  const Value dims = axes_value(axes_arg(call, 1, input.dim()));
  if (count_along(input, axes_arg(call, 1, input.dim())) == 0)
    return narrowed(fxjit::log(fxjit::sum(fxjit::exp(wide), dims, call[2])),
                    wide, dtype);
  const Value top = fxjit::amax(wide, dims, true);
  // Infinite maxima would give inf - inf.
  const Value shift = fxjit::where(fxjit::isinf(top), 0.0, top);
  const Value total = fxjit::sum(fxjit::exp(wide - shift), dims, true);
  Value result = fxjit::log(total) + shift;
  if (!call.flag(2) && input.dim() > 0) result = fxjit::squeeze(result, dims);
  return narrowed(result, wide, dtype);
}

Value decompose_vector_norm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const DType dtype = dtype_arg(call, 4, input.dtype());
  if (!is_floating(dtype))
    runtime_error(
        "linalg.vector_norm: Expected a floating point or complex tensor as "
        "input. Got ",
        torch_type_name(dtype));
  const Value dims = axes_value(axes_arg(call, 2, input.dim()));
  const Value wide = widened(call[0], dtype);
  const double order = call.number(1);
  Value result;
  if (order == 2)
    result = fxjit::sqrt(fxjit::sum(wide * wide, dims, call[3]));
  else if (order == 1)
    result = fxjit::sum(fxjit::abs(wide), dims, call[3]);
  else if (order == std::numeric_limits<double>::infinity())
    result = fxjit::amax(fxjit::abs(wide), dims, call[3]);
  else if (order == -std::numeric_limits<double>::infinity())
    result = fxjit::amin(fxjit::abs(wide), dims, call[3]);
  else if (order == 0)
    result =
        fxjit::sum(method(fxjit::ne(wide, 0), "to", {compute_dtype(dtype)}),
                   dims, call[3]);
  else
    result = fxjit::pow(
        fxjit::sum(fxjit::pow(fxjit::abs(wide), order), dims, call[3]),
        1 / order);
  return narrowed(result, wide, dtype);
}

// "fro" is the 2-norm of all elements, of a matrix and of a vector.
Value decompose_norm(const OpCall& call) {
  if (call[1].is_string() && call[1].as_string() != "fro")
    throw NotImplementedError("norm: expected p to be a number or 'fro', got " +
                              repr(call[1]));
  const Value order = call[1].is_number() ? call[1] : Value(2.0);
  return call_function(get_function("torch._C._linalg.linalg_vector_norm"),
                       {call[0], order, call[2], call[3]}, {{"dtype", call[5]}},
                       call.source);
}

Value eager_cumsum(const OpCall& call) {
  const Tensor shape = infer_running(call).as_tensor();
  const Tensor& input = call.tensor(0);
  Tensor out = Tensor::empty(shape.sizes(), kernel_dtype(shape.dtype()));
  cumulative_sum(input.to(shape.dtype()).to(out.dtype()),
                 dim_arg(call, 1, input.dim()), out);
  return out.to(shape.dtype());
}

constexpr const char* kAlong = "input, dim=None, keepdim=False";
constexpr const char* kAlongTyped =
    "input, dim=None, keepdim=False, *, dtype=None";
constexpr const char* kSpread =
    "input, dim=None, unbiased=None, keepdim=False, *, correction=None";

constexpr OpRow reduction(const char* name, const char* schema,
                          const char* names, InferFn infer, Prim prim) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .lowering = Lowering::reduce,
          .infer = infer,
          .reduce_prim = prim};
}

constexpr OpRow kReductionsRows[] = {
    reduction("sum", kAlongTyped, "torch.sum .sum", infer_sum,
              Prim::reduce_sum),
    reduction("prod", kAlongTyped, "torch.prod .prod", infer_sum,
              Prim::reduce_prod),
    reduction("amax", "input, dim=(), keepdim=False", "torch.amax .amax",
              infer_extremum, Prim::reduce_max),
    reduction("amin", "input, dim=(), keepdim=False", "torch.amin .amin",
              infer_extremum, Prim::reduce_min),
    reduction("any", kAlong, "torch.any .any", infer_truth, Prim::reduce_any),
    reduction("all", kAlong, "torch.all .all", infer_truth, Prim::reduce_all),
    composed_row("max", kAlong, "torch.max .max", decompose_extremum<true>),
    composed_row("min", kAlong, "torch.min .min", decompose_extremum<false>),
    made_row("argmax", kAlong, "torch.argmax .argmax", infer_position,
             eager_position<true>, decompose_position<true>),
    made_row("argmin", kAlong, "torch.argmin .argmin", infer_position,
             eager_position<false>, decompose_position<false>),
    composed_row("fxjit.amax_or", "input, dim, keepdim, of_none",
                 "fxjit.amax_or", extreme_or<true>),
    composed_row("fxjit.amin_or", "input, dim, keepdim, of_none",
                 "fxjit.amin_or", extreme_or<false>),
    composed_row("mean", kAlongTyped, "torch.mean .mean", decompose_mean),
    composed_row("var", kSpread, "torch.var .var", spread<false>),
    composed_row("std", kSpread, "torch.std .std", spread<true>),
    composed_row("logsumexp", "input, dim, keepdim=False",
                 "torch.logsumexp .logsumexp "
                 "torch._C._special.special_logsumexp",
                 decompose_logsumexp),
    composed_row("linalg_vector_norm",
                 "input, ord=2, dim=None, keepdim=False, *, dtype=None",
                 "torch._C._linalg.linalg_vector_norm", decompose_vector_norm),
    composed_row(
        "norm", "input, p='fro', dim=None, keepdim=False, out=None, dtype=None",
        "torch.functional.norm! .norm", decompose_norm),
    made_row("cumsum", "input, dim, *, dtype=None", "torch.cumsum .cumsum",
             infer_running, eager_cumsum)
        .stating({.native = NativeCalls::sums,
                  .routine = RoutineKind::running_sums}),
};

}  // namespace

std::span<const OpRow> reduction_rows() { return kReductionsRows; }

}  // namespace fxjit::ops
