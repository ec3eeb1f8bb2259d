// Keeps which values of a captured graph share memory. A call that writes its
// argument may be replaced by a call that makes a new value if everyone who
// reads that memory later can be given the new value. This class answers
// whether that is so and changes the readers. Used by FollowedWrites and
// normalize alone.
#pragma once

#include <optional>
#include <vector>

#include "fxjit/fx/graph.h"
#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

class MemoryClasses {
 public:
  // `order` has the position of each captured node, by node id. `values` has
  // the value of each, by node id; the caller fills it and `replace` and the
  // like change it. All arguments must outlive this object.
  MemoryClasses(const std::vector<int32_t>& order, std::vector<Value>& values,
                GraphBuilder& builder)
      : order_(order), values_(values), builder_(builder) {}

  // Whether two tensors or proxies show the same elements at the same places of
  // one memory.
  static bool is_same(GraphBuilder& builder, const Value& a, const Value& b);

  // Takes a captured node in. Called once its value is known.
  void add(const fx::Node& node);

  // Whether all reads of the memory of `written` (a tensor or a proxy) from
  // node `writer` on, the caller's included, read `written` itself and no other
  // view.
  bool may_replace(const fx::Node& writer, const Value& written);
  // Gives `after` to all nodes whose value was `written`.
  void replace(const Value& written, const Value& after);
  // `value` with `after` in place of `written`.
  Value replaced(const Value& value, const Value& written, const Value& after);

  // Whether all values that are read of the memory of `written` from node
  // `writer` on are views of one dense tensor that holds all of that memory.
  // They can then become views of the new value of that tensor.
  bool may_rebase(const fx::Node& writer, const Value& written);
  // Makes those values views of `base`, which holds the whole memory after the
  // write.
  void rebase(const fx::Node& writer, const Value& base);
  // The view of `base`, the memory after a write, that shows the places of
  // `value`.
  Value rebased(const Value& value, const Value& base);

  // For a write whose numbers are known while the graph is built. Copies the
  // memory of `written` and makes every value of it that is read from `writer`
  // on a view of the copy. Returns the view that takes the place of `written`,
  // or none if one of these values is neither a tensor nor a constant.
  std::optional<Tensor> copy_known(const fx::Node& writer,
                                   const Value& written);

 private:
  bool is_known(const fx::Node& writer, const Value& written);
  bool is_read_from(const fx::Node& member, const fx::Node& writer) const;
  bool shows_other_part(const Value& value, const Value& written);
  std::vector<const fx::Node*>& members(int32_t memory);

  const std::vector<int32_t>& order_;
  std::vector<Value>& values_;
  GraphBuilder& builder_;
  std::vector<std::vector<const fx::Node*>> members_;  // By memory.
};

}  // namespace fxjit::passes
