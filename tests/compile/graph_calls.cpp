#include "tests/compile/graph_calls.h"

#include <algorithm>
#include <cmath>

namespace fxjit::testing {

bool PureCalls::unary() {
  const Item x = any_float();
  switch (pick(8)) {
    case 0:
      return call(one_of({"neg", "abs", "square", "relu", "clone"}), {x.node});
    case 1:
      if (all_of(x.value, [](double v) { return std::abs(v) < 8; }) &&
          chance(0.4))
        return call(one_of({"sin", "cos"}), {x.node});
      return call(one_of({"tanh", "sigmoid", "erf"}), {x.node});
    case 2:
      return call(one_of({"gelu", "silu", "softplus", "mish", "elu", "selu",
                          "hardswish", "leaky_relu", "log_sigmoid"}),
                  {x.node});
    case 3:
      return all_of(x.value, [](double v) { return v < 4; }) &&
             call(one_of({"exp", "expm1", "exp2"}), {x.node});
    case 4:
      return all_of(x.value, [](double v) { return v > 0.1; }) &&
             call(one_of({"log", "sqrt", "rsqrt", "log1p"}), {x.node});
    case 5:
      return far_from_zero(x.value) && call("reciprocal", {x.node});
    case 6: {
      const char* name = one_of({"floor", "ceil", "round", "trunc"});
      return !depends_on_rounding(x) && far_from_integers(x.value, 0) &&
             far_from_integers(x.value, 0.5) && call(name, {x.node});
    }
    default:
      return call("clamp", {x.node, -0.5, chance(0.5) ? Value(1.25) : None});
  }
}

bool PureCalls::binary() {
  const Item x = any();
  const Value scalar = chance(0.3) ? Value(pick(5) - 2) : Value(0.75);
  if (chance(0.3))
    return call(one_of({"add", "sub", "mul", "rsub"}), {x.node, scalar});
  const Item y = partner(x);
  switch (pick(7)) {
    case 0:
      return is_float(y.value) && far_from_zero(y.value) &&
             call("div", {x.node, y.node});
    case 1:
      return call(one_of({"maximum", "minimum"}), {x.node, y.node});
    case 2:
      return is_float(x.value) && is_float(y.value) &&
             call("addcmul", {x.node, y.node, partner(x).node});
    case 3:
      return is_float(x.value) && x.value.dtype() == y.value.dtype() &&
             call("lerp",
                  {x.node, y.node, chance(0.5) ? Value(0.75) : Value(x.node)});
    default:
      return call(one_of({"add", "sub", "mul"}), {x.node, y.node});
  }
}

bool PureCalls::reduce() {
  const Item x = any();
  if (x.value.dtype() == DType::boolean)
    return call(one_of({"any", "all", "sum"}),
                {x.node, random_dims(x.value), chance(0.5)});
  if (chance(0.15) && is_float(x.value))
    return call("var", {x.node, random_dims(x.value), 0});
  if (chance(0.1) && is_float(x.value))
    return call("logsumexp", {x.node, random_dim(x.value), chance(0.5)});
  return call(one_of({"sum", "sum", "mean", "mean", "amax", "amin"}),
              {x.node, random_dims(x.value), chance(0.5)});
}

bool PureCalls::norm() {
  const Item x = any_float();
  if (x.value.dim() == 0) return false;
  const int64_t last = x.value.size(-1);
  switch (pick(5)) {
    case 0:
      return call("softmax", {x.node, random_dim(x.value)});
    case 1:
      return call("log_softmax", {x.node, random_dim(x.value)});
    case 2:
      return x.value.dtype() == DType::f32 && last > 1 &&
             call("rms_norm", {x.node, Value::list({last}),
                               add_constant({last}).node, 1e-2});
    case 3:
      return call("normalize", {x.node, 2.0, random_dim(x.value), 1e-2});
    default:
      // A variance near zero magnifies what rounding left of it.
      return x.value.dtype() == DType::f32 && last > 1 &&
             call(
                 "layer_norm",
                 {x.node, Value::list({last}), add_constant({last}).node,
                  chance(0.5) ? Value(add_constant({last}).node) : None, 1e-1});
  }
}

bool PureCalls::product() {
  const Item x = any_float();
  if (x.value.dim() == 0 || x.value.dtype() != DType::f32) return false;
  const int64_t depth = x.value.size(-1);
  const int64_t columns = random_size();
  switch (pick(5)) {
    case 0:
    case 1: {
      const Value bias =
          chance(0.6) ? Value(input_or_constant({columns}).node) : None;
      return call("linear",
                  {x.node, input_or_constant({columns, depth}).node, bias});
    }
    case 2:
      return call("matmul", {x.node, input_or_constant({depth, columns}).node});
    case 3: {
      if (x.value.dim() < 2) return false;
      Dims sizes = x.value.sizes();
      sizes[sizes.size() - 2] = depth;
      sizes[sizes.size() - 1] = columns;
      return call("matmul", {x.node, add_input(sizes, DType::f32).node});
    }
    default:
      return attention(x);
  }
}

bool PureCalls::attention(const Item& x) {
  if (x.value.dim() < 3 || x.value.dim() > 4 || x.value.numel() == 0)
    return false;
  Dims keys = x.value.sizes();
  keys[keys.size() - 2] = std::max<int64_t>(1, random_size());
  const Item k = add_input(keys, DType::f32), v = add_input(keys, DType::f32);
  if (chance(0.5))
    return call(
        "scaled_dot_product_attention",
        {x.node, k.node, v.node, None, 0.0, !case_.special && chance(0.3)});
  return call("transpose", {k.node, -2, -1}) &&
         call("matmul", {x.node, items_.back().node}) &&
         call("mul", {items_.back().node, 0.5}) &&
         call("softmax", {items_.back().node, -1}) &&
         call("matmul", {items_.back().node, v.node});
}

bool PureCalls::view() {
  const Item x = any();
  const int rank = x.value.dim();
  switch (pick(12)) {
    case 0:
    case 1:
      return call("reshape", {x.node, random_factors(x.value.numel())});
    case 2: {
      std::vector<int64_t> order(static_cast<size_t>(rank));
      for (int d = 0; d < rank; ++d) order[static_cast<size_t>(d)] = d;
      std::shuffle(order.begin(), order.end(), random_);
      return call("permute", {x.node, Dims(order)});
    }
    case 3:
      return rank > 1 && call("transpose", {x.node, random_dim(x.value),
                                            random_dim(x.value)});
    case 4:
      if (rank == 0) return false;
      return call("aten.slice.Tensor",
                  {x.node, random_dim(x.value), pick(3), None, 1 + pick(2)});
    case 5:
      return rank > 0 && call("select", {x.node, random_dim(x.value),
                                         chance(0.5) ? 0 : -1});
    case 6: {
      Dims sizes = x.value.sizes();
      for (Size& size : sizes)
        if (size == 1) size = 1 + pick(4);
      if (sizes.size() < 4 && chance(0.5)) sizes.insert(0, 1 + pick(3));
      return call("expand", {x.node, sizes});
    }
    case 7:
      return rank < 4 && call("unsqueeze", {x.node, pick(rank + 1)});
    case 8:
      return call("squeeze", {x.node});
    case 9:
      return call(one_of({"contiguous", "flatten"}), {x.node});
    case 10:
      return join(x);
    default:
      return rank > 1 && call(one_of({"tril", "triu"}), {x.node, pick(3) - 1});
  }
}

// Work on a value with its dims in another order: what it gives lies in that
// order too, and whether it is viewed or copied follows from that.
bool PureCalls::turned() {
  const Item x = any();
  const int rank = x.value.dim();
  if (rank < 2) return false;
  std::vector<int64_t> order(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) order[static_cast<size_t>(d)] = d;
  std::shuffle(order.begin(), order.end(), random_);
  if (!call("permute", {x.node, Dims(order)})) return false;
  for (int64_t calls = 1 + pick(2); calls > 0; --calls) {
    const Item y = items_.back();
    switch (pick(5)) {
      case 0:
        if (!call("clone", {y.node})) return false;
        break;
      case 1:
        if (!call("mul", {y.node, 0.75})) return false;
        break;
      case 2:
        if (!call("neg", {y.node})) return false;
        break;
      default:
        if (const Item z = partner(y);
            !call("add", chance(0.5) ? ValueList{y.node, z.node}
                                     : ValueList{z.node, y.node}))
          return false;
    }
  }
  const Item y = items_.back();
  switch (pick(5)) {
    case 0:
      return call(".contiguous", {y.node});
    case 1:
      return call("flatten", {y.node});
    case 2:
      return call("ravel", {y.node});
    case 3:
      return call("reshape", {y.node, random_factors(y.value.numel())});
    default:
      return true;
  }
}

bool PureCalls::join(const Item& x) {
  const Item y = any();
  if (chance(0.3))
    return call("stack", {Value::list({x.node, x.node}), pick(2)});
  return call("cat", {Value::list({x.node, y.node}), random_dim(x.value)});
}

bool PureCalls::choose() {
  const Item x = any_float(), y = partner(x);
  if (depends_on_rounding(x) || depends_on_rounding(y)) return false;
  const char* compare = one_of({"lt", "le", "gt", "ge", "eq", "ne"});
  if (!apart(x.value, y.value)) return false;
  if (!call(compare, {x.node, y.node})) return false;
  const Item mask = items_.back();
  if (chance(0.4)) return true;
  if (chance(0.3)) return call("masked_fill", {x.node, mask.node, -1.5});
  return call("where", {mask.node, x.node, chance(0.5) ? Value(y.node) : 0.0});
}

bool PureCalls::pick_rows() {
  const DType type = chance(0.7) ? DType::i64 : DType::i32;
  const int64_t rows = 1 + pick(9);
  const Item table = input_or_constant({rows, 1 + pick(20)});
  Dims sizes = random_sizes();
  if (sizes.size() > 2) sizes.resize(2);
  const Item index = add_input(random_indices(sizes, rows, type));
  if (chance(0.6)) return call("embedding", {index.node, table.node});
  const Item x = any();
  if (x.value.dim() == 0) return false;
  const int64_t dim = random_dim(x.value);
  if (x.value.size(dim) == 0) return false;
  return call(
      "index_select",
      {x.node, dim,
       add_input(random_indices({1 + pick(4)}, x.value.size(dim), type)).node});
}

bool PureCalls::cast() {
  const Item x = any();
  const DType type = random_dtype();
  const bool jumps = !is_floating(type) && is_float(x.value);
  if (jumps && (depends_on_rounding(x) || case_.special || type == DType::u8 ||
                !far_from_integers(x.value, 0)))
    return false;
  return call("to", {x.node, type});
}

bool PureCalls::unusual() {
  const Item x = any();
  if (x.value.dim() == 0) return false;
  switch (pick(4)) {
    case 0:
      return is_float(x.value) && call("cumsum", {x.node, random_dim(x.value)});
    case 1:
      return call("flip", {x.node, Value::list({random_dim(x.value)})});
    case 2:
      return call("roll", {x.node, Value::list({1}),
                           Value::list({random_dim(x.value)})});
    default:
      return call("pad", {x.node, Value::list({1, 2}), "constant", 0.5});
  }
}

}  // namespace fxjit::testing
