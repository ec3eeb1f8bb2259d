#include "src/compile/input_key.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <string_view>

#include "fxjit/fx/node.h"

namespace fxjit {
namespace {

size_t mix(size_t hash, uint64_t word) {
  return (hash ^ word) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

size_t hash_tensor(size_t hash, const Tensor& t) {
  hash = mix(hash, static_cast<uint64_t>(t.dtype()));
  for (int64_t size : t.sizes()) hash = mix(hash, static_cast<uint64_t>(size));
  if (t.numel() == 0) return hash;
  for (int d = 0; d < t.dim(); ++d)
    if (t.sizes()[d] != 1)
      hash = mix(hash, static_cast<uint64_t>(t.strides()[d]));
  return hash;
}

uint64_t hash_number(const Value& leaf) {
  if (leaf.is_float()) return std::bit_cast<uint64_t>(leaf.as_double());
  if (leaf.is_int()) return static_cast<uint64_t>(leaf.as_int());
  if (leaf.is_bool()) return leaf.as_bool() ? 1 : 2;
  if (leaf.is_string()) return std::hash<std::string_view>{}(leaf.as_string());
  return 0;
}

size_t hash_leaf(size_t hash, const Value& leaf, bool with_numbers) {
  if (leaf.is_tensor()) return hash_tensor(hash, leaf.as_tensor());
  if (leaf.is_node()) return mix(hash, leaf.as_node()->id());
  hash = mix(hash, static_cast<uint64_t>(leaf.kind()));
  return with_numbers ? mix(hash, hash_number(leaf)) : hash;
}

size_t hash_values(std::span<const Value> inputs, bool with_numbers) {
  size_t hash = inputs.size();
  for (const Value& input : inputs)
    visit_leaves(input, [&](const Value& leaf) {
      hash = hash_leaf(hash, leaf, with_numbers);
    });
  return hash;
}

bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  if (a.strides() == b.strides() || a.numel() == 0) return true;
  for (int d = 0; d < a.dim(); ++d)
    if (a.sizes()[d] != 1 && a.strides()[d] != b.strides()[d]) return false;
  return true;
}

bool same_input(const Value& known, const Value& given);

bool same_dicts(const ValueDict& a, const ValueDict& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i].first, b[i].first) || !same_input(a[i].second, b[i].second))
      return false;
  return true;
}

bool same_input(const Value& known, const Value& given) {
  if (known.kind() != given.kind()) return false;
  if (known.is_tensor())
    return same_layout(known.as_tensor(), given.as_tensor());
  if (known.is_sequence())
    return same_inputs(known.as_sequence(), given.as_sequence());
  if (known.is_dict()) return same_dicts(known.as_dict(), given.as_dict());
  if (known.is_float())
    return std::bit_cast<uint64_t>(known.as_double()) ==
           std::bit_cast<uint64_t>(given.as_double());
  return same(known, given);
}

}  // namespace

size_t hash_inputs(std::span<const Value> inputs) {
  return hash_values(inputs, true);
}

size_t hash_shapes(std::span<const Value> inputs) {
  return hash_values(inputs, false);
}

bool same_inputs(std::span<const Value> known, std::span<const Value> given) {
  if (known.size() != given.size()) return false;
  for (size_t i = 0; i < known.size(); ++i)
    if (!same_input(known[i], given[i])) return false;
  return true;
}

}  // namespace fxjit
