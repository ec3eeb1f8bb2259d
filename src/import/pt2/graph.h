// The nodes of an exported program as nodes of a Graph: calls of torch's ops by
// their own names (torch.ops.aten.add.Tensor), with the exporter's source lines
// and module paths.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/nn/module.h"
#include "src/import/pt2/arguments.h"

namespace fxjit::import {

class GraphReader {
 public:
  // Appends to `graph`.
  explicit GraphReader(fx::Graph& graph) : graph_(graph) {}

  // The nodes of the field "graph" in order. `names` holds the inputs and
  // receives what is computed. Sub-graphs that only change a mode of torch
  // (no_grad, autocast switched off) become part of the graph, those of control
  // flow graph modules of their own; UserError for others, and for what is
  // malformed.
  void read_nodes(const Field& graph, Names& names);

  // Branches and bodies that nodes of the graph name, to be members of its
  // module.
  const nn::AttributeMap& members() const { return members_; }

  // UserError naming all functions met that are not in the op table, if any.
  void check_functions(const std::string& file) const;

 private:
  void read_node(const Field& node, Names& names);
  void read_control(const Field& node, const fx::Target& function,
                    Names& names);
  void read_arguments(const Field& node, const Names& names, ValueList& args,
                      Kwargs& kwargs);
  DType dtype_of_result(const Field& node) const;
  Value complex_number(const Field& number, DType dtype);
  Value read_body(const Field& graph);
  void inline_graph(const Field& node, const std::string& target, Names& names);
  void bind_results(const Field& node, fx::NodePtr call, Names& names);
  void bind_part(const Value& name, fx::NodePtr whole, size_t index,
                 Names& names);
  void define(const Field& place, const std::string& name, Value value,
              Names& names);
  fx::Target find_target(const std::string& name, const Field& node);
  void describe(fx::NodePtr node);
  void read_origin(const Field& node);

  fx::Graph& graph_;
  nn::AttributeMap members_;
  std::optional<Field> tensors_;  // What the graph knows of its tensors.
  std::map<std::string, std::string> missing_;  // Functions: where first met.
  std::unordered_map<std::string, std::shared_ptr<const fx::ModuleStack>>
      stacks_;
  // Trace and modules of the node that is being read.
  std::string trace_;
  std::shared_ptr<const fx::ModuleStack> stack_;
};

}  // namespace fxjit::import
