// Whose memory each value of a captured graph is: merging equal calls makes one
// tensor of what the user holds as several, and results must not share memory
// where the interpreter's do not.
#pragma once

#include <vector>

#include "fxjit/fx/graph.h"
#include "src/passes/graph_builder.h"

namespace fxjit::passes {

class ResultOwners {
 public:
  // `values`: of captured nodes by id, once they are known.
  ResultOwners(const std::vector<Value>& values, const GraphBuilder& builder)
      : values_(values), builder_(builder), facts_(values.size()) {}

  // `fresh`: its result is memory of its own; else it may be an argument's.
  void add(const fx::Node& node, bool fresh) {
    facts_[node.id()] = {fresh ? Kind::fresh : Kind::unclear, nullptr};
  }
  void add_write(const fx::Node& writer, const fx::Node& written) {
    facts_[writer.id()] = {Kind::write, &written};
  }

  // ModelGraph::result_owners of a result made from this captured value.
  std::vector<int32_t> of(const Value& captured);

 private:
  enum class Kind : uint8_t { outside, fresh, unclear, write };
  struct Fact {
    Kind kind = Kind::outside;
    const fx::Node* from = nullptr;  // The node written.
  };

  const fx::Node* owner(const fx::Node* node);
  // The argument that the node's value is memory of, or null.
  const fx::Node* argument_behind(const fx::Node& node);
  // What identifies the memory behind a tensor or proxy.
  const void* root(const Value& leaf);

  const std::vector<Value>& values_;
  const GraphBuilder& builder_;
  std::vector<Fact> facts_;        // By node id.
  std::vector<const void*> roots_;  // By id of normalised nodes.
};

}  // namespace fxjit::passes
