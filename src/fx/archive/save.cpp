// fx::save: the module tree as a table, children before parents, over tables of
// handles and tensors, so that everything shared stays shared.
#include <algorithm>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "fxjit/fx/archive.h"
#include "fxjit/fx/folded_graph_module.h"
#include "fxjit/fx/pytree_codegen.h"
#include "fxjit/fx/text.h"
#include "fxjit/nn/init.h"
#include "fxjit/nn/module_types.h"
#include "src/fx/archive/format.h"
#include "src/fx/archive/shared_memory.h"
#include "src/fx/text/text_values.h"

namespace fxjit::fx {
namespace {

using archive::kDescription;
using nlohmann::json;
using Handles = std::vector<std::pair<std::string, nn::Parameter*>>;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw UserError("[save] module " + (path.empty() ? "''" : path) + ": " + what,
                  {"", "", path, {}});
}

// Whether the class of a graph module has nothing that a file would lose. What
// is folded before the first call is folded now: it is a part of the result.
bool is_graph_module(const nn::Module& module) {
  if (typeid(module) == typeid(passes::FoldedGraphModule)) {
    static_cast<const passes::FoldedGraphModule&>(module).ensure_folded();
    return true;
  }
  return typeid(module) == typeid(GraphModule);
}

class Saver {
 public:
  explicit Saver(const GraphModule& root) : shared_(root) {}

  NamedTensors run(const GraphModule& root) {
    add_module(root, "");
    const json description = {{"modules", std::move(modules_)},
                              {"handles", std::move(handles_)},
                              {"tensors", std::move(tensors_)}};
    std::string text;
    try {
      text = description.dump();
    } catch (const json::type_error& error) {
      throw UserError(std::string("[save] names: expected UTF-8: ") +
                      error.what());
    }
    Tensor bytes =
        Tensor::empty({static_cast<int64_t>(text.size())}, DType::u8);
    std::copy(text.begin(), text.end(), bytes.data_as<char>());
    data_.emplace_back(kDescription, std::move(bytes));
    return std::move(data_);
  }

 private:
  size_t add_module(const nn::Module& module, const std::string& path) {
    if (const auto found = module_index_.find(&module);
        found != module_index_.end())
      return found->second;
    if (!open_.insert(&module).second) fail(path, "is a part of itself");
    json entry =
        is_graph_module(module)
            ? graph_module(static_cast<const GraphModule&>(module), path)
            : plain_module(module, path);
    entry["training"] = module.training();
    open_.erase(&module);
    modules_.push_back(std::move(entry));
    return module_index_[&module] = modules_.size() - 1;
  }

  json graph_module(const GraphModule& module, const std::string& path) {
    module.graph().lint();
    json entry = {
        {"type", archive::kGraphModule},
        {"class", module.type_name()},
        {"tracer", module.tracer_name()},
        {"graph", text(module.graph(), {.meta = true})},
        {"codegen", codegen(module.graph(), path)}};
    add_members(entry, module, path);
    return entry;
  }

  // The library's own code generation of graphs with containers as inputs.
  static json codegen(const Graph& graph, const std::string& path) {
    if (!graph.has_codegen()) return nullptr;
    const CodeGen& codegen = graph.codegen();
    if (typeid(codegen) != typeid(PyTreeCodeGen))
      fail(path, "its graph has a CodeGen of its own, which has no text");
    const auto& tree = static_cast<const PyTreeCodeGen&>(codegen);
    const Value out_spec = tree.out_spec()
                               ? Value::list({tree.out_spec()->shape()})
                               : Value::list({});
    return {{"orig_args", tree.orig_args()},
            {"in_spec", value_text(tree.in_spec().shape(), path, "in_spec")},
            {"out_spec", value_text(out_spec, path, "out_spec")},
            {"of_module", tree.of_module()}};
  }

  json plain_module(const nn::Module& module, const std::string& path) {
    const nn::ModuleType* const type = nn::find_module_type(module);
    if (!type)
      fail(path, "expected a layer of fxjit::nn or a type given to "
                 "nn::register_module_type, got " +
                     module.type_name());
    const Kwargs arguments = type->arguments(module);
    ValueDict items;
    for (const auto& [key, value] : arguments) items.emplace_back(key, value);
    json entry = {{"type", type->name},
                  {"arguments", value_text(Value::dict(std::move(items)), path,
                                           "constructor arguments")}};
    if (type->name == archive::kModule) entry["class"] = module.type_name();
    if (type->transparent) {
      check_layer(module, *type, arguments, path);
      add_members(entry, module, path);
    } else {
      add_state(entry, module, path);
    }
    return entry;
  }

  // What is written must be readable, and must be what the layer computes with.
  static void check_layer(const nn::Module& module, const nn::ModuleType& type,
                          const Kwargs& arguments, const std::string& path) {
    if (!type.handles) return;
    const nn::SkipInit skip;
    const nn::ModuleRef made = nn::make_module(type.name, arguments);
    const Handles expected = type.handles(*made);
    const Handles used = type.handles(const_cast<nn::Module&>(module));
    for (size_t i = 0; i < used.size(); ++i) {
      const auto& [name, handle] = used[i];
      const nn::TensorSlot* registered = nullptr;
      if (const nn::Parameter* p = module.own_parameters().find(name))
        registered = p->slot();
      if (const nn::Buffer* b = module.own_buffers().find(name))
        registered = b->slot();
      if (registered != handle->slot())
        fail(path, "it computes with another " + name + " than is registered");
      const nn::Parameter& other = *expected[i].second;
      if (other.defined() != handle->defined() ||
          (other.defined() && other.sizes() != handle->sizes()))
        fail(path, name + ": its sizes do not follow from the arguments of " +
                       type.name);
    }
  }

  void add_members(json& entry, const nn::Module& module,
                   const std::string& path) {
    const std::string prefix = path.empty() ? "" : path + ".";
    json& parameters = entry["parameters"] = json::array();
    for (const auto& [name, parameter] : module.own_parameters())
      parameters.push_back({name, handle_index(parameter, prefix + name)});
    json& buffers = entry["buffers"] = json::array();
    for (const auto& [name, buffer] : module.own_buffers())
      buffers.push_back({name, handle_index(buffer, prefix + name)});
    json& attributes = entry["attributes"] = json::array();
    for (const auto& [name, value] : module.own_attrs()) {
      json item = {{"name", name}};
      if (value.is_tensor()) {
        item["tensor"] = tensor_index(value.as_tensor(), prefix + name);
      } else if (is_tensor_list(value)) {
        json& list = item["tensors"] = json::array();
        for (const Value& part : value.as_sequence())
          list.push_back(
              tensor_index(part.as_tensor(), prefix + name + "." +
                                                 std::to_string(list.size())));
      } else {
        item["value"] = value_text(value, path, "attribute " + name);
      }
      attributes.push_back(std::move(item));
    }
    json children = json::array();
    for (const auto& [name, child] : module.children())
      children.push_back(
          {name, child ? json(add_module(*child, prefix + name)) : json()});
    entry["children"] = std::move(children);
  }

  // As constant folding leaves them.
  static bool is_tensor_list(const Value& value) {
    return value.is_list() && value.size() > 0 &&
           std::all_of(value.as_sequence().begin(), value.as_sequence().end(),
                       [](const Value& part) { return part.is_tensor(); });
  }

  // Adds the numbers of a module whose type builds itself.
  void add_state(json& entry, const nn::Module& module,
                 const std::string& path) {
    const std::string prefix = path.empty() ? "" : path + ".";
    json& state = entry["state"] = json::array();
    for (const auto& [name, parameter] : module.named_parameters())
      state.push_back({name, tensor_index(parameter.tensor(), prefix + name)});
    for (const auto& [name, buffer] : module.named_buffers())
      state.push_back({name, tensor_index(buffer.tensor(), prefix + name)});
  }

  json handle_index(const nn::Parameter& handle, const std::string& name) {
    if (!handle.defined()) return nullptr;
    const auto [found, added] =
        handle_index_.emplace(handle.slot(), handles_.size());
    if (added) {
      const nn::TensorSlot& slot = *handle.slot();
      handles_.push_back({{"tensor", tensor_index(handle.tensor(), name)},
                          {"parameter", slot.is_parameter},
                          {"requires_grad", slot.requires_grad},
                          {"persistent", slot.persistent}});
    }
    return found->second;
  }

  size_t tensor_index(const Tensor& tensor, const std::string& name) {
    const auto known = tensor_index_.find(tensor.id());
    if (known != tensor_index_.end()) return known->second;
    json view;
    if (const Tensor base = shared_.base_of(tensor); base.defined())
      view = view_entry(tensor, base, name);
    tensor_index_.emplace(tensor.id(), tensors_.size());
    json entry = {{"name", name},
                  {"dtype", dtype_name(tensor.dtype())},
                  {"shape", std::vector<int64_t>(tensor.sizes().begin(),
                                                 tensor.sizes().end())},
                  {"memory", !tensor.is_meta()}};
    const bool has_data = !tensor.is_meta() && view.is_null();
    if (!view.is_null()) entry["view"] = std::move(view);
    tensors_.push_back(std::move(entry));
    if (has_data) data_.emplace_back(name, tensor);
    return tensors_.size() - 1;
  }

  // Where a tensor lies in the memory of `base`, which gets a row before it.
  json view_entry(const Tensor& tensor, const Tensor& base,
                  const std::string& name) {
    const size_t index = tensor_index(base, name + ".memory");
    const auto bytes = [](const Tensor& t) {
      return t.offset() * static_cast<int64_t>(t.item_size());
    };
    kept_.push_back(base);  // Its id must stay its own.
    return {{"of", index},
            {"strides", std::vector<int64_t>(tensor.strides().begin(),
                                             tensor.strides().end())},
            {"byte_offset", bytes(tensor) - bytes(base)}};
  }

  static std::string value_text(const Value& value, const std::string& path,
                                const std::string& what) {
    std::string text;
    if (!append_value_text(text, value))
      fail(path, what + ": expected values with a text, got " + repr(value));
    return text;
  }

  const archive::SharedMemory shared_;
  std::vector<Tensor> kept_;
  json modules_ = json::array();
  json handles_ = json::array();
  json tensors_ = json::array();
  NamedTensors data_;
  std::unordered_set<const nn::Module*> open_;
  std::unordered_map<const nn::Module*, size_t> module_index_;
  std::unordered_map<const nn::TensorSlot*, size_t> handle_index_;
  std::unordered_map<const void*, size_t> tensor_index_;
};

}  // namespace

void save(const GraphModule& module, const std::string& path) {
  if (!is_graph_module(module))
    fail("", "expected a GraphModule itself, got a class derived from it");
  // All is folded before the tensors are looked at.
  for (const auto& [name, inner] : module.named_modules())
    is_graph_module(*inner);
  NamedTensors tensors = Saver(module).run(module);
  for (auto& [name, tensor] : tensors) tensor = tensor.contiguous();
  const std::string sum = archive::checksum(tensors);
  save_safetensors(path, tensors,
                   {{archive::kFormatKey, archive::kFormat},
                    {archive::kVersionKey, std::to_string(kArchiveVersion)},
                    {archive::kChecksumKey, sum}});
}

}  // namespace fxjit::fx
