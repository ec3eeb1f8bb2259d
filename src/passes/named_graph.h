// NamedGraph: a fused ModelGraph whose sizes may be named (fxjit/size.h), made
// once for a kind of inputs and evaluated for each tuple of sizes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fxjit/op.h"
#include "src/passes/model_graph.h"
#include "src/passes/sized_constants.h"
#include "src/tensor/sizes/table.h"

namespace fxjit::passes {

class NamedGraph {
 public:
  // Of a graph traced with the names of `table`. NotImplementedError for one
  // with objects among the arguments of its calls.
  NamedGraph(ModelGraph model, std::unique_ptr<SizeTable> table);

  // The graph at these values of the names, as the passes make it of the
  // numbers, until the next call; null where a guard fails. One thread at a
  // time.
  const ModelGraph* at(std::span<const int64_t> names);

  // Lets go of the constants that the last at() made: they are the memory of
  // whoever took them.
  void release_constants();

  const SizeTable& table() const { return *table_; }

  // What the graph takes of memory, as an estimate from its nodes, expressions
  // and guards, without weights; with the constants that it keeps.
  size_t bytes() const { return bytes_ + constants_->bytes(); }

 private:
  // What has names: a node's value and arguments, as places in distinct_. A
  // value without names is -1.
  struct NamedNode {
    fx::Node* node;
    int32_t val;
    std::vector<std::pair<size_t, int32_t>> args;
  };

  void find_made();
  size_t counted_bytes() const;
  bool collect(fx::Graph& graph);
  int32_t place_of(const Value& value);

  ModelGraph model_;
  std::unique_ptr<SizeTable> table_;
  std::vector<int64_t> values_;  // Of the table's expressions.
  size_t bytes_ = 0;
  std::vector<NamedNode> nodes_;
  std::vector<Value> distinct_;  // Many nodes have values alike.
  std::unordered_map<std::string, int32_t> places_;  // By ValueWords.
  std::unique_ptr<SizedConstants> constants_;
  std::vector<std::pair<size_t, Tensor>> stand_ins_;  // By number of constant.
  std::vector<std::pair<Region*, Dims>> domains_;
  std::vector<std::pair<size_t, Tensor>> views_;  // By number of the result.
};

}  // namespace fxjit::passes
