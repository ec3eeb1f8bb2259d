// Reads the nodes of a graph and records each by the row of its op. A node is
// read after the nodes whose results it uses. Bodies of functions, and branches
// of `If` whose condition is known, are read in place.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/import/onnx/call.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {

using Opsets = std::map<std::string_view, int64_t>;  // By plain domain.

// The model's functions by domain, name and overload.
using FunctionKey =
    std::tuple<std::string_view, std::string_view, std::string_view>;
using Functions = std::map<FunctionKey, FunctionInfo>;

// The versions of the sets of ops that the model, or the body of a function,
// uses.
Opsets opsets_of(const std::vector<OpsetInfo>& opsets);

// The sizes in examples of dims that have no number in the file: `size`, or 1
// for some of them.
struct ExampleSizes {
  enum class Ones : uint8_t { none, first_dims, of_name };

  int64_t size = 0;
  Ones ones = Ones::none;
  std::string name = {};  // Of the dims that are 1.
  // If the rank of a result depends on whether such a dim has one element, it
  // is read with more than one. Calls with one element are then refused.
  bool many = false;

  int64_t of(const Dimension& dim, bool is_first) const;
};

// The values of a graph by name. A sub-graph also sees the names of the scopes
// around it.
class Scope {
 public:
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}

  const Operand* find(std::string_view name) const;
  // Returns false if the name is taken in this scope.
  bool define(std::string_view name, Operand operand);

 private:
  const Scope* outer_;
  std::unordered_map<std::string, Operand> names_;
};

class GraphReader {
 public:
  GraphReader(TensorFile& file, Recorder& recorder, const Functions& functions,
              const ExampleSizes& example_sizes)
      : file_(file),
        recorder_(recorder),
        functions_(functions),
        example_sizes_(example_sizes) {}

  TensorFile& file() { return file_; }
  Recorder& recorder() { return recorder_; }
  const ExampleSizes& example_sizes() const { return example_sizes_; }

  // Reads the initialisers and nodes of a graph. `place` is its path in the
  // file, for messages: "graph".
  void read(const GraphInfo& graph, const Opsets& opsets, Scope& scope,
            const std::string& place);
  // Reads a sub-graph of `call`'s node with these inputs (none, if it has none)
  // and returns its outputs.
  std::vector<Operand> read_inside(Call& call, const GraphInfo& graph,
                                   std::vector<Operand> inputs);
  // The value of a graph's output.
  Operand output(std::string_view name, const Scope& scope,
                 const std::string& place) const;

 private:
  void read_initializers(const GraphInfo& graph, Scope& scope,
                         const std::string& place);
  void read_nodes(const std::vector<Bytes>& nodes, const Opsets& opsets,
                  Scope& scope, const std::string& place);
  void read_node(const NodeInfo& node, const Opsets& opsets, Scope& scope,
                 const std::string& place);
  void define(const NodeInfo& node, const Results& results, Scope& scope,
              const std::string& place);
  Operand declared(std::string_view name, Operand operand) const;
  void mark_unsigned(const Call& call, Results& results) const;
  Results call_function(const FunctionInfo& function, const NodeInfo& node,
                        const std::vector<Operand>& inputs,
                        const std::string& place);

  TensorFile& file_;
  Recorder& recorder_;
  const Functions& functions_;
  ExampleSizes example_sizes_;
  std::unordered_map<std::string_view, ValueInfo> values_;  // As declared.
  // The call of the function whose body is being read; null outside of one.
  struct FunctionCall {
    const FunctionInfo* function;
    const NodeInfo* node;
  };
  const FunctionCall* function_call_ = nullptr;
  const Opsets* opsets_ = nullptr;  // Of the nodes being read.
  const Scope* scope_ = nullptr;
  int depth_ = 0;
};

// "graph.node[3] Conv "conv1""
std::string node_place(const NodeInfo& node, const std::string& place,
                       size_t index);

// A meta tensor of a declared type, in which dims without a number have `size`.
// None for an unknown rank or dtype.
std::optional<Tensor> example_of(const TypeInfo& type,
                                 const ExampleSizes& of_open);

}  // namespace fxjit::onnx
