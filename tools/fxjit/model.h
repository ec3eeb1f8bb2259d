// A model of either kind of file, as the commands use it: inputs by name, a
// call that takes one value for each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fxjit/imported.h"

namespace fxjit::command {

// What a file has to say of an input; a file of fx::save says its name only.
struct ModelInput {
  std::string name;
  std::string text;  // "x: float32[s0, 8]"
  imported::Input facts;
  bool known = false;  // `facts` are the file's.
};

class Model {
 public:
  // A .pt2 file or one of fx::save, told apart by their content. `weights`: a
  // .safetensors file with weights in place of the file's own, or empty; for
  // .pt2 only. UserError for files of neither kind.
  Model(const std::string& path, const std::string& weights);

  const std::string& path() const { return path_; }
  // "torch.export", "ONNX" or "fx::save".
  const char* format() const { return format_; }
  fx::GraphModule& module() const { return *module_; }
  const nn::Ref<fx::GraphModule>& handle() const { return module_; }
  const std::vector<ModelInput>& inputs() const { return inputs_; }

  // One value for each input. Checked where the file says what to check.
  Value call(const ValueList& inputs) const;
  // The values as the module's placeholders take them.
  const imported::Program* program() const {
    return program_ ? &*program_ : nullptr;
  }
  // Names for the leaves of a result, one each.
  std::vector<std::string> output_names(size_t leaves) const;
  // The type that the file declares for a leaf, where its tensor carries it.
  CarriedType output_type(size_t leaf, size_t leaves) const;

 private:
  std::string path_;
  const char* format_ = "fx::save";
  std::optional<imported::Program> program_;
  nn::Ref<fx::GraphModule> module_;
  std::vector<ModelInput> inputs_;
};

}  // namespace fxjit::command
