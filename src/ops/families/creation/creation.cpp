// Tensors made from sizes and numbers. All arguments are constants, so the
// simplifier folds these calls; they have no lowering of their own.
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families/creation/creation.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {

DType options_dtype(const OpCall& call, size_t i, DType fallback) {
  check_device(call, call[i + 2]);
  return dtype_arg(call, i, fallback);
}

Dims sizes_arg(const OpCall& call, size_t i) {
  const Dims sizes = call.dims(i);
  for (const Size size : sizes)
    if (size < 0)
      runtime_error("Trying to create tensor with negative dimension ", size,
                    ": ", sizes);
  return sizes;
}

namespace {

Tensor filled(const Tensor& shape, const Value& fill) {
  if (!fill.is_int())
    return Tensor::full(shape.sizes(), fill.as_double(), shape.dtype());
  // Integers beyond 2^53 are exact.
  const int64_t exact = fill.as_int();
  const Tensor out = Tensor::empty(shape.sizes(), shape.dtype());
  out.copy_from(Tensor::from(std::span<const int64_t>(&exact, 1), {}));
  return out;
}

Value infer_sized(const OpCall& call) {
  if (call.op.name() == "zeros")
    for (const Size size : call.dims(0))
      if (size < 0)
        runtime_error("zeros: Dimension size must be non-negative.");
  return Tensor::meta(sizes_arg(call, 0), options_dtype(call, 1, DType::f32));
}

template <InferFn kInfer, int kFill>
Value eager_filled(const OpCall& call) {
  return filled(kInfer(call).as_tensor(), kFill);
}

DType type_of_number(const Value& value) {
  if (value.is_bool()) return DType::boolean;
  return value.is_int() ? DType::i64 : DType::f32;
}

Value infer_full(const OpCall& call) {
  return Tensor::meta(sizes_arg(call, 0),
                      options_dtype(call, 2, type_of_number(call[1])));
}

Value eager_full(const OpCall& call) {
  return filled(infer_full(call).as_tensor(), call[1]);
}

Value infer_new(const OpCall& call) {
  return Tensor::meta(sizes_arg(call, 1),
                      options_dtype(call, 2, call.tensor(0).dtype()));
}

// Only a dtype is taken from the argument: a constant of compiled graphs.
template <int kFill>
Value decompose_new(const OpCall& call) {
  return fxjit::full(Value(sizes_arg(call, 1)), kFill,
                     options_dtype(call, 2, meta_of(call[0]).dtype()));
}

Value infer_new_full(const OpCall& call) {
  return Tensor::meta(sizes_arg(call, 1),
                      options_dtype(call, 3, call.tensor(0).dtype()));
}

Value eager_new_full(const OpCall& call) {
  return filled(infer_new_full(call).as_tensor(), call[2]);
}

Value decompose_new_full(const OpCall& call) {
  return fxjit::full(Value(sizes_arg(call, 1)), call[2],
                     options_dtype(call, 3, meta_of(call[0]).dtype()));
}

struct Range {
  Value start = 0, end, step = 1;
  DType dtype = DType::i64;
  Size length = 0;
};

// ceil((end - start) / step) of whole numbers.
Size whole_length(Size start, Size end, int64_t step) {
  if (step < 0) return whole_length(end, start, -step);
  return (end - start + (step - 1)) / step;
}

// arange(end), arange(start, end), arange(start, end, step).
Range arange_of(const OpCall& call) {
  Range range;
  range.end = call[0];
  if (call.has(1)) {
    range.start = call[0];
    range.end = call[1];
  }
  range.step = call[2];
  const bool floats =
      range.start.is_float() || range.end.is_float() || range.step.is_float();
  range.dtype = options_dtype(call, 3, floats ? DType::f32 : DType::i64);
  const bool named = range.start.is_named_size() || range.end.is_named_size();
  if (named && !floats && !range.step.is_named_size()) {
    const Size start = range.start.as_size(), end = range.end.as_size();
    const int64_t step = range.step.as_int();
    if (step != 0 && (step > 0 ? start <= end : end <= start)) {
      range.length = whole_length(start, end, step);
      return range;
    }
  }
  const double start = range.start.as_double(), end = range.end.as_double();
  const double step = range.step.as_double();
  if (step == 0) runtime_error("step must be nonzero");
  if (!std::isfinite(start) || !std::isfinite(end))
    runtime_error("unsupported range: ", repr(range.start), " -> ",
                  repr(range.end));
  if ((step > 0 && end < start) || (step < 0 && end > start))
    runtime_error("upper bound and lower bound inconsistent with step sign");
  const double length = std::ceil((end - start) / step);
  constexpr double kMostExact = 9007199254740992.0;  // 2^53
  if (!(length < kMostExact)) runtime_error("invalid size, possible overflow?");
  range.length = static_cast<int64_t>(length);
  return range;
}

Value infer_arange(const OpCall& call) {
  const Range range = arange_of(call);
  return Tensor::meta({range.length}, range.dtype);
}

Value eager_arange(const OpCall& call) {
  const Range range = arange_of(call);
  if (!is_floating(range.dtype) && range.start.is_int() &&
      range.step.is_int()) {
    const Tensor values = Tensor::empty({range.length}, DType::i64);
    // Wraps on the way where start and end lie far apart; no element does.
    auto at = static_cast<uint64_t>(range.start.as_int());
    for (int64_t i = 0; i < range.length; ++i) {
      values.data_as<int64_t>()[i] = static_cast<int64_t>(at);
      at += static_cast<uint64_t>(range.step.as_int());
    }
    return values.to(range.dtype);
  }
  const Tensor values = Tensor::empty({range.length}, DType::f64);
  for (int64_t i = 0; i < range.length; ++i)
    values.data_as<double>()[i] =
        range.start.as_double() +
        static_cast<double>(i) * range.step.as_double();
  return values.to(range.dtype);
}

Value infer_eye(const OpCall& call) {
  const int64_t rows = call.integer(0);
  const int64_t columns = call.has(1) ? call.integer(1) : rows;
  if (rows < 0) runtime_error("n must be greater or equal to 0, got ", rows);
  if (columns < 0)
    runtime_error("m must be greater or equal to 0, got ", columns);
  return Tensor::meta({rows, columns}, options_dtype(call, 2, DType::f32));
}

Value eager_eye(const OpCall& call) {
  const Tensor shape = infer_eye(call).as_tensor();
  const Tensor out = Tensor::zeros(shape.sizes(), shape.dtype());
  const int64_t length = std::min(shape.sizes()[0], shape.sizes()[1]);
  if (length > 0)
    out.as_strided({length}, {shape.sizes()[1] + 1}, 0)
        .copy_from(Tensor::full({}, 1, shape.dtype()));
  return out;
}

Value infer_linspace(const OpCall& call) {
  const int64_t steps = call.integer(2);
  if (steps < 0) runtime_error("number of steps must be non-negative");
  return Tensor::meta({steps}, options_dtype(call, 3, DType::f32));
}

// From both ends towards the middle, as torch does.
Value eager_linspace(const OpCall& call) {
  const Tensor shape = infer_linspace(call).as_tensor();
  const int64_t steps = shape.numel();
  const double start = call.number(0), end = call.number(1);
  const double step =
      steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  const Tensor values = Tensor::empty({steps}, DType::f64);
  for (int64_t i = 0; i < steps; ++i)
    values.data_as<double>()[i] =
        i < steps / 2 || steps == 1
            ? start + static_cast<double>(i) * step
            : end - static_cast<double>(steps - 1 - i) * step;
  return values.to(shape.dtype());
}

constexpr OpRow kCreationRows[] = {
    made_row("zeros", "*size, " FXJIT_TENSOR_OPTIONS, "torch.zeros",
             infer_sized, eager_filled<infer_sized, 0>),
    made_row("ones", "*size, " FXJIT_TENSOR_OPTIONS, "torch.ones", infer_sized,
             eager_filled<infer_sized, 1>),
    made_row("empty", "*size, " FXJIT_TENSOR_OPTIONS, "torch.empty",
             infer_sized, eager_filled<infer_sized, 0>)
        .stating({.undetermined = true}),
    made_row("full", "size, fill_value, *, " FXJIT_TENSOR_OPTIONS, "torch.full",
             infer_full, eager_full)
        .stating({.numbers = {"fill_value"}, .sizes = {SizeKind::listed}}),
    made_row("new_zeros", "input, *size, " FXJIT_TENSOR_OPTIONS, ".new_zeros",
             infer_new, eager_filled<infer_new, 0>, decompose_new<0>),
    made_row("new_ones", "input, *size, " FXJIT_TENSOR_OPTIONS, ".new_ones",
             infer_new, eager_filled<infer_new, 1>, decompose_new<1>),
    made_row("new_empty", "input, *size, " FXJIT_TENSOR_OPTIONS, ".new_empty",
             infer_new, eager_filled<infer_new, 0>, decompose_new<0>)
        .stating({.undetermined = true}),
    made_row("new_full", "input, size, fill_value, *, " FXJIT_TENSOR_OPTIONS,
             ".new_full", infer_new_full, eager_new_full, decompose_new_full)
        .stating({.numbers = {"fill_value"}}),
    made_row("arange", "start, end=None, step=1, *, " FXJIT_TENSOR_OPTIONS,
             "torch.arange", infer_arange, eager_arange),
    made_row("eye", "n, m=None, *, " FXJIT_TENSOR_OPTIONS, "torch.eye",
             infer_eye, eager_eye),
    made_row("linspace", "start, end, steps, *, " FXJIT_TENSOR_OPTIONS,
             "torch.linspace", infer_linspace, eager_linspace)
        .stating({.numbers = {"start end"}}),
};

}  // namespace

std::span<const OpRow> creation_rows() { return kCreationRows; }

}  // namespace fxjit::ops
