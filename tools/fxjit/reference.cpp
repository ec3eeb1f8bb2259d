#include "tools/fxjit/reference.h"

#include <filesystem>

#include "src/io/npy.h"
#include "tools/fxjit/answer.h"
#include "tools/fxjit/contestants.h"
#include "tools/fxjit/places.h"

namespace fxjit::command {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json ask(const std::vector<std::string>& arguments, const std::string& what,
         const CheckOptions& options, const std::string& folder) {
  std::vector<std::string> command = {options.python,
                                      shared_file("reference.py"), what};
  command.insert(command.end(), arguments.begin(), arguments.end());
  try {
    Child child(command, (fs::path(folder) / (what + ".log")).string());
    return answer_of(child, options.peer_timeout);
  } catch (const ChildError& error) {
    throw UserError("[check] " + what + ": " + error.what());
  }
}

void refuse_other_formats(const Model& model, const std::string& against) {
  const std::string wanted = against == "torch" ? "torch.export" : "ONNX";
  if (model.format() != wanted)
    throw UserError("[check] --against " + against + " reads models of " +
                    wanted + "; " + model.path() + " is one of " +
                    model.format());
}

void add_inputs(std::vector<std::string>& arguments,
                const std::vector<std::string>& files) {
  for (const std::string& file : files)
    arguments.insert(arguments.end(), {"--input", file});
}

Tensor array_of(const json& file) {
  if (!file.is_string())
    throw UserError("[check] expected the name of a file, got " + file.dump());
  return io::load_npy(file.get<std::string>());
}

}  // namespace

ReferenceValues reference_values(const Model& model, const ValueList& inputs,
                                 const CheckOptions& options,
                                 const std::string& folder) {
  refuse_other_formats(model, options.against);
  std::vector<std::string> arguments = {"--model", options.model, "--output",
                                        folder};
  if (!options.weights.empty())
    arguments.insert(arguments.end(), {"--weights", options.weights});
  add_inputs(arguments, save_inputs(model, inputs, folder));
  const json said = ask(arguments, options.against, options, folder);
  ReferenceValues values;
  values.name = said.value("version", options.against);
  const json results = said.value("results", json::array());
  for (const json& file : results) values.results.emplace_back(array_of(file));
  const json nodes = said.value("nodes", json::object());
  for (const auto& [name, file] : nodes.items())
    values.nodes.emplace(name, array_of(file));
  return values;
}

void export_module(const fx::GraphModule& module, const ValueList& inputs,
                   const std::string& file, const CheckOptions& options,
                   const std::string& folder) {
  const fs::path package = fs::path(folder) / "reduced";
  module.to_folder(package.string());
  std::vector<std::string> arguments = {"--model", package.string(), "--output",
                                        file};
  const auto placeholders = module.graph().placeholders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name(placeholders[i]->name());
    if (!inputs[i].is_tensor())
      throw UserError("[check] input " + name +
                      " is no tensor: --format fx writes such models");
    const std::string path = (fs::path(folder) / (name + ".npy")).string();
    io::save_npy(path, inputs[i].as_tensor());
    arguments.insert(arguments.end(), {"--input", name + "=" + path});
  }
  ask(arguments, "export", options, folder);
}

}  // namespace fxjit::command
