#include "tests/compile/graph_grower.h"

#include <algorithm>
#include <cmath>

#include "fxjit/fx/wrap.h"
#include "src/tensor/memory_order.h"
#include "tests/compile/compile_testing.h"

namespace fxjit::testing {
namespace {

// Calls with greater results are not made.
constexpr double kGreatest = 1e3;
constexpr int64_t kMostElements = 20000;
constexpr int kMostDims = 6;

bool moderate(const Value& value) {
  bool holds = true;
  visit_leaves(value, [&](const Value& leaf) {
    if (!leaf.is_tensor()) return;
    const Tensor& t = leaf.as_tensor();
    holds = holds && t.numel() <= kMostElements && t.dim() <= kMostDims &&
            (!is_float(t) ||
             all_of(t, [](double v) { return std::abs(v) < kGreatest; }));
  });
  return holds;
}

bool one_of_torch(std::string_view name) {
  for (std::string_view start : {"torch.ops.", ".__r", "onnx.", "nn."})
    if (name.starts_with(start)) return false;
  return true;
}

// The names of a row that a program of torch would use.
std::vector<std::string> torch_names(const ops::Op& op) {
  std::vector<std::string> names;
  std::string_view rest = op.row.names;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (name.starts_with('=')) continue;  // Another spelling is recorded.
    if (name.ends_with('!')) name.remove_suffix(1);
    if (!name.empty() && one_of_torch(name)) names.emplace_back(name);
  }
  return names;
}

// Whether two elements may have one place. What writes to such a tensor leave
// there depends on their order.
bool elements_overlap(const Tensor& t) {
  int64_t reach = 0;  // From the first to the last element of the inner dims.
  const Dims order = memory_order(t);
  for (int i = t.dim() - 1; i >= 0; --i) {
    const int d = static_cast<int>(order[i]);
    if (t.sizes()[d] == 1) continue;
    if (t.strides()[d] <= reach) return true;
    reach += (t.sizes()[d] - 1) * t.strides()[d];
  }
  return false;
}

bool same_view(const Tensor& a, const Tensor& b) {
  return a.offset() == b.offset() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

}  // namespace

GraphGrower::GraphGrower(uint32_t seed) : random_(seed) {
  case_.graph = std::make_unique<fx::Graph>();
  large_ = chance(0.08);
  case_.special = chance(0.08);
}

// --- Chance. ---

int64_t GraphGrower::random_size() {
  if (chance(0.015)) return 0;
  if (large_) return one_of<int64_t>({1, 16, 48, 65, 128});
  return one_of<int64_t>({1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33});
}

Dims GraphGrower::random_sizes() {
  constexpr int64_t kMost = 6000;
  Dims sizes;
  const int64_t rank = one_of<int64_t>({0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6});
  int64_t count = 1;
  for (int64_t d = 0; d < std::min<int64_t>(rank, large_ ? 3 : 6); ++d) {
    int64_t size = rank > 4 ? 1 + pick(4) : random_size();
    if (count * size > (large_ ? kMost * 4 : kMost)) size = 1 + pick(2);
    sizes.push_back(size);
    count *= std::max<int64_t>(1, size);
  }
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
  if (case_.special && is_floating(dtype) && t.numel() > 2) {
    t = t.to(DType::f64);
    t.data_as<double>()[pick(t.numel())] = INFINITY;
    t.data_as<double>()[pick(t.numel())] = -INFINITY;
    if (chance(0.5)) t.data_as<double>()[pick(t.numel())] = NAN;
    t = t.to(dtype);
  }
  return t;
}

// Sometimes a part of a larger tensor, or one with its dims in another order of
// memory, so that strides differ.
Tensor GraphGrower::strided_values(const Dims& sizes, DType dtype) {
  if (sizes.empty() || chance(0.65)) return random_values(sizes, dtype);
  if (sizes.size() > 1 && chance(0.3)) {
    Dims order;
    for (int d = 0; d < sizes.size(); ++d) order.push_back(d);
    std::shuffle(order.begin(), order.end(), random_);
    return random_values(sizes, dtype)
        .as_strided(sizes, strides_in_order(sizes, order), 0);
  }
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
  fx::NodePtr node =
      case_.graph->placeholder("x" + std::to_string(case_.inputs.size()));
  case_.inputs.push_back(value);
  keep(node, copies_(value));
  return items_.back();
}

Item GraphGrower::add_constant(const Dims& sizes) {
  const std::string name = "w" + std::to_string(case_.constants.size());
  const Tensor value = random_tensor(sizes, DType::f32, random_());
  case_.constants.emplace_back(name, value);
  keep(case_.graph->get_attr(name), copies_(value));
  return items_.back();
}

Item GraphGrower::input_or_constant(const Dims& sizes) {
  return chance(0.7) ? add_constant(sizes) : add_input(sizes, DType::f32);
}

Item GraphGrower::weight(const Dims& sizes) {
  return chance(0.7) ? add_constant(sizes)
                     : add_input(random_tensor(sizes, DType::f32, random_()));
}

// --- Values seen so far. ---

void GraphGrower::keep(fx::NodePtr node, const Tensor& value) {
  const bool view = std::ranges::any_of(items_, [&](const Item& item) {
    return item.value.storage() == value.storage() &&
           !same_view(item.value, value);
  });
  items_.push_back({node, value, view});
}

const Item* GraphGrower::item_of(const fx::Node* node) const {
  const auto found = std::ranges::find(items_, node, &Item::node);
  return found == items_.end() ? nullptr : &*found;
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
    } catch (const Error&) {
      // Another one, then.
    }
  }
  Dims sizes = item.value.sizes();
  for (Size& size : sizes)
    if (chance(0.25)) size = 1;
  while (!sizes.empty() && chance(0.2)) sizes.erase(0);
  return input_or_constant(sizes);
}

// --- Calls. ---

GraphGrower::Callee GraphGrower::callee(std::string_view name) {
  std::string chosen(name);
  if (const ops::Op* op = ops::find_op(name)) {
    const std::vector<std::string> names = torch_names(*op);
    const auto count = static_cast<int64_t>(names.size());
    if (count > 0) chosen = names[static_cast<size_t>(pick(count))];
    if (count == 0) return {op->canonical, false};
  }
  if (chosen.starts_with('.'))
    return {ops::find_method(chosen.substr(1))->name, true};
  return {fx::find_callable(chosen).value(), false};
}

fx::NodePtr GraphGrower::add_node(const Callee& callee, ValueList args,
                                  Kwargs kwargs) {
  if (callee.method)
    return case_.graph->call_method(callee.target.text(), std::move(args),
                                    std::move(kwargs));
  return case_.graph->call_function(callee.target, std::move(args),
                                    std::move(kwargs));
}

Value GraphGrower::values_of(const Value& arg) const {
  return map_leaves(arg, [&](const Value& leaf) -> Value {
    return leaf.is_node() ? Value(item_of(leaf.as_node())->value) : leaf;
  });
}

bool GraphGrower::call(std::string_view name, ValueList args, Kwargs kwargs) {
  const Callee called = callee(name);
  const Value real = values_of(Value::list(args));
  Value result;
  try {
    const ops::Op* op = called.method
                            ? ops::find_method(called.target.text())->op
                            : called.target.op();
    FXJIT_CHECK(op, "random graphs call ops: " + std::string(name));
    result = ops::run_eager({*op, ops::bind(*op, real.as_sequence(), kwargs)});
  } catch (const Error&) {
    return false;
  }
  if (!moderate(result)) return false;
  note_rounding(real, result);
  keep_results(add_node(called, std::move(args), std::move(kwargs)), result);
  return true;
}

void GraphGrower::keep_results(fx::NodePtr node, const Value& result) {
  if (result.is_tensor()) return keep(node, result.as_tensor());
  tuples_.push_back(node);
  constexpr size_t kMost = 5;
  for (size_t i = 0; i < std::min(kMost, result.size()); ++i)
    keep(case_.graph->call_function("_operator.getitem",
                                    ValueList{node, static_cast<int64_t>(i)}),
         result.at(i).as_tensor());
}

void GraphGrower::note_rounding(const Value& args, const Value& result) {
  bool rounded = false;
  visit_leaves(args, [&](const Value& leaf) {
    if (!leaf.is_tensor()) return;
    const Tensor& t = leaf.as_tensor();
    rounded |= rounded_.contains(t.storage().get()) ||
               t.dtype() == DType::f16 || t.dtype() == DType::bf16;
  });
  visit_leaves(result, [&](const Value& leaf) {
    if (!leaf.is_tensor()) return;
    const DType type = leaf.as_tensor().dtype();
    if (rounded || type == DType::f16 || type == DType::bf16)
      rounded_.insert(leaf.as_tensor().storage().get());
  });
}

// torch leaves open what comes out when elements are read that were written
// before, and refuses most of it.
bool GraphGrower::may_write(const ValueList& args) const {
  const Tensor& self = args[0].as_tensor();
  if (elements_overlap(self)) return false;
  bool apart = true;
  for (size_t i = 1; i < args.size(); ++i)
    visit_leaves(args[i], [&](const Value& leaf) {
      if (!leaf.is_tensor()) return;
      const Tensor& t = leaf.as_tensor();
      apart = apart && (t.storage() != self.storage() || same_view(t, self));
    });
  return apart;
}

bool GraphGrower::write(std::string_view name, ValueList args, Kwargs kwargs) {
  const Callee called = callee(name);
  const Value real = values_of(Value::list(args));
  const Item target = *item_of(args[0].as_node());
  const bool sets_item = called.target.function() != nullptr;
  if (!may_write(real.as_sequence())) return false;
  if (sets_item && real.at(2).is_tensor() &&
      real.at(2).as_tensor().storage() == target.value.storage())
    return false;
  const Tensor before = target.value.clone();
  try {
    if (called.method)
      ops::call_method(called.target.text(), real.as_sequence(), kwargs);
    else if (sets_item)
      called.target.function()->run(real.as_sequence(), kwargs);
    else
      ops::call_function(*called.target.spelling(), real.as_sequence(), kwargs);
    if (!moderate(target.value)) throw UserError("too large");
  } catch (const Error&) {
    target.value.copy_from(before);
    return false;
  }
  note_rounding(real, target.value);
  if (target.view) ++case_.view_writes;
  fx::NodePtr node = add_node(called, std::move(args), std::move(kwargs));
  if (!sets_item) items_.push_back({node, target.value, target.view});
  return true;
}

void GraphGrower::finish() {
  ValueList results;
  for (fx::NodePtr tuple : tuples_)
    if (chance(0.1)) results.push_back(tuple);
  for (const Item& item : items_) {
    const bool given = item.node->is(fx::Opcode::placeholder) ||
                       item.node->is(fx::Opcode::get_attr);
    if (given ? chance(0.03) : item.node->num_users() == 0 || chance(0.06))
      results.push_back(item.node);
  }
  if (results.empty()) results.push_back(items_.front().node);
  case_.graph->output(Value::tuple(std::move(results)));
}

}  // namespace fxjit::testing
