#include "tools/fxjit/model.h"

#include <cstring>

#include "fxjit/error.h"
#include "fxjit/fx/archive.h"
#include "fxjit/onnx.h"
#include "fxjit/pt2.h"
#include "src/support/disk/mapped_file.h"

namespace fxjit::command {
namespace {

enum class Format { exported, onnx, saved };

// By the first bytes: a zip archive, a length and a JSON object, or the first
// field of an ONNX model, its IR version, of which later fields follow.
Format format_of(const std::string& path) {
  constexpr size_t kNeeded = 9;
  const support::MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() >= kNeeded) {
    if (std::memcmp(bytes.data(), "PK", 2) == 0) return Format::exported;
    if (static_cast<char>(bytes[8]) == '{') return Format::saved;
  }
  if (path.ends_with(".onnx") ||
      (bytes.size() >= 2 && bytes[0] == std::byte{0x08}))
    return Format::onnx;
  throw UserError("[model] " + path +
                  ": neither a program of torch.export.save (.pt2), nor an "
                  "ONNX model, nor a file of fx::save");
}

}  // namespace

Model::Model(const std::string& path, const std::string& weights)
    : path_(path) {
  const Format format = format_of(path);
  if (!weights.empty() && format != Format::exported)
    throw UserError("[model] " + path +
                    ": --weights is for .pt2 files: this one has its own");
  if (format != Format::saved) {
    program_ = format == Format::onnx ? onnx::load(path)
                                      : pt2::load(path, {.weights = weights});
    format_ = format == Format::onnx ? "ONNX" : "torch.export";
    module_ = program_->module;
    for (const imported::Input& input : program_->inputs)
      inputs_.push_back({input.name, input.str(), input, true});
    return;
  }
  module_ = fx::load(path);
  for (const fx::Node* node : module_->graph().placeholders()) {
    const std::string name(node->name());
    inputs_.push_back({name, name, {}, false});
  }
}

Value Model::call(const ValueList& inputs) const {
  if (!program_) return module_->call(inputs);
  const auto [args, kwargs] = program_->arguments_of(inputs);
  return program_->run(args, kwargs);
}

std::vector<std::string> Model::output_names(size_t leaves) const {
  std::vector<std::string> names;
  if (program_ && program_->outputs.size() == leaves) {
    for (const imported::Output& output : program_->outputs)
      names.push_back(output.name);
    return names;
  }
  for (size_t i = 0; i < leaves; ++i)
    names.push_back(leaves == 1 ? "output" : "output_" + std::to_string(i));
  return names;
}

CarriedType Model::output_type(size_t leaf, size_t leaves) const {
  return program_ && program_->outputs.size() == leaves
             ? program_->outputs[leaf].carried
             : CarriedType::none;
}

}  // namespace fxjit::command
