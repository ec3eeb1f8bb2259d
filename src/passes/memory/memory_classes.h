// Which values of a captured graph share memory, so that a call that writes its
// argument can be replaced by one that does not where nobody can tell.
#pragma once

#include <optional>
#include <vector>

#include "fxjit/fx/graph.h"
#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

class MemoryClasses {
 public:
  // `order`: positions by node id. `values`: of captured nodes by id, kept up
  // to date by the caller and by `replace`. All must outlive this.
  MemoryClasses(const std::vector<int32_t>& order, std::vector<Value>& values,
                GraphBuilder& builder)
      : order_(order), values_(values), builder_(builder) {}

  // Whether two tensors or proxies are the same elements in the same places.
  static bool is_same(GraphBuilder& builder, const Value& a, const Value& b);

  // Once the value of a captured call is known.
  void add(const fx::Node& node);

  // Whether nobody reads the memory of `written`, a tensor or proxy, from
  // `writer` on but as that very tensor; the caller included.
  bool may_replace(const fx::Node& writer, const Value& written);
  // Gives `after` to all who read `written` so far.
  void replace(const Value& written, const Value& after);
  // `value` with `after` in place of `written`.
  Value replaced(const Value& value, const Value& written, const Value& after);

  // Whether all that is read of the memory of `written` from `writer` on are
  // views of one dense tensor that holds all of it: they can be views of
  // what that is after the write.
  bool may_rebase(const fx::Node& writer, const Value& written);
  // Makes them so. `base`: the whole memory after the write.
  void rebase(const fx::Node& writer, const Value& base);
  // `value` as it is after the write.
  Value rebased(const Value& value, const Value& base);

  // For writes while the graph is built, of numbers that are known by then:
  // copies the memory of `written` and makes all that is read of it from
  // `writer` on views of the copy. Returns that of `written`; none where not
  // all of these are tensors or constants.
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
