// Which values of a captured graph share memory, so that a call that writes its
// argument can be replaced by one that does not where nobody can tell.
#pragma once

#include <optional>
#include <vector>

#include "fxjit/fx/graph.h"
#include "src/passes/graph_builder.h"

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
  // Whether `written` may be changed by a call with these arguments: only the
  // graph holds its memory, and no argument overlaps it but as that tensor.
  bool may_change(const Value& written, const ValueList& args);
  // Gives all that are read behind `writer` views of the memory in which
  // `result` is in place of `written`, and returns what `written` is there.
  // None where the memory is not known as a whole.
  std::optional<Value> write_part(const fx::Node& writer, const Value& written,
                                  const Value& result);
  // Gives `after` to all who read `written` so far.
  void replace(const Value& written, const Value& after);
  // `value` with `after` in place of `written`.
  Value replaced(const Value& value, const Value& written, const Value& after);

 private:
  // Where the value's elements lie; of constants with their memory.
  Tensor placement(const Value& leaf) const;
  Value whole_of(const Value& written);
  bool is_read_behind(const fx::Node& member, const fx::Node& writer) const;
  template <typename Change>
  void change_read(const fx::Node& writer, int32_t memory, Change change);
  bool are_placed(const fx::Node& writer, const Value& written);
  bool shows_other_part(const Value& value, const Value& written);
  std::vector<const fx::Node*>& members(int32_t memory);

  const std::vector<int32_t>& order_;
  std::vector<Value>& values_;
  GraphBuilder& builder_;
  std::vector<std::vector<const fx::Node*>> members_;  // By memory.
};

}  // namespace fxjit::passes
