#include "src/fx/python_code/python_module.h"

#include <algorithm>

#include "fxjit/fx/pytree_codegen.h"
#include "fxjit/fx/symbolic_trace.h"
#include "src/nn/member_value.h"

namespace fxjit::fx {
namespace {

using nn::joined;

constexpr std::string_view kContainers[] = {"Module", "Sequential",
                                            "ModuleList", "ModuleDict"};

bool is_container(const nn::Module& module) {
  return std::find(std::begin(kContainers), std::end(kContainers),
                   module.type_name()) != std::end(kContainers);
}

std::string py_text(std::string_view text) { return repr(Value(text)); }

std::string in_file(const std::string& folder, const char* name) {
  return "torch.load(os.path.join(" + folder + ", " + py_text(name) + "))";
}

// An expression for a tensor of the same shape and type.
std::string empty_like(const Tensor& tensor) {
  return "torch.empty(" + tensor.sizes().str() + ", dtype=torch." +
         std::string(dtype_name(tensor.dtype())) + ")";
}

// A tree spec, made from a tree of its shape.
std::string spec_text(const Value& shape) {
  const Value tree = tree_map(shape, [](const Value&) { return Value(0); });
  return "pytree.tree_flatten(" + repr(tree) + ")[1]";
}

// The code's "wrap" lines, which must stand at the top of a file, and the rest.
std::pair<std::string, std::string> split_wraps(const std::string& code) {
  const size_t def = code.find("\ndef ") + 1;
  std::string wraps = code.substr(0, def);
  wraps.erase(0, std::min(wraps.find_first_not_of('\n'), wraps.size()));
  while (wraps.ends_with('\n')) wraps.pop_back();
  return {wraps, code.substr(def)};
}

void append_indented(std::string& out, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (text.find_first_not_of(' ', at) < end)
      out.append("    ").append(text, at, end - at).append("\n");
    at = end + 1;
  }
}

void add_once(std::vector<std::string>& lines, const std::string& line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end())
    lines.push_back(line);
}

class FileWriter {
 public:
  PythonModule write(const GraphModule& module, const std::string& name) {
    add_class(module, name, "", /*top=*/true);
    std::string& out = result_.text;
    out = "import os\n";
    for (const std::string& line : imports_) out += line + "\n";
    out += "from torch.nn import *\n";
    for (const std::string& line : wraps_) out += line + "\n";
    if (!result_.tensors.empty())
      out +=
          "\n_tensors = " +
          in_file("os.path.dirname(os.path.abspath(__file__))", kTensorsFile) +
          "\n";
    out += classes_;
    return std::move(result_);
  }

 private:
  // Defines a class for `module`, which stands at `path` below the top.
  void add_class(const GraphModule& module, const std::string& name,
                 const std::string& path, bool top) {
    std::string outer;
    std::swap(outer, init_);
    add_specs(module);
    add_members(module, "", path);
    if (top) add_loading(module.training());
    std::swap(outer, init_);
    const PythonCode& code = module.python_code();
    for (const auto& [global, import] : code.globals)
      if (!import.empty()) add_once(imports_, import);
    const auto [wraps, function] = split_wraps(code.src);
    if (!wraps.empty()) add_once(wraps_, wraps);
    classes_ += "\n\nclass " + name +
                "(torch.nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n" +
                outer + "\n";
    append_indented(classes_, function);
  }

  void statement(const std::string& text) { init_ += "        " + text + "\n"; }

  void add_specs(const GraphModule& module) {
    const auto* const trees =
        dynamic_cast<const PyTreeCodeGen*>(&module.graph().codegen());
    if (!trees) return;
    ValueList inputs = trees->in_spec().shape().as_sequence();
    if (trees->of_module()) inputs.insert(inputs.begin(), Value());
    statement("self._in_spec = " + spec_text(Value::tuple(std::move(inputs))));
    if (trees->out_spec())
      statement("self._out_spec = " + spec_text(trees->out_spec()->shape()));
  }

  // Statements that give their members to the module at `local` below the
  // class, which is at `path` below the top.
  void add_members(const nn::Module& module, const std::string& local,
                   const std::string& path) {
    const std::string self =
        local.empty() ? "self" : "self.get_submodule(" + py_text(local) + ")";
    modes_.emplace_back(path, module.training());
    for (const auto& [name, parameter] : module.own_parameters())
      if (parameter.defined()) {
        statement(self + ".register_parameter(" + py_text(name) +
                  ", torch.nn.Parameter(" + empty_like(parameter.tensor()) +
                  ", requires_grad=" +
                  repr(Value(parameter.slot()->requires_grad)) + "))");
        result_.state.emplace_back(joined(path, name), parameter.tensor());
      }
    for (const auto& [name, buffer] : module.own_buffers())
      if (buffer.defined()) add_buffer(self, name, joined(path, name), buffer);
    for (const auto& [name, value] : module.own_attrs())
      if (!value.is_opaque())
        statement("setattr(" + self + ", " + py_text(name) + ", " +
                  value_text(value, joined(path, name)) + ")");
    for (const auto& [name, child] : module.children())
      if (child)
        add_child(*child, self, name, joined(local, name), joined(path, name));
  }

  void add_buffer(const std::string& self, const std::string& name,
                  const std::string& path, const nn::Buffer& buffer) {
    const bool persistent = buffer.slot()->persistent;
    if (persistent) result_.state.emplace_back(path, buffer.tensor());
    statement(self + ".register_buffer(" + py_text(name) + ", " +
              (persistent ? empty_like(buffer.tensor())
                          : value_text(buffer.tensor(), path)) +
              ", persistent=" + repr(Value(persistent)) + ")");
  }

  // An expression for a value; its tensors are read from a file by names that
  // start with `key`.
  std::string value_text(const Value& value, const std::string& key) {
    if (value.is_tensor()) {
      result_.tensors.emplace_back(key, value.as_tensor());
      return "_tensors[" + py_text(key) + "].clone()";
    }
    std::string items;
    if (value.is_sequence()) {
      for (size_t i = 0; i < value.size(); ++i)
        items +=
            value_text(value.as_sequence()[i], key + "." + std::to_string(i)) +
            ", ";
      return value.is_list() ? "[" + items + "]" : "(" + items + ")";
    }
    if (!value.is_dict()) return repr(value);
    for (const auto& [name, item] : value.as_dict())
      items +=
          repr(name) + ": " + value_text(item, key + "." + repr(name)) + ", ";
    return "{" + items + "}";
  }

  void add_child(nn::Module& child, const std::string& self,
                 const std::string& name, const std::string& local,
                 const std::string& path) {
    const auto add = [&](const std::string& expression) {
      statement(self + ".add_module(" + py_text(name) + ", " + expression +
                ")");
    };
    if (const std::string text = child.constructor_text(); !text.empty()) {
      add(text);
      for (auto& [below, tensor] : child.state_dict())
        result_.state.emplace_back(joined(path, below), tensor);
      modes_.emplace_back(path, child.training());
    } else if (is_container(child)) {
      add("torch.nn." + child.type_name() + "()");
      add_members(child, local, path);
    } else {
      const std::string class_name = "_Module" + std::to_string(++count_);
      const auto* const graph = dynamic_cast<const GraphModule*>(&child);
      // A module of the user's: what its forward does.
      const auto traced =
          graph ? nn::Ref<GraphModule>() : symbolic_trace(child);
      add(class_name + "()");
      add_class(graph ? *graph : *traced, class_name, path, /*top=*/false);
    }
  }

  // Fills the tensors and sets the modes.
  void add_loading(bool training) {
    statement("folder = os.path.dirname(os.path.abspath(__file__))");
    statement("self.load_state_dict(" + in_file("folder", kStateFile) +
              ", assign=True)");
    if (!training) statement("self.eval()");
    for (const auto& [path, mode] : modes_)
      if (mode != training)
        // Sets the flag of that module alone: train() would go on to those
        // below.
        statement("self.get_submodule(" + py_text(path) +
                  ").training = " + repr(Value(mode)));
  }

  PythonModule result_;
  std::vector<std::string> imports_, wraps_;
  std::string classes_;  // Inner ones first.
  std::string init_;     // The constructor of the class being written.
  std::vector<std::pair<std::string, bool>> modes_;  // By path.
  int count_ = 0;
};

}  // namespace

PythonModule python_module(const GraphModule& module,
                           const std::string& class_name) {
  return FileWriter().write(module, class_name);
}

}  // namespace fxjit::fx
