// Products of 8-bit integers by constant matrices become contractions of the
// integers as they are; what zero points add to the sums is elementwise:
//
//   sum (x - p) (w - q) = sum xw - p sum w - (sum x - K p) q
#include <algorithm>

#include "fxjit/functions.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/integers.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

bool all_zero(const Tensor& tensor) {
  const Tensor wide = tensor.to(DType::i32).contiguous();
  const int32_t* const numbers = wide.data_as<int32_t>();
  return std::all_of(numbers, numbers + wide.numel(),
                     [](int32_t x) { return x == 0; });
}

bool is_nothing(const GraphBuilder& b, const Value& zero) {
  if (zero.is_none()) return true;
  const Tensor* const known = b.constant_of(zero);
  return known && all_zero(*known);
}

Value wide(GraphBuilder& b, const Value& x) {
  return call(b, "cast", {x, DType::i32});
}

// Sums along `dim` of the integers, in 32 bits; those of constants are known.
Value sums_along(GraphBuilder& b, const Value& x, int64_t dim, bool keep) {
  const ops::Op& sum = ops::get_op("sum");
  const auto sums_of = [&](const Value& numbers) {
    const ValueList args{numbers, dim, keep};
    return ops::bind(sum, args, {{"dtype", DType::i32}});
  };
  if (const Tensor* const known = b.constant_of(x)) {
    const ValueList args = sums_of(known->to(DType::i32));
    return b.constant(ops::run_eager({sum, args}).as_tensor(), true);
  }
  return b.call(sum, sums_of(wide(b, x)));
}

}  // namespace

bool is_byte(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }

Value without_zeros(GraphBuilder& b, const Value& sums, const IntegerFactor& x,
                    const IntegerFactor& w) {
  Value result = sums;
  const Value p = is_nothing(b, x.zero) ? Value() : wide(b, x.zero);
  if (!p.is_none()) {
    const Value columns = sums_along(b, w.numbers, 0, false);
    result = call(b, "sub", {result, call(b, "mul", {p, columns})});
  }
  if (is_nothing(b, w.zero)) return result;
  Value rows = sums_along(b, x.numbers, -1, true);
  if (!p.is_none()) {
    const int64_t depth = val_of(x.numbers).size(-1);
    rows = call(b, "sub", {rows, call(b, "mul", {p, depth})});
  }
  return call(b, "sub", {result, call(b, "mul", {rows, wide(b, w.zero)})});
}

IntegerFactor without_zero(GraphBuilder& b, const IntegerFactor& factor) {
  if (is_nothing(b, factor.zero)) return {factor.numbers, {}};
  const Tensor* const zero = b.constant_of(factor.zero);
  if (!zero) return factor;
  const Tensor centred = (Value(b.constant_of(factor.numbers)->to(DType::i32)) -
                          Value(zero->to(DType::i32)))
                             .as_tensor()
                             .contiguous();
  const int32_t* const numbers = centred.data_as<int32_t>();
  const bool fits =
      std::all_of(numbers, numbers + centred.numel(),
                  [](int32_t x) { return x >= -128 && x <= 127; });
  if (!fits) return factor;
  return {b.constant(centred.to(DType::i8), true), {}};
}

Value short_sums(GraphBuilder& b, const Value& x, const Value& w) {
  const int rank = val_of(w).dim();
  if (rank == 2)
    return b.call(contract_op(), {addressable(b, x, 0), Value::list({w})});
  const Dims batch = broadcast_shapes(leading_of(x), leading_of(w));
  const Value lhs = expand_leading(b, x, batch);
  Value rhs = expand_leading(b, w, batch);
  const Tensor val = val_of(rhs);
  if (uniform_stride(val.sizes(), val.strides(), 0, batch.size()) < 0)
    rhs = b.call(materialize_op(), {rhs});
  return b.call(contract_op(),
                {addressable(b, lhs, batch.size()), Value::list({rhs})});
}

namespace {

// Integers of 8 bits without their zero point: nine bits.
Value short_factor(GraphBuilder& b, const Value& x, const Value& zero) {
  const Value wide = call(b, "cast", {x, DType::i16});
  if (is_nothing(b, zero)) return wide;
  return call(b, "sub", {wide, call(b, "cast", {zero, DType::i16})});
}

}  // namespace

// Weights stay as they are where i8 holds them without their zero points.
Value lower_weight_product(GraphBuilder& b, const ops::Op&,
                           const ValueList& args) {
  const IntegerFactor weight = without_zero(b, {args[1], args[2]});
  const bool fits = weight.zero.is_none() &&
                    val_of(weight.numbers).dtype() == DType::i8 &&
                    b.constant_of(weight.numbers);
  if (!fits) {
    const Value one = b.constant(Tensor::full({}, 1.0f), true);
    return call(
        b, "matmul",
        {args[0], call(b, "fxjit.dequantize", {args[1], one, args[2]})});
  }
  return b.call(contract_op(),
                {addressable(b, args[0], 0), Value::list({weight.numbers})});
}

Value lower_blocked_product(GraphBuilder& b, const ops::Op&,
                            const ValueList& args) {
  const auto known = [&](const Value& each) {
    return each.is_none() || b.constant_of(each) != nullptr;
  };
  const Tensor x = val_of(args[0]);
  if (!known(args[1]) || !known(args[2]) || !known(args[3]) ||
      x.dtype() != DType::f32 || x.dim() < 2)
    return {};
  return b.call(contract_op(),
                {addressable(b, args[0], 0),
                 Value::list(ValueList(args.begin() + 1, args.end()))});
}

Value lower_integer_matmul(GraphBuilder& b, const ops::Op&,
                           const ValueList& args) {
  const Value &x = args[0], &w = args[1];
  const bool bytes = is_byte(val_of(x).dtype()) && is_byte(val_of(w).dtype()) &&
                     val_of(x).dim() >= 2 && val_of(w).dim() >= 2 &&
                     val_of(x).size(-1) > 0;
  if (!bytes) return {};
  if (!b.constant_of(w) || val_of(w).dim() != 2)
    return short_sums(b, short_factor(b, x, args[2]),
                      short_factor(b, w, args[3]));
  const IntegerFactor weight = without_zero(b, {w, args[3]});
  const Value sums = b.call(contract_op(), {with_last_dim_dense(b, x),
                                            Value::list({weight.numbers})});
  return without_zeros(b, sums, {x, args[2]}, weight);
}

}  // namespace fxjit::passes
