#include "tests/compile/graph_writes.h"

#include <algorithm>
#include <cmath>

namespace fxjit::testing {

// Mostly a view of something, made for the purpose.
Item WritingCalls::target() {
  if (chance(0.3)) return any();
  for (int tries = 0; tries < 8; ++tries) {
    const size_t before = items_.size();
    const bool made = chance(0.3) ? pieces() : chance(0.2) ? alias() : view();
    if (!made || items_.size() == before) continue;
    if (items_.back().view && items_.back().value.numel() > 0)
      return items_[before + static_cast<size_t>(pick(static_cast<int64_t>(
                                 items_.size() - before)))];
  }
  return any();
}

bool WritingCalls::write_something() {
  const Item x = target();
  if (chance(0.1)) return write_whole(x);
  if (chance(0.2)) return write_items(x);
  if (!is_float(x.value)) return write_others(x);
  switch (pick(6)) {
    case 0:
    case 1:
      return write_alone(x);
    case 2:
    case 3:
      return write_with(x);
    case 4:
      return write_as_flagged(x);
    default:
      return write_picked(x);
  }
}

bool WritingCalls::write_alone(const Item& x) {
  const auto below = [&](double bound) {
    return all_of(x.value, [=](double v) { return std::abs(v) < bound; });
  };
  switch (pick(7)) {
    case 0:
      return write(one_of({"relu_", "neg_", "abs_", "square_"}), {x.node});
    case 1:
      return write(one_of({"sigmoid_", "tanh_", "erf_"}), {x.node});
    case 2:
      return below(4) &&
             write(one_of({"exp_", "expm1_", "sin_", "cos_"}), {x.node});
    case 3:
      return all_of(x.value, [](double v) { return v > 0.1; }) &&
             write(one_of({"sqrt_", "rsqrt_", "log_", "log1p_"}), {x.node});
    case 4:
      return write(".clamp_", {x.node, -0.5, chance(0.5) ? Value(1.25) : None});
    case 5:
      return !depends_on_rounding(x) && far_from_integers(x.value, 0) &&
             far_from_integers(x.value, 0.5) &&
             write(one_of({"floor_", "ceil_", "round_", "trunc_"}), {x.node});
    default:
      if (x.value.dim() == 0) return false;
      if (x.value.dim() > 1 && chance(0.6))
        return write(one_of({"tril_", "triu_"}), {x.node, pick(3) - 1});
      return write(".cumsum_", {x.node, random_dim(x.value)});
  }
}

Value WritingCalls::operand(const Item& x) {
  if (chance(0.4)) return chance(0.5) ? Value(0.75) : Value(pick(4) - 1);
  for (int tries = 0; tries < 4; ++tries) {
    const Item y = any();
    try {
      if (broadcast_shapes(x.value.sizes(), y.value.sizes()) == x.value.sizes())
        return y.node;
    } catch (const Error&) {
      // Another one, then.
    }
  }
  Dims sizes = x.value.sizes();
  for (Size& size : sizes)
    if (chance(0.3)) size = 1;
  while (!sizes.empty() && chance(0.2)) sizes.erase(0);
  return input_or_constant(sizes).node;
}

bool WritingCalls::write_with(const Item& x) {
  switch (pick(6)) {
    case 0:
    case 1:
      return write(one_of({"add_", "sub_", "mul_"}), {x.node, operand(x)});
    case 2:
      return write(one_of({".div_", ".pow_"}), {x.node, 2});
    case 3: {
      const Value y = operand(x), z = operand(x);
      if (!y.is_node() || !z.is_node()) return false;
      const bool mixed = values_of(y).as_tensor().dtype() != x.value.dtype();
      return mixed ? write(".addcmul_", {x.node, y, z})
                   : write(".lerp_", {x.node, y, 0.25});
    }
    case 4:
      return !depends_on_rounding(x) && far_from_zero(x.value) &&
             call(".gt", {x.node, 0}) &&
             write(".masked_fill_", {x.node, items_.back().node, -1.5});
    default:
      return write(".add_", {x.node, operand(x)}, {{"alpha", 2}});
  }
}

bool WritingCalls::write_as_flagged(const Item& x) {
  if (chance(0.2))
    return write("F.dropout", {x.node, 0.5, false}, {{"inplace", true}});
  return write(one_of({"F.relu", "F.leaky_relu", "F.elu", "F.silu",
                       "F.hardtanh", "F.hardswish", "F.relu6"}),
               {x.node}, {{"inplace", true}});
}

bool WritingCalls::write_whole(const Item& x) {
  switch (pick(4)) {
    case 0:
      return write(".zero_", {x.node});
    case 1:
      return write(".fill_", {x.node, 1});
    default: {
      const Value from = operand(x);
      return from.is_node() && write(".copy_", {x.node, from});
    }
  }
}

Value WritingCalls::random_index(const Item& x) {
  ValueList parts;
  if (chance(0.1)) return Ellipsis;
  for (int d = 0; d < x.value.dim(); ++d) {
    const int64_t size = x.value.sizes()[d];
    if (chance(0.3)) break;
    if (chance(0.1)) parts.push_back(None);
    if (size > 0 && chance(0.3))
      parts.push_back(pick(size) - (chance(0.3) ? size : 0));
    else
      parts.push_back(Value::slice(chance(0.4) ? Value(pick(2)) : None,
                                   chance(0.3) ? Value(-1) : None,
                                   chance(0.2) ? Value(2) : None));
  }
  if (parts.empty()) return Value::slice(None, None);
  return parts.size() == 1 && chance(0.5) ? parts[0]
                                          : Value::tuple(std::move(parts));
}

bool WritingCalls::write_items(const Item& x) {
  const bool chosen = chance(0.25) && is_float(x.value) &&
                      !depends_on_rounding(x) && far_from_zero(x.value);
  if (chosen)
    return call(".lt", {x.node, 0}) &&
           write("_operator.setitem", {x.node, items_.back().node, 0.5});
  const Value index = random_index(x);
  if (x.value.dim() == 0 && !index.is_ellipsis()) return false;
  // torch refuses negative numbers where none fit.
  const bool natural = x.value.dtype() == DType::u8;
  if (chance(0.5))
    return write(
        "_operator.setitem",
        {x.node, index, natural || chance(0.5) ? Value(2) : Value(-0.25)});
  // A value of the size of what it replaces, or one that is spread.
  const Value part = ops::call_method("__getitem__", {x.value, index});
  Dims sizes = part.as_tensor().sizes();
  for (Size& size : sizes)
    if (chance(0.2)) size = 1;
  return write("_operator.setitem",
               {x.node, index, input_or_constant(sizes).node});
}

bool WritingCalls::write_picked(const Item& x) {
  if (x.value.dim() == 0) return false;
  const int64_t dim = random_dim(x.value), size = x.value.size(dim);
  if (size == 0) return false;
  const Item index = add_input(random_indices({1}, size, DType::i64));
  Dims sizes = x.value.sizes();
  sizes[wrap_dim(dim, x.value.dim())] = 1;
  switch (pick(4)) {
    case 0:
      return write(".index_fill_", {x.node, dim, index.node, 0.5});
    case 1:
      return x.value.dtype() == DType::f32 &&
             write(
                 one_of({".index_add_", ".index_copy_"}),
                 {x.node, dim, index.node, add_input(sizes, DType::f32).node});
    case 2:
      return write(
          ".scatter_",
          {x.node, dim, add_input(random_indices(sizes, size, DType::i64)).node,
           0.25});
    default:
      return x.value.dtype() == DType::f32 &&
             write(".scatter_add_",
                   {x.node, dim,
                    add_input(random_indices(sizes, size, DType::i64)).node,
                    add_input(sizes, DType::f32).node});
  }
}

bool WritingCalls::write_others(const Item& x) {
  if (x.value.dtype() == DType::boolean)
    return write(one_of({".logical_not_", ".bitwise_not_"}), {x.node});
  switch (pick(3)) {
    case 0:
      return write(one_of({".add_", ".sub_", ".mul_"}), {x.node, pick(3)});
    case 1:
      return write(".clamp_", {x.node, 0, 5});
    default:
      return write(one_of({".neg_", ".abs_"}), {x.node});
  }
}

}  // namespace fxjit::testing
