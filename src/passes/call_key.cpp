#include "src/passes/call_key.h"

#include <algorithm>
#include <bit>

namespace fxjit::passes {
namespace {

size_t hash_leaf(const Value& leaf) {
  switch (leaf.kind()) {
    case Value::Kind::node:
      return std::hash<const void*>()(leaf.as_node());
    case Value::Kind::boolean:
      return std::hash<bool>()(leaf.as_bool());
    case Value::Kind::integer:
      return leaf.is_named_size() ? std::hash<Size>()(leaf.as_size())
                                  : std::hash<int64_t>()(leaf.as_int());
    case Value::Kind::floating:
      return std::hash<double>()(leaf.as_double());
    case Value::Kind::string:
      return std::hash<std::string_view>()(leaf.as_string());
    default:
      return static_cast<size_t>(leaf.kind());
  }
}

}  // namespace

bool identical(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_float())  // 0.0 and -0.0 differ, NaN is NaN.
    return std::bit_cast<uint64_t>(a.as_double()) ==
           std::bit_cast<uint64_t>(b.as_double());
  if (!a.is_sequence()) return same(a, b);
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!identical(a.at(i), b.at(i))) return false;
  return true;
}

bool identical(const ValueList& a, const ValueList& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const Value& x, const Value& y) { return identical(x, y); });
}

size_t call_hash(const ops::Op& op, const ValueList& args) {
  size_t hash = std::hash<const void*>()(&op);
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      hash = hash * 1099511628211u + hash_leaf(leaf);
    });
  return hash;
}

}  // namespace fxjit::passes
