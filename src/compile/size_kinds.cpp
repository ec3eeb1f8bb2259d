#include "src/compile/size_kinds.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "src/tensor/memory_order.h"

namespace fxjit {
namespace {

// From this on, a size may have a name: 0 and 1 broadcast and end loops.
constexpr int64_t kLeastNamed = 2;

// The dims from the outermost in memory to the innermost. Dims of one element
// lie where they stand in the shape.
Dims order_of(const Tensor& t) {
  if (!t.is_contiguous()) return memory_order(t);
  Dims order;
  for (int d = 0; d < t.dim(); ++d) order.push_back(d);
  return order;
}

// "t:float32:01", as the text of a leaf.
std::string layout_text(const Tensor& t) {
  std::string text = "t:" + std::string(dtype_name(t.dtype())) + ":";
  for (const int64_t d : order_of(t))
    text.push_back(static_cast<char>('0' + d));
  return text;
}

}  // namespace

std::optional<SizedInputs> sizes_of(std::span<const Value> inputs) {
  SizedInputs result;
  bool nameable = true;
  for (const Value& input : inputs) {
    const Value leaves = map_leaves(input, [&](const Value& leaf) -> Value {
      if (leaf.is_tensor()) {
        const Tensor& t = leaf.as_tensor();
        nameable = nameable && is_dense(t);
        result.sizes.insert(result.sizes.end(), t.sizes().begin(),
                            t.sizes().end());
        return nameable ? Value(layout_text(t)) : Value();
      }
      if (leaf.is_int()) {
        result.sizes.push_back(leaf.as_int());
        return Value("i");
      }
      if (leaf.is_string()) return Value("s:" + std::string(leaf.as_string()));
      nameable = nameable && !leaf.is_opaque() && !leaf.is_proxy();
      return leaf;
    });
    if (!nameable) return std::nullopt;
    result.structure += repr(leaves) + ";";
  }
  return result;
}

void append_of_data(const Value& value, bool from_data, std::vector<int>& to) {
  visit_leaves(value, [&](const Value& leaf) {
    const int dims = leaf.is_tensor() ? leaf.as_tensor().dim() : leaf.is_int();
    for (int d = 0; d < dims; ++d) to.push_back(from_data ? 1 + d : 0);
  });
}

std::vector<int64_t> SizeNaming::values(std::span<const int64_t> sizes) const {
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < name.size(); ++i)
    if (name[i] >= 0) values[static_cast<size_t>(name[i])] = sizes[i];
  return values;
}

ValueList named_inputs(std::span<const Value> inputs, const SizeNaming& naming,
                       std::span<const int64_t> sizes, SizeTable& table) {
  std::vector<Size> names;
  for (const int64_t value : naming.values(sizes))
    names.push_back(
        table.name("s" + std::to_string(names.size()), value, kLeastNamed));
  size_t next = 0;
  const auto named = [&]() -> Size {
    const size_t at = next++;
    const int name = naming.name[at];
    return name < 0 ? Size(sizes[at]) : names[static_cast<size_t>(name)];
  };
  ValueList result;
  for (const Value& input : inputs)
    result.push_back(map_leaves(input, [&](const Value& leaf) -> Value {
      if (leaf.is_int()) return named();
      if (!leaf.is_tensor()) return leaf;
      const Tensor& t = leaf.as_tensor();
      Dims shape = t.sizes();
      for (Size& size : shape) size = named();
      return Tensor::meta(shape, t.dtype(),
                          strides_in_order(shape, order_of(t)));
    }));
  return result;
}

const passes::ModelGraph* SizeKinds::Kind::at(
    std::span<const int64_t> of) const {
  const std::vector<int64_t> values = naming.values(of);
  for (size_t i = 0; i < of.size(); ++i) {
    const int name = naming.name[i];
    const int64_t expected =
        name < 0 ? sizes[i] : values[static_cast<size_t>(name)];
    if (of[i] != expected) return nullptr;
  }
  return graph->at(values);
}

SizeKinds::Found SizeKinds::find(const SizedInputs& inputs) const {
  const auto family = families_.find(inputs.structure);
  if (family == families_.end()) return {};
  for (const Kind& kind : family->second.kinds)
    if (const passes::ModelGraph* const model = kind.at(inputs.sizes))
      return {&kind, model};
  return {};
}

std::optional<SizeNaming> SizeKinds::note(const SizedInputs& inputs) {
  const std::vector<int64_t>& sizes = inputs.sizes;
  if (families_.size() >= kMostFamilies &&
      !families_.contains(inputs.structure))
    return std::nullopt;
  Family& family = families_[inputs.structure];
  if (family.first.empty()) {
    family.first = sizes;
    family.varies.assign(sizes.size(), false);
    family.group.assign(sizes.size(), 0);
  }
  // Other dims that come from data are taken for equal by accident.
  std::map<std::tuple<int, int, int64_t>, int> groups;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int of_data = inputs.of_data.empty() ? 0 : inputs.of_data[i];
    if (of_data || sizes[i] != family.first[i]) family.varies[i] = true;
    family.group[i] =
        groups
            .emplace(std::tuple(family.group[i], of_data, sizes[i]),
                     groups.size())
            .first->second;
  }
  if (family.failures >= kMostFailures || family.kinds.size() >= kMostKinds)
    return std::nullopt;
  SizeNaming naming{std::vector<int>(sizes.size(), -1), 0};
  std::map<int, int> names;  // By group.
  for (size_t i = 0; i < sizes.size(); ++i)
    if (family.varies[i] && sizes[i] >= kLeastNamed)
      naming.name[i] =
          names.emplace(family.group[i], static_cast<int>(names.size()))
              .first->second;
  naming.count = static_cast<int>(names.size());
  if (naming.count == 0) return std::nullopt;
  return naming;
}

std::string SizeKinds::why_no_more(const SizedInputs& inputs) {
  const auto at = families_.find(inputs.structure);
  if (at == families_.end()) return {};
  Family& family = at->second;
  if (family.kinds.size() < kMostKinds || std::exchange(family.told, true))
    return {};
  std::string why = "inputs have " + std::to_string(kMostKinds) +
                    " kinds of sizes; each further tuple has a program of its "
                    "own";
  const Kind& last = family.kinds.back();
  const SizeGuard* const guard =
      last.graph->table().failing(last.naming.values(inputs.sizes));
  if (guard) why += ", such as one without " + guard->text;
  if (guard && !guard->asker.empty()) why += ": " + guard->asker;
  return why;
}

size_t SizeKinds::count() const {
  size_t count = 0;
  for (const auto& [structure, family] : families_)
    count += family.kinds.size();
  return count;
}

const SizeKinds::Kind& SizeKinds::add(const SizedInputs& inputs, Kind kind) {
  std::vector<Kind>& kinds = families_.at(inputs.structure).kinds;
  return kinds.emplace_back(std::move(kind));
}

}  // namespace fxjit
