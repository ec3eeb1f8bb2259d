#include "fxjit/fx/pytree_codegen.h"

#include <algorithm>

namespace fxjit::fx {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

// "x_1" of "x_1 : int = 3".
std::string variable_of(const std::string& free_var) {
  const std::string name = free_var.substr(0, free_var.find_first_of(":=#"));
  return name.substr(0, name.find_last_not_of(' ') + 1);
}

// The variable behind "*args".
std::string bare(const std::string& name) {
  return name.substr(std::min(name.find_first_not_of('*'), name.size()));
}

nn::Signature signature_of(const std::vector<std::string>& names) {
  return nn::Signature(std::vector<nn::ArgSpec>(names.begin(), names.end()));
}

}  // namespace

PyTreeCodeGen::PyTreeCodeGen(std::vector<std::string> orig_args,
                             TreeSpec in_spec, std::optional<TreeSpec> out_spec,
                             bool of_module)
    : orig_args_(std::move(orig_args)),
      in_spec_(std::move(in_spec)),
      out_spec_(std::move(out_spec)),
      of_module_(of_module),
      signature_(signature_of(orig_args_)) {
  if (in_spec_.num_children() != orig_args_.size())
    throw ValueError("[pytree codegen] in_spec: expected " +
                     std::to_string(orig_args_.size()) + " children, got " +
                     std::to_string(in_spec_.num_children()));
}

std::string PyTreeCodeGen::gen_fn_def(std::vector<std::string> free_vars,
                                      std::string_view return_annotation,
                                      bool expanded_def) const {
  const std::string def =
      CodeGen::gen_fn_def(orig_args_, return_annotation, expanded_def);
  return free_vars.empty() && !of_module_
             ? def
             : def + bindings(free_vars, expanded_def);
}

// Annotations cannot stand in an assignment to several variables, so they get
// a line before it.
std::string PyTreeCodeGen::bindings(const std::vector<std::string>& free_vars,
                                    bool expanded_def) const {
  std::vector<std::string> variables, sources;
  if (of_module_) {
    variables.push_back("self");
    sources.push_back("self");
  }
  std::string annotations;
  for (const std::string& free_var : free_vars) {
    variables.push_back(variable_of(free_var));
    if (free_var.find(':') == free_var.npos) continue;
    annotations += expanded_def ? "\n    " + free_var : free_var + "; ";
  }
  if (!annotations.empty() && !expanded_def)
    annotations = "\n    " + annotations + "\n";
  for (const std::string& name : orig_args_) sources.push_back(bare(name));
  return annotations + "\n    " + joined(variables) +
         ", = fx_pytree.tree_flatten_spec([" + joined(sources) +
         "], self._in_spec)";
}

std::string PyTreeCodeGen::generate_output(std::string_view result) const {
  if (!out_spec_) return CodeGen::generate_output(result);
  return "return pytree.tree_unflatten(" + std::string(result) +
         ", self._out_spec)";
}

ValueList PyTreeCodeGen::process_inputs(ValueList inputs) const {
  return tree_flatten_spec(Value::tuple(std::move(inputs)), in_spec_);
}

Value PyTreeCodeGen::process_outputs(Value outputs) const {
  if (!out_spec_) return outputs;
  return tree_unflatten(
      outputs.is_sequence() ? outputs.as_sequence() : ValueList{outputs},
      *out_spec_);
}

}  // namespace fxjit::fx
