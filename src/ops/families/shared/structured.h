// What the structured families (reductions, norms, views, contractions, ...)
// share: reading canonical arguments, making result metas, and walking strided
// tensors. Used by this folder, and by the eager functions and the table.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "fxjit/op.h"
#include "src/tensor/concat.h"
#include "src/tensor/exact_int.h"
#include "src/tensor/strided.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {

using support::ExactInt;

// RuntimeError with torch's text, in parts; op, node and source are filled in
// by the caller of the row's function.
[[noreturn]] void runtime_error(std::initializer_list<TextPart> parts);
template <typename... Parts>
[[noreturn]] void runtime_error(const Parts&... parts) {
  runtime_error({TextPart(parts)...});
}
// NotImplementedError: torch has no kernel, under this name of its own, for
// elements of this type.
[[noreturn]] void no_kernel(const std::string& kernel, DType dtype);

// Shape and type of an argument of a decomposition: the tensor itself, or what
// a proxy knows of its node (UserError when it knows nothing).
Tensor meta_of(const Value& value);

// "2x3" and "[2, 3]", as torch writes shapes in messages.
std::string x_shape(const Dims& sizes);
// torch's names of a type in messages: "Float", "Long"; "float", "long int".
const char* torch_type_name(DType dtype);
const char* cpp_type_name(DType dtype);

// A wrapped dimension argument.
int dim_arg(const OpCall& call, size_t i, int rank);
// The place of a parameter that the row has.
size_t index_of(const OpCall& call, const char* parameter);
// Wrapped dimensions of an int, a sequence, or None / () for all of them.
Dims axes_arg(const OpCall& call, size_t i, int rank);
// A dtype argument or, when it is None, `fallback`.
DType dtype_arg(const OpCall& call, size_t i, DType fallback);
// UserError for the name of another device than the CPU.
void check_device(const OpCall& call, const Value& device);
// RuntimeError unless every number is below 2^31 in size: window sizes, strides
// and paddings, with which shape rules calculate.
void check_moderate(const OpCall& call, const Dims& numbers);
// An int, or a sequence of 1 or `count` ints, as `count` ints.
Dims per_axis_arg(const OpCall& call, size_t i, int count);
// RuntimeError where the machine has no memory for such a tensor: asked before
// tables are made that are as long as a result.
void check_memory(const Dims& sizes, DType dtype);
// The first of the last `inner` dims that has no elements, -1 if all have.
int empty_dim(const Tensor& input, int inner);
// RuntimeError for more results than a tuple may have.
void check_pieces(const OpCall& call, int64_t count);
// Sizes given as one sequence or one by one (a "*sizes" parameter).
Dims flat_dims(const Value& value);
// A list or tuple of tensors.
std::vector<Tensor> tensors_arg(const OpCall& call, size_t i);

bool contains(const Dims& axes, int64_t axis);
Dims joined(Dims first, const Dims& second);
// The dims from `begin` up to `end`, but for those in `left_out`.
Dims dims_between(int begin, int end, const Dims& left_out = {});
// Shape after reducing `axes`.
Dims reduced_shape(const Dims& sizes, const Dims& axes, bool keepdim);
Tensor permuted(const Tensor& tensor, const Dims& order);
// Size and stride along an axis: 1 for a tensor without dims.
Size axis_size(const Tensor& tensor, int axis);
Size axis_stride(const Tensor& tensor, int axis);
// A tensor of one dim.
Tensor tensor_of(const std::vector<int64_t>& numbers);
// A dim of one element in front, and a contiguous tensor without it.
Tensor with_batch(const Tensor& tensor);
Tensor without_batch(const Tensor& tensor);

// Calls fill(whole) with a contiguous tensor for the elements of `out`: itself
// or one that is copied to it.
template <typename Fn>
void fill_contiguous(const Tensor& out, Fn&& fill) {
  const Tensor whole =
      out.is_contiguous() ? out : Tensor::empty(out.sizes(), out.dtype());
  fill(whole);
  if (whole.data() != out.data()) out.copy_from(whole);
}
// Memory for a result that a shape rule inferred.
Tensor empty_like(const Value& inferred);
// The shape rule of results with the first argument's shape and type.
Value infer_like_first(const OpCall& call);
// That of running results along argument 1, whose dtype is argument 2: sums of
// integers are int64. That of elements put in order, with their places.
Value infer_running(const OpCall& call);
Value infer_ordered(const OpCall& call);
// RuntimeError: the result of a call that writes a tensor has other sizes.
[[noreturn]] void output_mismatch(const Dims& output, const Dims& result);

// Type in which eager functions of this folder compute: float for the half
// types, int64 for integers and bool.
DType kernel_dtype(DType dtype);

// Rows of ops whose result is a view of their input, and of ops that are made
// of others.
constexpr OpRow view_row(const char* name, const char* schema,
                         const char* names, InferFn infer) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .lowering = Lowering::view,
          .infer = infer};
}
constexpr OpRow composed_row(const char* name, const char* schema,
                             const char* names, DecomposeFn decompose,
                             Purity purity = Purity::pure) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .lowering = Lowering::decompose,
          .decompose = decompose,
          .purity = purity};
}

// Rows of ops that have code of their own in compiled programs.
constexpr OpRow lowered_row(const char* name, const char* schema,
                            const char* names, Lowering lowering, InferFn infer,
                            EagerFn eager) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .lowering = lowering,
          .infer = infer,
          .eager = eager};
}

// Rows of ops that loops of the library compute.
constexpr OpRow direct_row(const char* name, const char* schema,
                           const char* names, InferFn infer, DirectFn direct,
                           Purity purity = Purity::pure) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .infer = infer,
          .purity = purity,
          .direct = direct};
}

// Rows of ops that have an eager function, and of those that make tensors.
constexpr OpRow made_row(const char* name, const char* schema,
                         const char* names, InferFn infer, EagerFn eager,
                         DecomposeFn decompose = nullptr) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .infer = infer,
          .eager = eager,
          .decompose = decompose};
}

// Compositions that patterns are to see.
constexpr OpRow inlined_row(const char* name, const char* schema,
                            const char* names, DecomposeFn decompose,
                            Purity purity = Purity::pure) {
  OpRow row = composed_row(name, schema, names, decompose, purity);
  row.lowering = Lowering::inlined;
  return row;
}

// Calls fn(std::type_identity<T>{}) with float, double or int64_t.
template <typename Fn>
decltype(auto) visit_kernel_dtype(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::f32:
      return fn(std::type_identity<float>{});
    case DType::f64:
      return fn(std::type_identity<double>{});
    case DType::i64:
      return fn(std::type_identity<int64_t>{});
    default:
      throw InternalError(concat("visit_kernel_dtype: ", dtype_name(dtype)));
  }
}

// Calls fn(std::type_identity<U>{}) with an unsigned type of the element's
// size: for kernels that only move elements.
template <typename Fn>
decltype(auto) visit_element_size(DType dtype, Fn&& fn) {
  switch (dtype_size(dtype)) {
    case 1:
      return fn(std::type_identity<uint8_t>{});
    case 2:
      return fn(std::type_identity<uint16_t>{});
    case 4:
      return fn(std::type_identity<uint32_t>{});
    case 8:
      return fn(std::type_identity<uint64_t>{});
    default:
      throw InternalError(concat("visit_element_size: ", dtype_name(dtype)));
  }
}

// Calls fn(offsets) for each position along `outer`, in row-major order.
template <int N, typename Fn>
void for_each_point(const Dims& outer, const std::array<Dims, N>& strides,
                    Fn&& fn) {
  if (numel(outer) == 0) return;
  std::array<int64_t, N> offsets{};
  Dims index(outer.size(), 0);
  while (true) {
    fn(offsets);
    int d = outer.size() - 1;
    for (; d >= 0; --d) {
      for (int k = 0; k < N; ++k) offsets[k] += strides[k][d];
      if (++index[d] < outer[d]) break;
      for (int k = 0; k < N; ++k) offsets[k] -= strides[k][d] * outer[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace fxjit::ops
