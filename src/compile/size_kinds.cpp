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

// The name that is declared for the size at `i`, or an empty one.
NamedSize named_as(const std::vector<const NamedSize*>& declared, size_t i) {
  NamedSize size = declared[i] ? *declared[i] : NamedSize{};
  size.least = std::max(size.least, kLeastNamed);
  return size;
}

// Gives the sizes without a name "s0", "s1", ..., none of them a declared one.
void name_others(std::vector<NamedSize>& sizes) {
  int next = 0;
  for (NamedSize& size : sizes)
    while (size.name.empty()) {
      const std::string name = "s" + std::to_string(next++);
      if (std::ranges::find(sizes, name, &NamedSize::name) == sizes.end())
        size.name = name;
    }
}

}  // namespace

std::optional<SizedInputs> sizes_of(std::span<const Value> inputs,
                                    std::vector<const NamedSize*> declared) {
  SizedInputs result;
  result.declared = std::move(declared);
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
  result.declared.resize(result.sizes.size());
  return result;
}

void append_of_data(const Value& value, bool from_data, std::vector<int>& to) {
  visit_leaves(value, [&](const Value& leaf) {
    const int dims = leaf.is_tensor() ? leaf.as_tensor().dim() : leaf.is_int();
    for (int d = 0; d < dims; ++d) to.push_back(from_data ? 1 + d : 0);
  });
}

std::vector<int64_t> SizeNaming::values(std::span<const int64_t> sizes) const {
  std::vector<int64_t> values(names.size());
  for (size_t i = 0; i < name.size(); ++i)
    if (name[i] >= 0) values[static_cast<size_t>(name[i])] = sizes[i];
  return values;
}

ValueList named_inputs(std::span<const Value> inputs, const SizeNaming& naming,
                       std::span<const int64_t> sizes, SizeTable& table) {
  std::vector<Size> names;
  for (const int64_t value : naming.values(sizes)) {
    const NamedSize& size = naming.names[names.size()];
    names.push_back(table.name(size.name, value, size.least,
                               size.most.value_or(INT64_MAX)));
  }
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

SizeKinds::Found SizeKinds::find(const SizedInputs& inputs) {
  const auto family = families_.find(inputs.structure);
  if (family == families_.end()) return {};
  for (Kind& kind : family->second.kinds)
    if (const passes::ModelGraph* const model = kind.at(inputs.sizes)) {
      kind.last_use = ++uses_;
      return {&kind, model};
    }
  return {};
}

// Declared sizes change, and are equal to those of the same name alone.
SizeKinds::Family SizeKinds::first_call(const SizedInputs& inputs) {
  Family family;
  family.first = inputs.sizes;
  std::map<std::string, int> groups;
  for (const NamedSize* const declared : inputs.declared) {
    family.varies.push_back(declared != nullptr);
    const std::string name = declared ? declared->name : "";
    family.group.push_back(
        name.empty() ? 0
                     : groups.emplace(name, groups.size() + 1).first->second);
  }
  return family;
}

std::optional<SizeNaming> SizeKinds::note(const SizedInputs& inputs) {
  const std::vector<int64_t>& sizes = inputs.sizes;
  if (families_.size() >= kMostFamilies &&
      !families_.contains(inputs.structure))
    return std::nullopt;
  Family& family = families_[inputs.structure];
  if (family.first.empty()) family = first_call(inputs);
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
  if (family.failures >= kMostFailures || family.made >= kMostKinds)
    return std::nullopt;
  SizeNaming naming{std::vector<int>(sizes.size(), -1), {}};
  std::map<int, int> names;  // By group.
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!family.varies[i] || sizes[i] < kLeastNamed) continue;
    const auto [name, fresh] =
        names.emplace(family.group[i], static_cast<int>(names.size()));
    naming.name[i] = name->second;
    if (fresh) naming.names.push_back(named_as(inputs.declared, i));
  }
  if (naming.names.empty()) return std::nullopt;
  name_others(naming.names);
  return naming;
}

std::string SizeKinds::why_no_more(const SizedInputs& inputs) {
  const auto at = families_.find(inputs.structure);
  if (at == families_.end()) return {};
  Family& family = at->second;
  if (family.made < kMostKinds || std::exchange(family.told, true)) return {};
  if (family.kinds.empty()) return {};
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

std::vector<KindReport> SizeKinds::report() const {
  std::vector<KindReport> reports;
  for (const auto& [structure, family] : families_) {
    for (const Kind& kind : family.kinds) reports.push_back(kind.report());
    if (family.failures > 0) reports.push_back(family.failed);
  }
  return reports;
}

KindReport SizeKinds::Kind::report() const {
  const SizeTable& table = graph->table();
  KindReport report;
  report.inputs = inputs;
  for (size_t i = 0; i < naming.names.size(); ++i) {
    const sizes::Bounds bounds = table.bounds_of_name(i);
    report.sizes.push_back(
        {naming.names[i].name, bounds.least.value_or(0),
         bounds.most == INT64_MAX ? std::nullopt : bounds.most});
  }
  for (const SizeGuard& guard : table.guards())
    report.guards.push_back({guard.text, guard.asker, guard.specialises});
  return report;
}

size_t SizeKinds::count() const {
  size_t count = 0;
  for (const auto& [structure, family] : families_)
    count += family.kinds.size();
  return count;
}

void SizeKinds::note_failure(const SizedInputs& inputs,
                             const std::string& why) {
  Family& family = families_[inputs.structure];
  ++family.failures;
  family.failed.inputs = inputs.structure;
  family.failed.why_not = why;
}

size_t SizeKinds::bytes() const {
  size_t bytes = 0;
  for (const auto& [structure, family] : families_)
    for (const Kind& kind : family.kinds) bytes += kind.graph->bytes();
  return bytes;
}

void SizeKinds::add(const SizedInputs& inputs, Kind kind) {
  Family& family = families_[inputs.structure];
  ++family.made;
  kind.last_use = ++uses_;
  drop_over(kind.graph->bytes());
  family.kinds.push_back(std::move(kind));
}

void SizeKinds::drop_over(size_t added) {
  while (bytes() + added > most_bytes_) {
    std::vector<Kind>* from = nullptr;
    size_t oldest = 0;
    for (auto& [structure, family] : families_)
      for (size_t i = 0; i < family.kinds.size(); ++i)
        if (!from || family.kinds[i].last_use < (*from)[oldest].last_use) {
          from = &family.kinds;
          oldest = i;
        }
    if (!from) return;
    from->erase(from->begin() + static_cast<std::ptrdiff_t>(oldest));
  }
}

}  // namespace fxjit
