#include "tests/compile/graph_grower.h"

#include <algorithm>
#include <cmath>

#include "fxjit/fx/text.h"
#include "tests/compile/compile_testing.h"

namespace fxjit::testing {
namespace {

// Calls with greater results are not made.
constexpr double kGreatest = 1e3;
constexpr int64_t kMostElements = 40000;

std::vector<double> numbers(const Tensor& t) {
  const Tensor wide = t.to(DType::f64).contiguous();
  const double* first = wide.data_as<double>();
  return {first, first + wide.numel()};
}

bool moderate(const Tensor& t) {
  return t.numel() <= kMostElements && t.dim() <= 5 &&
         (!is_float(t) ||
          all_of(t, [](double v) { return std::abs(v) < kGreatest; }));
}

}  // namespace

bool is_float(const Tensor& t) { return is_floating(t.dtype()); }

bool all_of(const Tensor& t, const std::function<bool(double)>& holds) {
  const std::vector<double> values = numbers(t);
  return std::all_of(values.begin(), values.end(),
                     [&](double v) { return !std::isfinite(v) || holds(v); });
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

bool apart(const Tensor& x, const Tensor& y) {
  if (!is_float(y)) return false;
  const ops::Op& sub = ops::get_op("sub");
  const std::vector<Value> args = ops::bind(sub, ValueList{x, y}, {});
  return all_of(ops::run_eager({sub, args}).as_tensor(),
                [](double v) { return std::abs(v) > kMargin; });
}

GraphGrower::GraphGrower(uint32_t seed) : random_(seed) {
  case_.graph = std::make_unique<fx::Graph>();
  large_ = chance(0.08);
  special_ = chance(0.08);
}

// --- Chance. ---

int64_t GraphGrower::random_size() {
  if (chance(0.01)) return 0;
  if (large_) return one_of<int64_t>({1, 16, 48, 65, 128});
  return one_of<int64_t>({1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33});
}

Dims GraphGrower::random_sizes() {
  Dims sizes;
  const int64_t rank = one_of<int64_t>({0, 1, 2, 2, 2, 3, 3, 3, 4});
  for (int64_t d = 0; d < std::min<int64_t>(rank, large_ ? 3 : 4); ++d)
    sizes.push_back(random_size());
  return sizes;
}

DType GraphGrower::random_dtype() {
  return one_of({DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32,
                 DType::u8, DType::boolean});
}

int64_t GraphGrower::random_dim(const Tensor& t) {
  const int64_t d = pick(std::max(1, t.dim()));
  return chance(0.5) ? d : d - std::max(1, t.dim());
}

Value GraphGrower::random_dims(const Tensor& t) {
  ValueList dims;
  for (int d = 0; d < t.dim(); ++d)
    if (chance(0.5)) dims.push_back(d);
  if (dims.empty() || chance(0.1)) return None;
  return Value::list(dims);
}

Dims GraphGrower::random_factors(int64_t count) {
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

Tensor GraphGrower::random_indices(const Dims& sizes, int64_t bound,
                                   DType type) {
  const Tensor t = Tensor::empty(sizes, DType::i64);
  for (int64_t i = 0; i < t.numel(); ++i) t.data_as<int64_t>()[i] = pick(bound);
  return t.to(type);
}

// --- Inputs. ---

Tensor GraphGrower::random_values(const Dims& sizes, DType dtype) {
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
Tensor GraphGrower::strided_values(const Dims& sizes, DType dtype) {
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

Item GraphGrower::add_input(const Dims& sizes, DType dtype) {
  return add_input(strided_values(sizes, dtype));
}

Item GraphGrower::add_input(const Tensor& value) {
  const auto placeholders = case_.graph->placeholders();
  auto scope = placeholders.empty()
                   ? case_.graph->inserting_before()
                   : case_.graph->inserting_after(placeholders.back());
  fx::Node* node =
      case_.graph->placeholder("x" + std::to_string(case_.inputs.size()));
  case_.inputs.push_back(value);
  return keep(node, value, false);
}

Item GraphGrower::add_constant(const Dims& sizes) {
  const std::string name = "w" + std::to_string(case_.constants.size());
  const Tensor value = random_tensor(sizes, DType::f32, random_());
  case_.constants.emplace_back(name, nn::Buffer(value));
  return keep(case_.graph->get_attr(name), value, false);
}

Item GraphGrower::input_or_constant(const Dims& sizes) {
  return chance(0.7) ? add_constant(sizes) : add_input(sizes, DType::f32);
}

// --- Values seen so far. ---

Item GraphGrower::keep(fx::Node* node, const Tensor& value, bool rounded) {
  items_.push_back({node, value, rounded});
  return items_.back();
}

const Item& GraphGrower::item_of(const fx::Node* node) const {
  return *std::find_if(items_.begin(), items_.end(),
                       [&](const Item& item) { return item.node == node; });
}

Item GraphGrower::any() {
  const auto count = static_cast<int64_t>(items_.size());
  const int64_t at =
      chance(0.6) ? count - 1 - pick(std::min<int64_t>(count, 4)) : pick(count);
  return items_[static_cast<size_t>(at)];
}

Item GraphGrower::any_float() {
  for (int tries = 0; tries < 8; ++tries)
    if (Item item = any(); is_float(item.value)) return item;
  return add_input(random_sizes(), DType::f32);
}

Item GraphGrower::partner(const Item& item) {
  for (int tries = 0; tries < 6; ++tries) {
    const Item other = any();
    try {
      broadcast_shapes(item.value.sizes(), other.value.sizes());
      return other;
    } catch (const UserError&) {
      // Another one, then.
    }
  }
  Dims sizes = item.value.sizes();
  for (int64_t& size : sizes)
    if (chance(0.25)) size = 1;
  while (!sizes.empty() && chance(0.2)) sizes.erase(0);
  return input_or_constant(sizes);
}

// --- Calls. ---

bool GraphGrower::call(const char* name, ValueList args) {
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

void GraphGrower::add_call(const ops::Op& op, ValueList args,
                           const Tensor& value, bool rounded) {
  rounded |= value.dtype() == DType::f16 || value.dtype() == DType::bf16;
  case_.rounded |= rounded;
  keep(case_.graph->call_function(op.canonical, std::move(args)), value,
       rounded);
}

void GraphGrower::finish() {
  ValueList results;
  for (const Item& item : items_)
    if (item.node->num_users() == 0 && item.node->is(fx::Opcode::call_function))
      results.push_back(item.node);
  if (results.empty()) results.push_back(items_.front().node);
  if (chance(0.3)) results.push_back(any().node);
  case_.graph->output(Value::tuple(std::move(results)));
}

// --- The graph's case. ---

namespace {

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

}  // namespace fxjit::testing
