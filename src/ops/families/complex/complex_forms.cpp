// What calls with complex tensors do to real and imaginary parts.
#include <algorithm>
#include <iterator>

#include "src/ops/eager/complex_calls.h"
#include "src/ops/families/complex/complex_parts.h"
#include "src/ops/table/promote.h"

namespace fxjit::ops {
namespace {

bool is_tensor(const Value& value) {
  return value.is_tensor() || value.is_proxy();
}

bool is_complex_tensor(const Value& value) {
  return is_tensor(value) && is_complex(meta_of(value).dtype());
}

// The dtype of a result of two operands.
DType result_dtype(const OpCall& call) {
  Promotion promotion;
  for (size_t i = 0; i < 2; ++i)
    promotion.add(is_tensor(call[i]) ? Value(meta_of(call[i])) : call[i]);
  return *promotion.result();
}

// A real operand to go with pairs: along their last dim.
Value beside_pairs(const Value& real, DType part) {
  return is_tensor(real) ? fxjit::unsqueeze(cast_to(real, part), -1) : real;
}

Value pairs_as(const Value& input, DType part) {
  return cast_to(pairs_of(input), part);
}

Value mul(const OpCall& call) {
  const DType dtype = result_dtype(call), part = part_type(dtype);
  if (!is_complex_tensor(call[0]))
    return complex_of(beside_pairs(call[0], part) * pairs_as(call[1], part));
  if (!is_complex_tensor(call[1]))
    return complex_of(pairs_as(call[0], part) * beside_pairs(call[1], part));
  const Value a = as_complex(call[0], dtype), b = as_complex(call[1], dtype);
  const Value a_re = real_of(a), a_im = imag_of(a);
  const Value b_re = real_of(b), b_im = imag_of(b);
  return complex_of(a_re * b_re - a_im * b_im, a_re * b_im + a_im * b_re);
}

Value div(const OpCall& call) {
  if (is_complex_tensor(call[1]) || call.has(2))
    throw NotImplementedError(
        "div: complex numbers are divided by real ones only");
  const DType part = part_type(result_dtype(call));
  return complex_of(pairs_as(call[0], part) / beside_pairs(call[1], part));
}

// input + alpha * other.
Value sum(const OpCall& call, const Value& alpha) {
  const DType dtype = result_dtype(call), part = part_type(dtype);
  const auto scaled = [&](const Value& value) {
    return same(alpha, 1) ? value : value * alpha;
  };
  if (is_complex_tensor(call[0]) && is_complex_tensor(call[1]))
    return complex_of(pairs_as(call[0], part) +
                      scaled(pairs_as(call[1], part)));
  if (is_tensor(call[0]) && is_tensor(call[1]))
    return complex_of(pairs_of(as_complex(call[0], dtype)) +
                      scaled(pairs_of(as_complex(call[1], dtype))));
  if (is_tensor(call[0]))
    return complex_of(real_of(call[0]) + scaled(call[1]), imag_of(call[0]));
  const Value other = scaled(call[1]);
  return complex_of(call[0] + real_of(other), imag_of(other));
}

Value add(const OpCall& call) { return sum(call, call[2]); }

// Parts are floating point, so that a whole number may become one before it is
// negated: the least int64 has no negative.
Value sub(const OpCall& call) { return sum(call, Value(-call.number(2))); }

Value neg(const OpCall& call) { return complex_of(-pairs_of(call[0])); }

Value abs(const OpCall& call) {
  return function("torch.hypot", {real_of(call[0]), imag_of(call[0])});
}

Value angle(const OpCall& call) {
  return function("torch.atan2", {imag_of(call[0]), real_of(call[0])});
}

Value conj(const OpCall& call) {
  return complex_of(real_of(call[0]), -imag_of(call[0]));
}

Value cast(const OpCall& call) {
  const DType dtype = call[1].as_dtype();
  if (!is_complex(dtype))
    throw NotImplementedError("cast: " + meta_of(call[0]).describe() + " to " +
                              std::string(dtype_name(dtype)) +
                              " would lose its imaginary parts");
  // A copy even of the same type.
  return meta_of(call[0]).dtype() == dtype
             ? complex_of(method(pairs_of(call[0]), "clone"))
             : as_complex(call[0], dtype);
}

Value clone(const OpCall& call) {
  return complex_of(method(pairs_of(call[0]), "clone"));
}

Value contiguous(const OpCall& call) {
  return meta_of(call[0]).is_contiguous()
             ? call[0]
             : complex_of(method(pairs_of(call[0]), "contiguous"));
}

Value materialize(const OpCall& call) {
  return complex_of(call_function(call.op.canonical, {pairs_of(call[0])}));
}

// Rows that give the elements in another shape.
Value reshape(const OpCall& call) {
  ValueList metas(call.args.begin(), call.args.end());
  for (Value& arg : metas)
    if (is_tensor(arg)) arg = meta_of(arg);
  Dims sizes = call.op.row.infer({call.op, metas}).as_tensor().sizes();
  sizes.push_back(2);
  return complex_of(fxjit::reshape(pairs_of(call[0]), sizes));
}

// Rows with one dim or several at parameter `kDim` and nothing that depends on
// the rank beside.
template <size_t kDim>
Value along_dims(const OpCall& call) {
  const int rank = meta_of(call[0]).dim();
  ValueList args(call.args.begin(), call.args.end());
  args[0] = pairs_of(call[0]);
  args[kDim] = call[kDim].is_sequence() ? Value(axes_arg(call, kDim, rank))
                                        : Value(dim_arg(call, kDim, rank));
  return complex_of(call_function(call.op.canonical, std::move(args)));
}

Value roll(const OpCall& call) {
  if (call[2].is_sequence() ? call[2].size() > 0 : call.has(2))
    return along_dims<2>(call);
  const Value flat = fxjit::roll(fxjit::flatten(call[0]), call[1], 0);
  return fxjit::reshape(flat, meta_of(call[0]).sizes());
}

Value cat(const OpCall& call) {
  const ValueList& tensors = call[0].as_sequence();
  DType dtype = DType::boolean;
  for (const Value& tensor : tensors)
    dtype = promote_types(dtype, meta_of(tensor).dtype());
  ValueList pairs;
  for (const Value& tensor : tensors)
    pairs.push_back(pairs_of(as_complex(tensor, dtype)));
  const int rank = meta_of(tensors[0]).dim();
  return complex_of(
      fxjit::cat(Value::list(std::move(pairs)), dim_arg(call, 1, rank)));
}

constexpr struct {
  std::string_view row;
  DecomposeFn form;
} kForms[] = {
    {"abs", abs},
    {"add", add},
    {"angle", angle},
    {"cast", cast},
    {"cat", cat},
    {"clone", clone},
    {"conj", conj},
    {"contiguous", contiguous},
    {"div", div},
    {"flatten", reshape},
    {"flip", along_dims<1>},
    {"fxjit.materialize", materialize},
    {"index_select", along_dims<1>},
    {"mul", mul},
    {"neg", neg},
    {"reshape", reshape},
    {"reshape_as", reshape},
    {"roll", roll},
    {"sub", sub},
};

// Rows that are composed of other calls, transforms, and what only names
// results.
constexpr std::string_view kTaking[] = {
    "_fft_c2c",       "_fft_c2r",      "_to_copy",
    "alias_copy",     "expand_copy",   "fft_fft",
    "fft_fft2",       "fft_fftn",      "fft_fftshift",
    "fft_hfft",       "fft_hfft2",     "fft_hfftn",
    "fft_ifft",       "fft_ifft2",     "fft_ifftn",
    "fft_ifftshift",  "fft_ihfft",     "fft_ihfft2",
    "fft_ihfftn",     "fft_irfft",     "fft_irfft2",
    "fft_irfftn",     "fft_rfft",      "fft_rfft2",
    "fft_rfftn",      "fxjit.fft_c2c", "fxjit.fft_c2r",
    "fxjit.item",     "fxjit.layout",  "fxjit.overlap_add",
    "istft",          "permute_copy",  "resolve_conj",
    "select_copy",    "slice_copy",    "squeeze_copy",
    "stack",          "stft",          "to",
    "transpose_copy", "type_as",       "unsqueeze_copy",
    "view_copy"};

}  // namespace

DecomposeFn form_of_row(std::string_view name) {
  for (const auto& [row, form] : kForms)
    if (row == name) return form;
  return nullptr;
}

bool takes_complex(std::string_view name) {
  return std::ranges::find(kTaking, name) != std::end(kTaking);
}

}  // namespace fxjit::ops
