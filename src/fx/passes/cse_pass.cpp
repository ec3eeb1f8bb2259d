#include "fxjit/fx/passes/cse_pass.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_map>
#include <variant>

#include "fxjit/fx/passes/tools_common.h"
#include "src/fx/graph/node_aliasing.h"
#include "src/fx/graph/written_values.h"

namespace fxjit::fx::passes {
namespace {

size_t mix(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2));
}

// What differs here is not equal; the other kinds are left to `identical`.
size_t hash_of(const Value& value) {
  size_t seed = static_cast<size_t>(value.kind());
  if (value.is_node()) return mix(seed, value.as_node()->id());
  if (value.is_number())
    return mix(seed, std::hash<double>()(value.as_double()));
  if (value.is_string())
    return mix(seed, std::hash<std::string_view>()(value.as_string()));
  if (value.is_sequence())
    for (const Value& item : value.as_sequence())
      seed = mix(seed, hash_of(item));
  return seed;
}

// As `same`, but 1, 1.0 and True differ, at any depth.
bool identical(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_sequence())
    return std::ranges::equal(a.as_sequence(), b.as_sequence(), identical);
  if (a.is_slice())
    return identical(a.as_slice().start, b.as_slice().start) &&
           identical(a.as_slice().stop, b.as_slice().stop) &&
           identical(a.as_slice().step, b.as_slice().step);
  if (a.is_dict())
    return std::ranges::equal(
        a.as_dict(), b.as_dict(), [](const auto& p, const auto& q) {
          return identical(p.first, q.first) && identical(p.second, q.second);
        });
  if (a.is_float())  // 0.0 and -0.0 differ, NaN is NaN.
    return std::bit_cast<uint64_t>(a.as_double()) ==
           std::bit_cast<uint64_t>(b.as_double());
  return same(a, b);
}

size_t hash_of_call(const Node& node) {
  size_t seed = std::hash<std::string_view>()(node.target_name());
  for (const Value& arg : node.args()) seed = mix(seed, hash_of(arg));
  for (const auto& [key, arg] : node.kwargs())
    seed = mix(seed, mix(std::hash<std::string>()(key), hash_of(arg)));
  return seed;
}

bool equal_calls(const Node& a, const Node& b) {
  return a.op() == b.op() && a.target() == b.target() &&
         std::ranges::equal(a.args(), b.args(), identical) &&
         std::ranges::equal(
             a.kwargs(), b.kwargs(), [](const auto& x, const auto& y) {
               return x.first == y.first && identical(x.second, y.second);
             });
}

enum class Kind {
  mergeable,
  alone,   // Must run as often as it is written.
  writes,  // What was read before may be different afterwards.
};

Kind kind_of(const Node& node, const GraphModule& module, const OpSet& banned) {
  if (!is_callable_node(node)) return Kind::alone;
  if (node.is(Opcode::call_module)) {
    const nn::Module& called = module.get_submodule(node.target_name());
    if (called.is_impure() || !called.is_leaf()) return Kind::writes;
    return called.training() ? Kind::alone : Kind::mergeable;
  }
  const ops::Op* const op = op_of(node);
  const bool random =
      op && op->row.purity == ops::Purity::random && node.is_impure();
  if (random || (op && banned.contains(op) && !node.is_impure()))
    return Kind::alone;
  if (node.is_impure()) return Kind::writes;
  return op || node.target().function() ? Kind::mergeable : Kind::alone;
}

}  // namespace

OpSet get_CSE_banned_ops() {
  OpSet banned;
  for (const ops::Op* op : ops::all_ops())
    // Dropout, which has a flag "training", is pure without it.
    if ((op->row.purity == ops::Purity::random &&
         op->index_of("training") < 0) ||
        op->row.purity == ops::Purity::mutates)
      banned.insert(op);
  return banned;
}

CSEPass::CSEPass(OpSet banned_ops) : banned_ops_(std::move(banned_ops)) {}

PassResult CSEPass::call(const GraphModuleRef& module) {
  const Graph& graph = module->graph();
  auto merged = std::make_unique<Graph>();
  std::vector<NodePtr> copies(graph.id_bound());
  std::unordered_multimap<size_t, NodePtr> known;
  bool modified = false;
  const std::vector<bool> written = written_values(*module);
  for (const Node* node : graph.nodes()) {
    const NodePtr copy = merged->node_copy(
        *node, [&](NodePtr input) { return copies[input->id()]; });
    copies[node->id()] = copy;
    const Kind kind = kind_of(*node, *module, banned_ops_);
    if (kind == Kind::writes) known.clear();
    // Calls whose results are written are never merged.
    if (kind != Kind::mergeable || written[node->id()]) continue;
    const size_t hash = hash_of_call(*copy);
    const auto [begin, end] = known.equal_range(hash);
    const auto equal = std::find_if(begin, end, [&](const auto& entry) {
      return equal_calls(*entry.second, *copy);
    });
    if (equal == end) {
      known.emplace(hash, copy);
      continue;
    }
    merged->erase_node(copy);
    copies[node->id()] = equal->second;
    modified = true;
  }
  if (!modified) return {module, false};
  merged->set_codegen(graph.shared_codegen());
  return {GraphModule::create(*module, std::move(merged)), true};
}

}  // namespace fxjit::fx::passes
