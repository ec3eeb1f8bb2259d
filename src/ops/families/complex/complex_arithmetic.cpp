// Arithmetic with complex tensors as arithmetic with real and imaginary parts.
#include <string>
#include <utility>

#include "src/ops/families/complex/complex_functions.h"
#include "src/ops/families/complex/complex_parts.h"
#include "src/ops/table/promote.h"

namespace fxjit::ops {
namespace {

// The dtype of a result of two operands.
DType result_dtype(const OpCall& call) {
  Promotion promotion;
  for (size_t i = 0; i < 2; ++i)
    promotion.add(is_tensor(call[i]) ? Value(meta_of(call[i])) : call[i]);
  return *promotion.result();
}

// Real and imaginary part of an operand; of a number or a real tensor the
// latter is the number 0, which takes part as it does in torch: 0 * infinity is
// NaN, and -0 + 0 is 0.
struct Parts {
  Value re, im;
};

Parts parts_of(const Value& value, DType part) {
  if (!is_tensor(value)) return {value, 0.0};
  if (!is_complex_tensor(value)) return {cast_to(value, part), 0.0};
  return {cast_to(real_of(value), part), cast_to(imag_of(value), part)};
}

Value operand(const Value& value, DType dtype) {
  return as_complex(
      is_tensor(value) ? value : fxjit::full(Dims{}, value, part_type(dtype)),
      dtype);
}

Parts product(const Parts& a, const Parts& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

Value mul(const OpCall& call) {
  const DType part = part_type(result_dtype(call));
  const Parts made = product(parts_of(call[0], part), parts_of(call[1], part));
  return complex_of(made.re, made.im);
}

Value div(const OpCall& call) {
  if (call.has(2))
    throw NotImplementedError("div: complex numbers are not rounded");
  const DType dtype = result_dtype(call);
  return complex_quotient(operand(call[0], dtype), operand(call[1], dtype));
}

// Operands of a sum, the second multiplied by alpha or, for a difference, by
// -alpha: complex numbers even where they are 1 and -1, 0 * infinity is NaN.
std::pair<Parts, Parts> summands(const OpCall& call, size_t first,
                                 size_t second, int sign) {
  const DType part = part_type(result_dtype(call));
  return {parts_of(call[first], part),
          product(parts_of(call[second], part), {call[2] * sign, 0.0})};
}

// Imaginary parts that come from one operand alone may have fewer dims.
Value sum_of(const Value& re, const Value& im) {
  const Dims& sizes = meta_of(re).sizes();
  return complex_of(
      re, meta_of(im).sizes() == sizes ? im : fxjit::expand(im, sizes));
}

// The sum where torch has no alpha.
Value plain_sum(const Value& x, const Value& y) {
  const DType part =
      part_type(promote_types(meta_of(x).dtype(), meta_of(y).dtype()));
  const Parts a = parts_of(x, part), b = parts_of(y, part);
  return sum_of(a.re + b.re, a.im + b.im);
}

template <size_t kFirst, size_t kSecond, int kSign>
Value sum(const OpCall& call) {
  const auto [a, b] = summands(call, kFirst, kSecond, kSign);
  return sum_of(a.re + b.re, a.im + b.im);
}

Value map(const OpCall& call) { return complex_map(call[0], call.op.name()); }

Value square(const OpCall& call) { return call[0] * call[0]; }

// torch has other functions for some exponents.
Value pow(const OpCall& call) {
  const DType dtype = result_dtype(call);
  const Value base = operand(call[0], dtype);
  const auto is = [&](double number) { return same(call[1], number); };
  if (is(0)) return function("torch.ones_like", {base});
  if (is(1)) return method(base, "clone");
  if (is(2)) return base * base;
  if (is(3)) return base * base * base;
  if (is(0.5)) return complex_map(base, "sqrt");
  if (is(-0.5)) return complex_map(base, "rsqrt");
  if (is(-1)) return complex_map(base, "reciprocal");
  if (is(-2)) return complex_map(base * base, "reciprocal");
  return complex_power(base, operand(call[1], dtype));
}

// The call on real parts and on imaginary parts, each with all other arguments:
// of rows that only move elements, add them or look at each.
Parts each_part(const OpCall& call) {
  const auto with = [&](Value (*part)(const Value&)) {
    ValueList args;
    for (const Value& arg : call.args)
      args.push_back(map_leaves(arg, [&](const Value& leaf) {
        return is_complex_tensor(leaf) ? part(leaf) : leaf;
      }));
    return call_op(call.op, args);
  };
  return {with(real_of), with(imag_of)};
}

Value by_parts(const OpCall& call) {
  const Parts made = each_part(call);
  return complex_of(made.re, made.im);
}

// The arguments of a row with a parameter `dtype`, to which the input is cast.
ValueList cast_first(const OpCall& call) {
  ValueList args(call.args.begin(), call.args.end());
  const size_t at = index_of(call, "dtype");
  if (call.has(at)) args[0] = cast_to(args[0], call[at].as_dtype());
  args[at] = None;
  return args;
}

Value typed_by_parts(const OpCall& call) {
  const ValueList args = cast_first(call);
  return by_parts({call.op, args, call.source, call.node});
}

Value cumprod(const OpCall& call) {
  const Value input = cast_first(call)[0];
  const int rank = meta_of(input).dim(), axis = dim_arg(call, 1, rank);
  return rank == 0 ? method(input, "clone")
                   : complex_running_product(input, axis);
}

Value prod(const OpCall& call) {
  Value input = cast_first(call)[0];
  const bool whole = !call.has(1);
  if (whole) input = fxjit::flatten(input);
  const int rank = meta_of(input).dim();
  const int axis = whole ? 0 : dim_arg(call, 1, rank);
  if (rank == 0) return method(input, "clone");
  const Value made = complex_product(input, axis);
  return !whole && call.flag(2) ? made : fxjit::squeeze(made, axis);
}

// x @ y as four products of real tensors.
Value products(const OpCall& call, std::string_view row, size_t first) {
  const Value &x = call[first], &y = call[first + 1];
  const DType dtype = meta_of(x).dtype();
  if (dtype != meta_of(y).dtype())
    runtime_error("expected both factors to have the same dtype, but got: ",
                  cpp_type_name(dtype),
                  " != ", cpp_type_name(meta_of(y).dtype()));
  const Value x_re = real_of(x), x_im = imag_of(x);
  const Value y_re = real_of(y), y_im = imag_of(y);
  return complex_of(call_row(row, {x_re, y_re}) - call_row(row, {x_im, y_im}),
                    call_row(row, {x_re, y_im}) + call_row(row, {x_im, y_re}));
}

Value matmul(const OpCall& call) { return products(call, call.op.name(), 0); }

Value linear(const OpCall& call) {
  const Value made = products(call, "linear", 0);
  return call.has(2) ? plain_sum(made, call[2]) : made;
}

// beta * input + alpha * a product that this row is.
Value added(const OpCall& call, std::string_view row) {
  const Value made = products(call, row, 1);
  const auto scaled = [&](const Value& value, const Value& factor) {
    return same(factor, 1) ? value : value * factor;
  };
  const Value product = scaled(made, call[4]);
  return same(call[3], 0) ? product
                          : plain_sum(scaled(call[0], call[3]), product);
}

Value addmm(const OpCall& call) { return added(call, "mm"); }
Value baddbmm(const OpCall& call) { return added(call, "bmm"); }

Value addcmul(const OpCall& call) {
  return plain_sum(call[0], call[1] * call[3] * call[2]);
}

Value addcdiv(const OpCall& call) {
  return plain_sum(call[0], call[1] * call[3] / call[2]);
}

Value where(const OpCall& call) {
  Promotion promotion;
  for (size_t i = 1; i < 3; ++i)
    promotion.add(is_tensor(call[i]) ? Value(meta_of(call[i])) : call[i]);
  const DType dtype = *promotion.result();
  const Value a = operand(call[1], dtype), b = operand(call[2], dtype);
  return complex_of(fxjit::where(call[0], real_of(a), real_of(b)),
                    fxjit::where(call[0], imag_of(a), imag_of(b)));
}

Value masked_fill(const OpCall& call) {
  const Value value = operand(call[2], meta_of(call[0]).dtype());
  return complex_of(fxjit::where(call[1], real_of(value), real_of(call[0])),
                    fxjit::where(call[1], imag_of(value), imag_of(call[0])));
}

template <bool kEqual>
Value compare(const OpCall& call) {
  const DType part = part_type(result_dtype(call));
  const Parts a = parts_of(call[0], part), b = parts_of(call[1], part);
  return kEqual ? fxjit::eq(a.re, b.re) & fxjit::eq(a.im, b.im)
                : fxjit::ne(a.re, b.re) | fxjit::ne(a.im, b.im);
}

Value either_part(const OpCall& call) {
  const Parts found = each_part(call);
  return found.re | found.im;
}

Value both_parts(const OpCall& call) {
  const Parts found = each_part(call);
  return found.re & found.im;
}

// The row's call on real numbers: whether elements are not 0, their sizes.
template <Value (*kReal)(const Value&)>
Value of_real(const OpCall& call) {
  ValueList args(call.args.begin(), call.args.end());
  args[0] = kReal(call[0]);
  return call_op(call.op, args);
}

Value negated(const OpCall& call) {
  return fxjit::logical_not(truth_of(call[0]));
}

Value var(const OpCall& call) {
  const Parts spread = each_part(call);
  return spread.re + spread.im;
}

Value std(const OpCall& call) {
  const Parts spread = each_part(call);
  return fxjit::sqrt(spread.re * spread.re + spread.im * spread.im);
}

// Rows that fill a tensor like another.
Value like(const OpCall& call) {
  const size_t at = index_of(call, "dtype");
  const DType dtype = dtype_arg(call, at, meta_of(call[0]).dtype());
  ValueList args(call.args.begin(), call.args.end());
  args[0] = real_of(call[0]);
  args[at] = part_type(dtype);
  const Value made = call_op(call.op, args);
  return is_complex(dtype) ? as_complex(made, dtype) : made;
}

constexpr ComplexForm kArithmetic[] = {
    {"acos", map},
    {"acosh", map},
    {"add", sum<0, 1, 1>},
    {"addcdiv", addcdiv},
    {"addcmul", addcmul},
    {"addmm", addmm},
    {"all", of_real<truth_of>},
    {"any", of_real<truth_of>},
    {"asin", map},
    {"asinh", map},
    {"atan", map},
    {"atanh", map},
    {"baddbmm", baddbmm},
    {"bmm", matmul},
    {"constant_pad_nd", by_parts},
    {"cos", map},
    {"cosh", map},
    {"cumprod", cumprod},
    {"cumsum", typed_by_parts},
    {"diag", by_parts},
    {"diag_embed", by_parts},
    {"diagonal_scatter", by_parts},
    {"div", div},
    {"dot", matmul},
    {"embedding", by_parts},
    {"empty_like", like},
    {"eq", compare<true>},
    {"exp", map},
    {"exp2", map},
    {"expm1", map},
    {"full_like", like},
    {"gather", by_parts},
    {"index", by_parts},
    {"index_add", by_parts},
    {"index_copy", by_parts},
    {"index_put", by_parts},
    {"isfinite", both_parts},
    {"isinf", either_part},
    {"isnan", either_part},
    {"linalg_vector_norm", of_real<magnitude_of>},
    {"linear", linear},
    {"log", map},
    {"log10", map},
    {"log1p", map},
    {"log2", map},
    {"logical_not", negated},
    {"masked_fill", masked_fill},
    {"masked_select", by_parts},
    {"matmul", matmul},
    {"mean", typed_by_parts},
    {"mm", matmul},
    {"mul", mul},
    {"mv", matmul},
    {"ne", compare<false>},
    {"norm", of_real<magnitude_of>},
    {"ones_like", like},
    {"pad", by_parts},
    {"pow", pow},
    {"prod", prod},
    {"reciprocal", map},
    {"repeat", by_parts},
    {"repeat_interleave", by_parts},
    {"rsqrt", map},
    {"rsub", sum<1, 0, -1>},
    {"scatter", by_parts},
    {"scatter_add", by_parts},
    {"select_scatter", by_parts},
    {"sigmoid", map},
    {"sign", map},
    {"silu", map},
    {"sin", map},
    {"sinc", map},
    {"sinh", map},
    {"slice_scatter", by_parts},
    {"sqrt", map},
    {"square", square},
    {"std", std},
    {"sub", sum<0, 1, -1>},
    {"sum", typed_by_parts},
    {"take", by_parts},
    {"take_along_dim", by_parts},
    {"tan", map},
    {"tanh", map},
    {"tile", by_parts},
    {"trace", by_parts},
    {"tril", by_parts},
    {"triu", by_parts},
    {"var", var},
    {"where", where},
    {"new_empty", like},
    {"new_full", like},
    {"new_ones", like},
    {"new_zeros", like},
    {"zeros_like", like},
};

}  // namespace

std::span<const ComplexForm> arithmetic_forms() { return kArithmetic; }

}  // namespace fxjit::ops
