// Puts a program together from an ONNX file: inputs, nodes, outputs.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "fxjit/onnx.h"
#include "src/import/input_checks.h"
#include "src/import/onnx/graph_reader.h"

namespace fxjit::onnx {

class ModelReader {
 public:
  ModelReader(const std::string& path, const ExampleSizes& sizes);
  Program run();
  bool has_guessed() const { return recorder_.has_guessed(); }
  std::vector<std::string> dim_names() const;

 private:
  void read_functions();
  void read_inputs(Scope& scope);
  void read_input(const ValueInfo& info, Scope& scope);
  void read_sizes(const TypeInfo& type, Input& input);
  static void describe_output(const TypeInfo& type, Output& output);
  TypeInfo with_places(const TypeInfo& type, Input& input);
  void describe_texts(const Call& call, const TypeInfo& type,
                      Output& output) const;
  Value read_outputs(const Scope& scope);
  std::vector<std::pair<std::string, std::string>> facts() const;
  std::shared_ptr<const import::InputChecks> make_checks() const;

  ExampleSizes example_sizes_;
  TensorFile file_;
  ModelInfo model_;
  GraphInfo graph_;
  Functions functions_;
  Recorder recorder_;
  GraphReader reader_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  import::InputChecks::Formulas formulas_;
  Texts known_texts_;  // What strings of inputs are places in.
};

}  // namespace fxjit::onnx
