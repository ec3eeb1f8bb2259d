#include "tests/compile/random_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "fxjit/fx/text.h"
#include "fxjit/op.h"
#include "tests/compile/compile_testing.h"

namespace fxjit::testing {
namespace {

constexpr double kMargin = 1e-3;   // Least distance from a jump.
constexpr double kGreatest = 1e3;  // Values beyond are not worked with.

struct Item {
  fx::Node* node = nullptr;
  Tensor value;
  bool rounded = false;  // Depends on 16-bit floats.
};

bool is_float(const Tensor& t) { return is_floating(t.dtype()); }

std::vector<double> numbers(const Tensor& t) {
  const Tensor wide = t.to(DType::f64).contiguous();
  const double* first = wide.data_as<double>();
  return {first, first + wide.numel()};
}

template <typename Fn>
bool all_of(const Tensor& t, Fn&& fn) {
  const std::vector<double> values = numbers(t);
  return std::all_of(values.begin(), values.end(),
                     [&](double v) { return !std::isfinite(v) || fn(v); });
}

bool far_from_zero(const Tensor& t) {
  return all_of(t, [](double v) { return std::abs(v) > 0.1; });
}

bool far_from_integers(const Tensor& t, double shift) {
  return all_of(t, [&](double v) {
    const double at = v + shift;
    return std::abs(at - std::nearbyint(at)) > kMargin;
  });
}

class Grower {
 public:
  explicit Grower(uint32_t seed) : random_(seed) {
    case_.graph = std::make_unique<fx::Graph>();
    large_ = chance(0.08);
    special_ = chance(0.08);
  }

  GraphCase run() {
    const int64_t inputs = 1 + pick(3);
    for (int64_t i = 0; i < inputs; ++i)
      add_input(random_sizes(), chance(0.85) ? DType::f32 : random_dtype());
    const int64_t calls = 4 + pick(18);
    for (int64_t i = 0, tries = 0; i < calls && tries < 200; ++tries)
      i += grow();
    finish();
    return std::move(case_);
  }

 private:
  // --- Chance. ---
  int64_t pick(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint32_t>(bound));
  }
  bool chance(double p) { return random_() < p * 4294967296.0; }
  template <typename T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[pick(static_cast<int64_t>(list.size()))];
  }

  int64_t random_size() {
    if (chance(0.01)) return 0;
    if (large_) return one_of<int64_t>({1, 16, 48, 65, 128});
    return one_of<int64_t>({1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33});
  }
  Dims random_sizes() {
    Dims sizes;
    const int64_t rank = one_of<int64_t>({0, 1, 2, 2, 2, 3, 3, 3, 4});
    for (int64_t d = 0; d < std::min<int64_t>(rank, large_ ? 3 : 4); ++d)
      sizes.push_back(random_size());
    return sizes;
  }
  DType random_dtype() {
    return one_of({DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32,
                   DType::u8, DType::boolean});
  }

  // --- Nodes. ---
  Tensor random_values(const Dims& sizes, DType dtype) {
    Tensor t = random_tensor(sizes, dtype, random_());
    if (special_ && is_floating(dtype) && t.numel() > 2) {
      t = t.to(DType::f64);
      t.data_as<double>()[pick(t.numel())] = INFINITY;
      t.data_as<double>()[pick(t.numel())] = -INFINITY;
      if (chance(0.5)) t.data_as<double>()[pick(t.numel())] = NAN;
      t = t.to(dtype);
    }
    return t;
  }

  // Sometimes a part of a larger tensor, so that strides differ.
  Tensor strided_values(const Dims& sizes, DType dtype) {
    if (sizes.empty() || chance(0.7)) return random_values(sizes, dtype);
    Dims outer = sizes;
    const int d = static_cast<int>(pick(sizes.size()));
    outer[d] = outer[d] * 2 + 1;
    const Tensor whole = random_values(outer, dtype);
    Dims strides = whole.strides();
    const int64_t offset = strides[d];
    strides[d] *= 2;
    return whole.as_strided(sizes, strides, sizes[d] > 0 ? offset : 0);
  }

  Item add_input(const Dims& sizes, DType dtype) {
    return add_input(strided_values(sizes, dtype));
  }
  Item add_input(const Tensor& value) {
    const auto placeholders = case_.graph->placeholders();
    auto scope = placeholders.empty()
                     ? case_.graph->inserting_before(first_node())
                     : case_.graph->inserting_after(placeholders.back());
    fx::Node* node =
        case_.graph->placeholder("x" + std::to_string(case_.inputs.size()));
    case_.inputs.push_back(value);
    return keep(node, value, false);
  }
  fx::Node* first_node() {
    return case_.graph->size() ? case_.graph->nodes().front() : nullptr;
  }

  Item add_constant(const Dims& sizes, DType dtype = DType::f32) {
    const std::string name = "w" + std::to_string(case_.constants.size());
    const Tensor value = random_tensor(sizes, dtype, random_());
    case_.constants.emplace_back(name, nn::Buffer(value));
    return keep(case_.graph->get_attr(name), value, false);
  }
  Item input_or_constant(const Dims& sizes) {
    return chance(0.7) ? add_constant(sizes) : add_input(sizes, DType::f32);
  }

  Item keep(fx::Node* node, const Tensor& value, bool rounded) {
    Item item{node, value, rounded};
    items_.push_back(item);
    return item;
  }

  // Runs and adds a call of a canonical op; false when it does not fit. Items
  // stand in `args` as their nodes.
  bool call(const char* name, ValueList args) {
    bool rounded = false;
    ValueList real;
    for (const Value& arg : args)
      real.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
        if (!leaf.is_node()) return leaf;
        const Item& item = item_of(leaf.as_node());
        rounded |= item.rounded;
        return item.value;
      }));
    const ops::Op& op = ops::get_op(name);
    Value result;
    try {
      const std::vector<Value> bound = ops::bind(op, real, {});
      result = ops::run_eager({op, bound});
    } catch (const Error&) {
      return false;
    }
    if (!result.is_tensor() || !moderate(result.as_tensor())) return false;
    add_call(op, std::move(args), result.as_tensor(), rounded);
    return true;
  }
  void add_call(const ops::Op& op, ValueList args, const Tensor& value,
                bool rounded) {
    const DType dtype = value.dtype();
    rounded |= dtype == DType::f16 || dtype == DType::bf16;
    case_.rounded |= rounded;
    keep(case_.graph->call_function(op.canonical, std::move(args)), value,
         rounded);
  }
  static bool moderate(const Tensor& t) {
    return t.numel() <= 40000 && t.dim() <= 5 &&
           (!is_float(t) ||
            all_of(t, [](double v) { return std::abs(v) < kGreatest; }));
  }

  const Item& item_of(const fx::Node* node) const {
    return *std::find_if(items_.begin(), items_.end(),
                         [&](const Item& item) { return item.node == node; });
  }
  // Later values are likelier.
  Item any() {
    const int64_t count = static_cast<int64_t>(items_.size());
    const int64_t at = chance(0.6)
                           ? count - 1 - pick(std::min<int64_t>(count, 4))
                           : pick(count);
    return items_[static_cast<size_t>(at)];
  }
  Item any_float() {
    for (int tries = 0; tries < 8; ++tries)
      if (Item item = any(); is_float(item.value)) return item;
    return add_input(random_sizes(), DType::f32);
  }
  // A value that broadcasts with `item`.
  Item partner(const Item& item) {
    for (int tries = 0; tries < 6; ++tries) {
      const Item other = any();
      try {
        broadcast_shapes(item.value.sizes(), other.value.sizes());
        return other;
      } catch (const UserError&) {
      }
    }
    Dims sizes = item.value.sizes();
    for (int64_t& size : sizes)
      if (chance(0.25)) size = 1;
    while (!sizes.empty() && chance(0.2)) sizes.erase(0);
    return input_or_constant(sizes);
  }

  int64_t random_dim(const Tensor& t) {
    const int64_t d = pick(std::max(1, t.dim()));
    return chance(0.5) ? d : d - std::max(1, t.dim());
  }
  Value random_dims(const Tensor& t) {
    ValueList dims;
    for (int d = 0; d < t.dim(); ++d)
      if (chance(0.5)) dims.push_back(d);
    if (dims.empty() || chance(0.1)) return None;
    return Value::list(dims);
  }

  // --- One more call; false when the choice did not fit. ---
  bool grow() {
    const int64_t dice = pick(100);
    if (dice < 22) return unary();
    if (dice < 42) return binary();
    if (dice < 52) return reduce();
    if (dice < 60) return norm();
    if (dice < 69) return product();
    if (dice < 86) return view();
    if (dice < 91) return choose();
    if (dice < 94) return pick_rows();
    if (dice < 97) return cast();
    return unusual();
  }

  bool unary() {
    const Item x = any_float();
    switch (pick(8)) {
      case 0:
        return call(one_of({"neg", "abs", "square", "relu", "clone"}),
                    {x.node});
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
        return !x.rounded && far_from_integers(x.value, 0) &&
               far_from_integers(x.value, 0.5) && call(name, {x.node});
      }
      default:
        return call("clamp", {x.node, -0.5, chance(0.5) ? Value(1.25) : None});
    }
  }

  bool binary() {
    const Item x = any();
    const Value scalar = chance(0.3) ? Value(pick(5) - 2) : Value(0.75);
    if (chance(0.3))
      return call(one_of({"add", "sub", "mul", "rsub"}), {x.node, scalar});
    const Item y = partner(x);
    switch (pick(5)) {
      case 0:
        return is_float(y.value) && far_from_zero(y.value) &&
               call("div", {x.node, y.node});
      case 1:
        return call(one_of({"maximum", "minimum"}), {x.node, y.node});
      case 2:
        return is_float(x.value) && is_float(y.value) &&
               call(one_of({"addcmul", "lerp"}),
                    {x.node, y.node, partner(x).node});
      default:
        return call(one_of({"add", "sub", "mul"}), {x.node, y.node});
    }
  }

  bool reduce() {
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

  bool norm() {
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
               call("layer_norm",
                    {x.node, Value::list({last}), add_constant({last}).node,
                     chance(0.5) ? Value(add_constant({last}).node) : None,
                     1e-1});
    }
  }

  bool product() {
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
        return call("matmul",
                    {x.node, input_or_constant({depth, columns}).node});
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

  bool attention(const Item& x) {
    if (x.value.dim() < 3 || x.value.dim() > 4 || x.value.numel() == 0)
      return false;
    Dims keys = x.value.sizes();
    keys[keys.size() - 2] = std::max<int64_t>(1, random_size());
    const Item k = add_input(keys, DType::f32), v = add_input(keys, DType::f32);
    if (chance(0.5))
      return call(
          "scaled_dot_product_attention",
          {x.node, k.node, v.node, None, 0.0, !special_ && chance(0.3)});
    return call("transpose", {k.node, -2, -1}) &&
           call("matmul", {x.node, items_.back().node}) &&
           call("mul", {items_.back().node, 0.5}) &&
           call("softmax", {items_.back().node, -1}) &&
           call("matmul", {items_.back().node, v.node});
  }

  bool view() {
    const Item x = any();
    const int rank = x.value.dim();
    switch (pick(12)) {
      case 0:
      case 1:
        return call("reshape", {x.node, factorised(x.value.numel())});
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
        return call("slice",
                    {x.node, random_dim(x.value), pick(3), None, 1 + pick(2)});
      case 5:
        return rank > 0 && call("select", {x.node, random_dim(x.value),
                                           chance(0.5) ? 0 : -1});
      case 6: {
        Dims sizes = x.value.sizes();
        for (int64_t& size : sizes)
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
        return rank > 1 &&
               call(one_of({"tril", "triu"}), {x.node, pick(3) - 1});
    }
  }

  Dims factorised(int64_t count) {
    Dims sizes;
    while (count > 1 && sizes.size() < 4) {
      int64_t factor = count;
      for (int64_t f : {2, 3, 4, 5, 7, 11})
        if (count % f == 0 && chance(0.4)) factor = f;
      sizes.push_back(factor);
      count /= factor;
    }
    if (count != 1) sizes.push_back(count);
    return sizes;
  }

  bool join(const Item& x) {
    const Item y = any();
    if (chance(0.3))
      return call("stack", {Value::list({x.node, x.node}), pick(2)});
    return call("cat", {Value::list({x.node, y.node}), random_dim(x.value)});
  }

  bool choose() {
    const Item x = any_float(), y = partner(x);
    if (x.rounded || y.rounded) return false;
    const char* compare = one_of({"lt", "le", "gt", "ge", "eq", "ne"});
    if (!apart(x.value, y.value)) return false;
    if (!call(compare, {x.node, y.node})) return false;
    const Item mask = items_.back();
    if (chance(0.4)) return true;
    if (chance(0.3)) return call("masked_fill", {x.node, mask.node, -1.5});
    return call("where",
                {mask.node, x.node, chance(0.5) ? Value(y.node) : 0.0});
  }

  static bool apart(const Tensor& x, const Tensor& y) {
    if (!is_float(y)) return false;
    const ops::Op& sub = ops::get_op("sub");
    const std::vector<Value> args = ops::bind(sub, ValueList{x, y}, {});
    return all_of(ops::run_eager({sub, args}).as_tensor(),
                  [](double v) { return std::abs(v) > kMargin; });
  }

  bool pick_rows() {
    const DType type = chance(0.7) ? DType::i64 : DType::i32;
    const int64_t rows = 1 + pick(9);
    const Item table = input_or_constant({rows, 1 + pick(20)});
    Dims sizes = random_sizes();
    if (sizes.size() > 2) sizes.resize(2);
    const Item index = add_input(indices(sizes, rows, type));
    if (chance(0.6)) return call("embedding", {index.node, table.node});
    const Item x = any();
    if (x.value.dim() == 0) return false;
    const int64_t dim = random_dim(x.value);
    if (x.value.size(dim) == 0) return false;
    return call(
        "index_select",
        {x.node, dim,
         add_input(indices({1 + pick(4)}, x.value.size(dim), type)).node});
  }
  Tensor indices(const Dims& sizes, int64_t bound, DType type) {
    const Tensor t = Tensor::empty(sizes, DType::i64);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.data_as<int64_t>()[i] = pick(bound);
    return t.to(type);
  }

  bool cast() {
    const Item x = any();
    const DType type = random_dtype();
    const bool jumps = !is_floating(type) && is_float(x.value);
    if (jumps && (x.rounded || special_ || type == DType::u8 ||
                  !far_from_integers(x.value, 0)))
      return false;
    return call("to", {x.node, type});
  }

  bool unusual() {
    const Item x = any();
    if (x.value.dim() == 0) return false;
    switch (pick(4)) {
      case 0:
        return is_float(x.value) &&
               call("cumsum", {x.node, random_dim(x.value)});
      case 1:
        return call("flip", {x.node, Value::list({random_dim(x.value)})});
      case 2:
        return call("roll", {x.node, Value::list({1}),
                             Value::list({random_dim(x.value)})});
      default:
        return call("pad", {x.node, Value::list({1, 2}), "constant", 0.5});
    }
  }

  void finish() {
    ValueList results;
    for (const Item& item : items_)
      if (item.node->num_users() == 0 &&
          !item.node->is(fx::Opcode::placeholder) &&
          !item.node->is(fx::Opcode::get_attr))
        results.push_back(item.node);
    if (results.empty()) results.push_back(items_.front().node);
    if (chance(0.3)) results.push_back(any().node);
    case_.graph->output(Value::tuple(std::move(results)));
  }

  std::mt19937 random_;
  GraphCase case_;
  std::vector<Item> items_;
  bool large_ = false, special_ = false;
};

Tensor widened(const Tensor& t) {
  return t.dtype() == DType::f32 ? t.to(DType::f64) : t;
}

}  // namespace

nn::Ref<fx::GraphModule> GraphCase::module(bool wide) const {
  nn::AttributeMap attributes = constants;
  if (wide)
    for (auto& [name, member] : attributes)
      member = nn::Buffer(widened(std::get<nn::Buffer>(member).tensor()));
  return std::make_shared<fx::GraphModule>(attributes, graph->copy());
}

ValueList GraphCase::inputs_as(bool wide) const {
  if (!wide) return inputs;
  ValueList result;
  for (const Value& input : inputs)
    result.push_back(widened(input.as_tensor()));
  return result;
}

std::string GraphCase::str() const {
  std::string text = fx::text(*graph) + "\n";
  const auto placeholders = graph->placeholders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i].as_tensor();
    text += std::string(placeholders[i]->name()) + ": " + t.describe() +
            " strides " + t.strides().str() + "\n";
  }
  return text;
}

GraphCase random_graph(uint32_t seed) { return Grower(seed).run(); }

}  // namespace fxjit::testing
