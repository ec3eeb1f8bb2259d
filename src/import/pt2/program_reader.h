// Puts a program together from an archive: signature, graph, weights, trees.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "fxjit/pt2.h"
#include "src/import/input_checks.h"
#include "src/import/pt2/archive.h"
#include "src/import/pt2/graph.h"
#include "src/import/pt2/signature.h"
#include "src/import/pt2/weights.h"

namespace fxjit::import {

class ProgramReader {
 public:
  ProgramReader(const std::string& path, const pt2::LoadOptions& options);
  pt2::Program run();

 private:
  void check_version() const;
  Field signature_of_call() const;
  void read_inputs();
  void read_tensor_input(pt2::Input& input, const Field& meta);
  void read_number_input(pt2::Input& input, const std::string& name);
  // `formula`: of a size that is no number and inside the grammar.
  static pt2::Size read_size(const Field& size,
                             std::optional<SizeFormula>& formula);
  void read_arguments(const Field& call);
  void name_inputs();
  void read_graph();
  void add_weights_to_graph();
  void add_writes(const OutputSpec& spec, fx::NodePtr attribute);
  fx::NodePtr find_weight_node(const OutputSpec& spec) const;
  void read_outputs(const Field& call);
  void describe_result(pt2::Output& output, const Field& argument) const;
  std::shared_ptr<const fx::CodeGen> codegen() const;
  std::unordered_set<std::string> written_entries() const;
  void add_weight(nn::Module& root, const InputSpec& spec,
                  const std::unordered_set<std::string>& written);
  nn::Ref<fx::GraphModule> make_module();
  std::map<std::string, Range> read_ranges() const;
  std::shared_ptr<const InputChecks> make_checks();

  Pt2Archive archive_;
  WeightReader weights_;
  Field graph_field_, signature_;
  std::vector<InputSpec> input_specs_;
  std::unique_ptr<fx::Graph> graph_;
  nn::AttributeMap bodies_;  // Branches and bodies of control flow.
  Names names_;
  std::map<std::string, fx::NodePtr> attributes_;  // get_attr nodes by target.
  std::vector<pt2::Input> inputs_;
  InputChecks::Formulas formulas_;
  std::vector<Argument> arguments_;
  Value out_tree_;
  std::vector<pt2::Output> outputs_;
};

}  // namespace fxjit::import
