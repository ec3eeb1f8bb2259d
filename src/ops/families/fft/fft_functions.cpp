// The functions of torch.fft, made of ATen's three transforms.
#include "src/ops/families/complex/complex_parts.h"
#include "src/ops/families/fft/fft_calls.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// What "backward" (the default), "ortho" and "forward" mean.
Scaling scaling_of(const Value& norm, bool forward) {
  if (norm.is_none() || norm.as_string() == "backward")
    return forward ? Scaling::none : Scaling::count;
  if (norm.as_string() == "ortho") return Scaling::root;
  if (norm.as_string() == "forward")
    return forward ? Scaling::count : Scaling::none;
  runtime_error("Invalid normalization mode: \"", norm.as_string(), "\"");
}

// torch has transforms of f32 and f64; integers become f32.
Value promoted(const Value& input, bool to_complex) {
  const DType dtype = meta_of(input).dtype();
  if (dtype == DType::f16 || dtype == DType::bf16)
    runtime_error("Unsupported dtype ", torch_type_name(dtype));
  const bool plain = is_floating(dtype) || is_complex(dtype);
  const DType real = plain ? dtype : DType::f32;
  return to_complex ? cast_to(input, promote_types(real, DType::c64))
                    : cast_to(input, real);
}

Value real_input(const OpCall& call) {
  const DType dtype = meta_of(call[0]).dtype();
  std::string name(call.op.name());
  name.erase(0, std::string("fft_").size());
  if (is_complex(dtype))
    runtime_error(name, " expects a real input tensor, but got ",
                  torch_type_name(dtype));
  return promoted(call[0], false);
}

Value filled(const Value& input, int64_t dim, int64_t count) {
  const Tensor meta = meta_of(input);
  // Pads are a list of two numbers for each dim from the last one on.
  if (2 * (meta.dim() - dim) <= kMaxRank) {
    ValueList pads(static_cast<size_t>(2 * (meta.dim() - dim)), 0);
    pads.back() = count;
    return nn::functional::pad(input, Value::list(std::move(pads)));
  }
  Dims sizes = meta.sizes();
  sizes[static_cast<int>(dim)] = count;
  const Value zeros = fxjit::zeros(sizes, meta.dtype());
  return fxjit::cat(Value::list({input, zeros}), dim);
}

// Cut off or filled with zeros.
Value resized(const Value& input, int64_t dim, int64_t length) {
  const Tensor meta = meta_of(input);
  const int64_t missing = length - meta.size(dim);
  if (missing == 0) return input;
  if (missing < 0) return fxjit::narrow(input, dim, 0, length);
  Dims sizes = meta.sizes();
  sizes[static_cast<int>(dim)] = length;
  check_memory(sizes, meta.dtype());
  return is_complex(meta.dtype())
             ? complex_of(filled(pairs_of(input), dim, missing))
             : filled(input, dim, missing);
}

// Dims and how long they are made.
struct Shape {
  Dims dims, lengths;
};

Value resized(Value input, const Shape& shape) {
  for (int i = 0; i < shape.dims.size(); ++i)
    input = resized(input, shape.dims[i], shape.lengths[i]);
  return input;
}

// (input, n, dim, norm).
Shape line_of(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const int64_t dim = dim_arg(call, 2, input.dim());
  return {{dim}, {call.has(1) ? call.size(1) : input.size(dim)}};
}

// (input, s, dim, norm), each of which may say how many dims there are.
Shape shape_of(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  Shape shape;
  if (call.has(2))
    for (int64_t d : call.dims(2))
      shape.dims.push_back(wrap_dim(d, input.dim()));
  for (int i = 0; i < shape.dims.size(); ++i)
    for (int j = 0; j < i; ++j)
      if (shape.dims[i] == shape.dims[j])
        runtime_error("FFT dims must be unique");
  if (call.has(1)) shape.lengths = call.dims(1);
  if (call.has(1) && call.has(2) && shape.lengths.size() != shape.dims.size())
    runtime_error(
        "When given, dim and shape arguments must have the same length");
  if (shape.lengths.size() > input.dim())
    runtime_error("Got shape with ", shape.lengths.size(),
                  " values but input tensor only has ", input.dim(),
                  " dimensions.");
  if (!call.has(2)) {
    const int count = call.has(1) ? shape.lengths.size() : input.dim();
    shape.dims = dims_between(input.dim() - count, input.dim());
  }
  if (!call.has(1)) shape.lengths = Dims(shape.dims.size(), -1);
  for (int i = 0; i < shape.dims.size(); ++i)
    if (shape.lengths[i] == -1) shape.lengths[i] = input.size(shape.dims[i]);
  return shape;
}

using ShapeFn = Shape (*)(const OpCall&);

void check_lengths(const Shape& shape) {
  for (int64_t length : shape.lengths) check_length(length);
}

template <ShapeFn kShape, bool kForward>
Value complex_transform(const OpCall& call) {
  const Shape shape = kShape(call);
  check_lengths(shape);
  const Value input = resized(promoted(call[0], true), shape);
  return fft_c2c(input, shape.dims, scaling_of(call[3], kForward), kForward);
}

template <ShapeFn kShape>
Value from_real(const OpCall& call) {
  const Value input = real_input(call);
  const Shape shape = kShape(call);
  if (shape.dims.size() == 0)
    runtime_error("rfftn must transform at least one axis");
  check_lengths(shape);
  return fft_r2c(resized(input, shape), shape.dims, scaling_of(call[3], true),
                 true);
}

// The length of the result's last line; the input's becomes the half of it.
int64_t take_half(const OpCall& call, Shape& shape) {
  const int last = shape.dims.size() - 1;
  if (last < 0)
    runtime_error(call.op.name(), " must transform at least one axis");
  bool given = call.has(1);
  if (given && call[1].is_sequence()) given = call.dims(1).back() != -1;
  const int64_t length =
      given ? shape.lengths[last]
            : 2 * (meta_of(call[0]).size(shape.dims[last]) - 1);
  check_length(length);
  shape.lengths[last] = length / 2 + 1;
  return length;
}

template <ShapeFn kShape>
Value to_real(const OpCall& call) {
  Shape shape = kShape(call);
  const int64_t length = take_half(call, shape);
  check_lengths(shape);
  return fft_c2r(resized(promoted(call[0], true), shape), shape.dims,
                 scaling_of(call[3], false), length);
}

Dims all_but_last(const Dims& dims) {
  Dims result;
  for (int i = 0; i + 1 < dims.size(); ++i) result.push_back(dims[i]);
  return result;
}

// Transforms a signal that is Hermitian in time, so that its spectrum is real.
template <ShapeFn kShape>
Value hermitian(const OpCall& call) {
  Shape shape = kShape(call);
  const int64_t length = take_half(call, shape);
  check_lengths(shape);
  const Scaling scaling = scaling_of(call[3], true);
  Value input = resized(promoted(call[0], true), shape);
  if (shape.dims.size() > 1)
    input = fft_c2c(input, all_but_last(shape.dims), scaling, true);
  return fft_c2r(conjugate(input), {shape.dims.back()}, scaling, length);
}

template <ShapeFn kShape>
Value inverse_hermitian(const OpCall& call) {
  const Value input = real_input(call);
  const Shape shape = kShape(call);
  if (shape.dims.size() == 0)
    runtime_error("ihfftn must transform at least one axis");
  check_lengths(shape);
  const Scaling scaling = scaling_of(call[3], false);
  const Value half = conjugate(
      fft_r2c(resized(input, shape), {shape.dims.back()}, scaling, true));
  return shape.dims.size() > 1
             ? fft_c2c(half, all_but_last(shape.dims), scaling, false)
             : half;
}

constexpr const char* kLine = "input, n=None, dim=-1, norm=None";
constexpr const char* kPlane = "input, s=None, dim=(-2, -1), norm=None";
constexpr const char* kAll = "input, s=None, dim=None, norm=None";

constexpr OpRow kFftFunctionsRows[] = {
    inlined_row("fft_fft", kLine, "torch._C._fft.fft_fft",
                complex_transform<line_of, true>),
    inlined_row("fft_ifft", kLine, "torch._C._fft.fft_ifft",
                complex_transform<line_of, false>),
    inlined_row("fft_fft2", kPlane, "torch._C._fft.fft_fft2",
                complex_transform<shape_of, true>),
    inlined_row("fft_ifft2", kPlane, "torch._C._fft.fft_ifft2",
                complex_transform<shape_of, false>),
    inlined_row("fft_fftn", kAll, "torch._C._fft.fft_fftn",
                complex_transform<shape_of, true>),
    inlined_row("fft_ifftn", kAll, "torch._C._fft.fft_ifftn",
                complex_transform<shape_of, false>),
    inlined_row("fft_rfft", kLine, "torch._C._fft.fft_rfft",
                from_real<line_of>),
    inlined_row("fft_rfft2", kPlane, "torch._C._fft.fft_rfft2",
                from_real<shape_of>),
    inlined_row("fft_rfftn", kAll, "torch._C._fft.fft_rfftn",
                from_real<shape_of>),
    inlined_row("fft_irfft", kLine, "torch._C._fft.fft_irfft",
                to_real<line_of>),
    inlined_row("fft_irfft2", kPlane, "torch._C._fft.fft_irfft2",
                to_real<shape_of>),
    inlined_row("fft_irfftn", kAll, "torch._C._fft.fft_irfftn",
                to_real<shape_of>),
    inlined_row("fft_hfft", kLine, "torch._C._fft.fft_hfft",
                hermitian<line_of>),
    inlined_row("fft_hfft2", kPlane, "torch._C._fft.fft_hfft2",
                hermitian<shape_of>),
    inlined_row("fft_hfftn", kAll, "torch._C._fft.fft_hfftn",
                hermitian<shape_of>),
    inlined_row("fft_ihfft", kLine, "torch._C._fft.fft_ihfft",
                inverse_hermitian<line_of>),
    inlined_row("fft_ihfft2", kPlane, "torch._C._fft.fft_ihfft2",
                inverse_hermitian<shape_of>),
    inlined_row("fft_ihfftn", kAll, "torch._C._fft.fft_ihfftn",
                inverse_hermitian<shape_of>),
};

}  // namespace

std::span<const OpRow> fft_function_rows() { return kFftFunctionsRows; }

}  // namespace fxjit::ops
