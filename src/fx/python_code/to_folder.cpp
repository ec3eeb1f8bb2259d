// GraphModule::to_folder: a Python package that torch imports.
#include <filesystem>
#include <fstream>

#include "fxjit/fx/graph_module.h"
#include "fxjit/torch_state.h"
#include "src/fx/graph/namespace.h"
#include "src/fx/python_code/python_module.h"

namespace fxjit::fx {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    throw RuntimeError("[to_folder] " + path.string() +
                       ": could not be written");
}

}  // namespace

void GraphModule::to_folder(const std::string& folder_name,
                            const std::string& module_name) const {
  if (!is_identifier(module_name) || is_illegal_name(module_name))
    throw ValueError("[to_folder] module_name: expected a Python name, got \"" +
                     module_name + "\"");
  const PythonModule module = python_module(*this, module_name);
  const fs::path folder(folder_name);
  std::error_code error;
  fs::create_directory(folder, error);
  if (error)
    throw RuntimeError("[to_folder] " + folder.string() + ": " +
                       error.message());
  save_torch_state(folder / kStateFile, module.state);
  if (!module.tensors.empty())
    save_torch_state(folder / kTensorsFile, module.tensors);
  write_text(folder / "module.py", module.text);
  std::string exports = "from .module import *";
  // Python's "*" leaves such names out.
  if (module_name.starts_with('_'))
    exports += "\nfrom .module import " + module_name;
  write_text(folder / "__init__.py", exports);
}

}  // namespace fxjit::fx
