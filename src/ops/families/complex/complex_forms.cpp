// What calls with complex tensors that move elements, or look at them, do to
// real and imaginary parts.
#include <algorithm>
#include <iterator>

#include "src/ops/eager/complex_calls.h"
#include "src/ops/families/complex/complex_parts.h"
#include "src/ops/table/pure_form.h"

namespace fxjit::ops {
namespace {

Value neg(const OpCall& call) { return complex_of(-pairs_of(call[0])); }

Value abs(const OpCall& call) { return magnitude_of(call[0]); }

Value angle(const OpCall& call) {
  return function("torch.atan2", {imag_of(call[0]), real_of(call[0])});
}

Value conj(const OpCall& call) {
  return complex_of(real_of(call[0]), -imag_of(call[0]));
}

Value cast(const OpCall& call) {
  const DType dtype = call[1].as_dtype();
  if (dtype == DType::boolean) return truth_of(call[0]);
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

Value adjoint(const OpCall& call) {
  if (meta_of(call[0]).dim() == 0) return conj(call);
  return conjugate(fxjit::transpose(call[0], -2, -1));
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

// The source's elements in the shape and type of the first argument.
Value copy(const OpCall& call) {
  const Tensor like = meta_of(call[0]);
  const Value source = as_complex(call[1], like.dtype());
  return method(fxjit::expand(source, like.sizes()), "clone");
}

Value copy_written(const OpCall& call) {
  const Value source = as_complex(call[1], meta_of(call[0]).dtype());
  call_row("copy_", {pairs_of(call[0]), pairs_of(source)});
  return call[0];
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

constexpr ComplexForm kForms[] = {
    {"abs", abs},
    {"adjoint", adjoint},
    {"angle", angle},
    {"cast", cast},
    {"cat", cat},
    {"clone", clone},
    {"conj", conj},
    {"contiguous", contiguous},
    {"copy", copy},
    {"copy_", copy_written},
    {"flatten", reshape},
    {"flip", along_dims<1>},
    {"fxjit.materialize", materialize},
    {"index_select", along_dims<1>},
    {"neg", neg},
    {"reshape", reshape},
    {"reshape_as", reshape},
    {"roll", roll},
};

// Rows that are composed of other calls, transforms, and what only names
// results.
constexpr std::string_view kTaking[] = {"einsum",
                                        "rot90",
                                        "inner",
                                        "kron",
                                        "outer",
                                        "tensordot",
                                        "vdot",
                                        "where_method",
                                        "fxjit.complex_map",
                                        "fxjit.complex_quotient",
                                        "fxjit.complex_power",
                                        "fxjit.complex_product",
                                        "fxjit.complex_running_product",
                                        "_fft_c2c",
                                        "_fft_c2r",
                                        "_to_copy",
                                        "alias_copy",
                                        "expand_copy",
                                        "fft_fft",
                                        "fft_fft2",
                                        "fft_fftn",
                                        "fft_fftshift",
                                        "fft_hfft",
                                        "fft_hfft2",
                                        "fft_hfftn",
                                        "fft_ifft",
                                        "fft_ifft2",
                                        "fft_ifftn",
                                        "fft_ifftshift",
                                        "fft_ihfft",
                                        "fft_ihfft2",
                                        "fft_ihfftn",
                                        "fft_irfft",
                                        "fft_irfft2",
                                        "fft_irfftn",
                                        "fft_rfft",
                                        "fft_rfft2",
                                        "fft_rfftn",
                                        "fxjit.fft_c2c",
                                        "fxjit.fft_c2r",
                                        "fxjit.item",
                                        "fxjit.layout",
                                        "fxjit.overlap_add",
                                        "istft",
                                        "permute_copy",
                                        "resolve_conj",
                                        "select_copy",
                                        "slice_copy",
                                        "squeeze_copy",
                                        "stack",
                                        "stft",
                                        "to",
                                        "transpose_copy",
                                        "type_as",
                                        "unsqueeze_copy",
                                        "view_copy"};

}  // namespace

DecomposeFn form_of_row(std::string_view name) {
  for (const auto forms :
       {std::span<const ComplexForm>(kForms), arithmetic_forms()})
    for (const auto& [row, form] : forms)
      if (row == name) return form;
  return nullptr;
}

Value written_in_parts(const OpCall& call) {
  const Op& pure = *pure_form(call.op);
  const size_t count = std::min(pure.parameters.size(), call.args.size());
  return call_row("copy_", {call[0], call_op(pure, call.args.first(count))});
}

bool takes_complex(std::string_view name) {
  return std::ranges::find(kTaking, name) != std::end(kTaking);
}

}  // namespace fxjit::ops
