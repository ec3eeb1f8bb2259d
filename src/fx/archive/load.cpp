// fx::load: builds the tables of the file in order. Rows refer to earlier rows
// only, so there is no recursion and nothing can refer to itself.
#include <algorithm>
#include <unordered_map>

#include "fxjit/fx/archive.h"
#include "fxjit/fx/pytree_codegen.h"
#include "fxjit/fx/text.h"
#include "fxjit/nn/init.h"
#include "fxjit/nn/module_types.h"
#include "src/fx/archive/fields.h"
#include "src/fx/archive/format.h"
#include "src/fx/archive/writes.h"
#include "src/fx/text/text_values.h"

namespace fxjit::fx {
namespace {

using archive::Fields;
using nlohmann::json;

// Modules in modules: printing and destroying them recurses.
constexpr int kMaxDepth = 500;

class Loader {
 public:
  Loader(const NamedTensors& data, int version) : version_(version) {
    for (const auto& [name, tensor] : data) data_.emplace(name, tensor);
  }

  nn::Ref<GraphModule> run() {
    const json description = parse_description();
    Fields fields(description, "description");
    const json& modules = fields.array("modules");
    const json& handles = fields.array("handles");
    const json& tensors = fields.array("tensors");
    fields.finish();
    parse_graphs(modules);
    for (const json& entry : tensors) add_tensor(entry);
    if (!data_.empty())
      fields.fail("no module refers to tensor \"" +
                  std::string(data_.begin()->first) + "\"");
    for (const json& entry : handles) add_handle(entry);
    for (const json& entry : modules) add_module(entry);
    // Each flag is set on all below, so parents go first.
    for (size_t i = modules_.size(); i-- > 0;)
      modules_[i]->train(training_[i]);
    if (modules_.empty()) fields.fail("modules: expected at least one");
    auto root = std::dynamic_pointer_cast<GraphModule>(modules_.back().ptr());
    if (!root) fields.fail("modules: expected a GraphModule as the last");
    return root;
  }

 private:
  json parse_description() {
    const auto found = data_.find(archive::kDescription);
    if (found == data_.end() || found->second.dtype() != DType::u8)
      throw UserError(std::string("[load] tensor \"") + archive::kDescription +
                      "\": expected the bytes of a description");
    const Tensor& bytes = found->second;
    const char* const begin = bytes.data_as<char>();
    json description = json::parse(begin, begin + bytes.numel(),
                                   /*cb=*/nullptr, /*allow_exceptions=*/false);
    data_.erase(found);
    return description;
  }

  // First, since graphs that write in place need memory of their own.
  void parse_graphs(const json& modules) {
    graphs_.resize(modules.size());
    for (size_t row = 0; row < modules.size(); ++row) {
      const json& entry = modules[row];
      if (!entry.is_object()) continue;
      writes_ = writes_ || archive::keeps_statistics(entry);
      if (!entry.contains("graph")) continue;
      Fields fields(entry, place("modules", row));
      graphs_[row] = parse_graph(fields.string("graph"));
      for (const Node* node : graphs_[row]->nodes())
        writes_ = writes_ || archive::writes_in_place(*node);
    }
  }

  static std::string place(const char* table, size_t row) {
    return std::string(table) + "[" + std::to_string(row) + "]";
  }

  // --- Tensors and the handles that share them. ---
  void add_tensor(const json& entry) {
    Fields fields(entry, place("tensors", tensors_.size()));
    const std::string name = fields.string("name");
    const auto dtype = dtype_from_name(fields.string("dtype"));
    if (!dtype) fields.fail("dtype: unknown");
    const Dims sizes = numbers(fields, "shape");
    const bool memory = fields.boolean("memory");
    if (memory && fields.has("view")) {
      tensors_.push_back(view(fields.any("view"), *dtype, sizes));
      fields.finish();
      return;
    }
    fields.finish();
    if (!memory) {
      tensors_.push_back(Tensor::meta(sizes, *dtype));
      return;
    }
    const auto found = data_.find(name);
    if (found == data_.end()) fields.fail("the file has no tensor " + name);
    if (found->second.dtype() != *dtype || found->second.sizes() != sizes)
      fields.fail(name + ": expected " + std::string(dtype_name(*dtype)) +
                  sizes.str() + ", got " + found->second.describe());
    tensors_.push_back(writes_ ? found->second.clone() : found->second);
    data_.erase(found);
  }

  // Memory of an earlier tensor. UserError when it would reach outside.
  Tensor view(const json& entry, DType dtype, const Dims& sizes) const {
    Fields fields(entry, place("tensors", tensors_.size()) + ".view");
    const Tensor& base = tensors_[fields.index("of", tensors_.size())];
    const Dims strides = numbers(fields, "strides");
    const size_t bytes = base.is_meta() ? 0 : base.storage()->bytes();
    const size_t start = fields.index("byte_offset", bytes);
    fields.finish();
    const auto item = static_cast<int64_t>(dtype_size(dtype));
    const int64_t first =
        base.offset() * static_cast<int64_t>(base.item_size()) +
        static_cast<int64_t>(start);
    if (strides.size() != sizes.size() || first % item != 0)
      fields.fail("expected a stride for each size and whole elements");
    return Tensor::view(base.storage(), sizes, dtype, strides, first / item);
  }


  static Dims numbers(Fields& fields, const char* name) {
    Dims sizes;
    for (const json& size : fields.array(name)) {
      if (!size.is_number_unsigned() ||
          size.get<uint64_t>() > uint64_t{1} << 62)
        fields.fail(std::string(name) + ": expected sizes of 0 or more");
      sizes.push_back(size.get<int64_t>());
    }
    return sizes;
  }

  void add_handle(const json& entry) {
    Fields fields(entry, place("handles", handles_.size()));
    const Tensor& tensor = tensors_[fields.index("tensor", tensors_.size())];
    const bool is_parameter = fields.boolean("parameter");
    const bool requires_grad = fields.boolean("requires_grad");
    const bool persistent = fields.boolean("persistent");
    fields.finish();
    handles_.push_back({is_parameter ? nn::Parameter(tensor, requires_grad)
                                     : nn::Parameter(),
                        is_parameter ? nn::Buffer()
                                     : nn::Buffer(tensor, persistent)});
  }

  // --- Modules. ---
  void add_module(const json& entry) {
    Fields fields(entry, place("modules", modules_.size()));
    const std::string type = fields.string("type");
    training_.push_back(fields.boolean("training"));
    depth_ = 0;
    nn::ModuleRef module = type == archive::kGraphModule
                               ? graph_module(fields)
                               : plain_module(fields, type);
    fields.finish();
    modules_.push_back(std::move(module));
    depths_.push_back(depth_ + 1);
  }

  nn::ModuleRef graph_module(Fields& fields) {
    const auto module = GraphModule::create(
        nn::Module(), std::make_unique<Graph>(), fields.string("class"));
    module->set_tracer_name(fields.string("tracer"));
    fields.string("graph");
    // The first files of version 1 have none.
    if (version_ > 1 || fields.has("codegen"))
      if (const json& codegen = fields.any("codegen"); !codegen.is_null())
        graphs_[modules_.size()]->set_codegen(read_codegen(codegen));
    set_members(fields, *module);
    module->set_graph(std::move(graphs_[modules_.size()]));
    return module;
  }

  static std::shared_ptr<const CodeGen> read_codegen(const json& entry) {
    Fields fields(entry, "codegen");
    std::vector<std::string> arguments;
    for (const json& name : fields.array("orig_args")) {
      if (!name.is_string()) fields.fail("orig_args: expected strings");
      arguments.push_back(name.get<std::string>());
    }
    const TreeSpec in_spec(parse_value(fields.string("in_spec")));
    const Value out_spec = parse_value(fields.string("out_spec"));
    const bool of_module = fields.boolean("of_module");
    fields.finish();
    if (!out_spec.is_list() || out_spec.size() > 1)
      fields.fail("out_spec: expected a list of at most one tree");
    if (in_spec.num_children() != arguments.size())
      fields.fail("in_spec: expected one tree for each of orig_args");
    return std::make_shared<PyTreeCodeGen>(
        std::move(arguments), in_spec,
        out_spec.size() == 0 ? std::nullopt
                             : std::optional(TreeSpec(out_spec.at(0))),
        of_module);
  }

  nn::ModuleRef plain_module(Fields& fields, const std::string& type) {
    const Value arguments = parse_value(fields.string("arguments"));
    if (!arguments.is_dict()) fields.fail("arguments: expected a dict");
    Kwargs kwargs;
    for (const auto& [key, value] : arguments.as_dict())
      kwargs.emplace_back(std::string(key.as_string()), value);
    nn::ModuleRef module = make(type, kwargs, fields);
    const nn::ModuleType& known = *nn::find_module_type(*module);
    if (!known.transparent) {
      set_state(fields, *module);
      return module;
    }
    set_members(fields, *module);
    if (known.handles)
      for (const auto& [name, handle] : known.handles(*module))
        connect(fields, *module, name, handle);
    return module;
  }

  static nn::ModuleRef make(const std::string& type, const Kwargs& arguments,
                            Fields& fields) {
    if (type == archive::kModule)
      return nn::ModuleRef(
          std::make_shared<nn::Module>(fields.string("class")));
    const nn::SkipInit skip;
    nn::ModuleRef module = nn::make_module(type, arguments);
    const nn::ModuleType* const known =
        module ? nn::find_module_type(*module) : nullptr;
    if (!known || known->name != type)
      fields.fail("type: " + type + " makes modules of another type");
    return module;
  }

  // The handles of the class read what is registered.
  static void connect(const Fields& fields, const nn::Module& module,
                      const std::string& name, nn::Parameter* handle) {
    const nn::Parameter* registered = module.own_parameters().find(name);
    if (!registered) registered = module.own_buffers().find(name);
    if (handle->defined() &&
        (!registered || !registered->defined() ||
         registered->sizes() != handle->sizes()))
      fields.fail(name + ": expected sizes " + handle->sizes().str() +
                  " as the arguments say");
    if (!handle->defined() && registered && registered->defined())
      fields.fail(name + ": expected none as the arguments say");
    if (registered) *handle = *registered;
  }

  void set_members(Fields& fields, nn::Module& module) {
    for (const json& pair : fields.array("parameters")) {
      const std::string name = fields.pair_name(pair);
      nn::Parameter parameter = handle(fields, pair[1], name).parameter;
      if (!pair[1].is_null() && !parameter.defined())
        fields.fail(name + ": expected a parameter, got a buffer");
      module.register_parameter(name, std::move(parameter));
    }
    for (const json& pair : fields.array("buffers")) {
      const std::string name = fields.pair_name(pair);
      nn::Buffer buffer = handle(fields, pair[1], name).buffer;
      if (!pair[1].is_null() && !buffer.defined())
        fields.fail(name + ": expected a buffer, got a parameter");
      module.register_buffer(name, std::move(buffer));
    }
    size_t row = 0;
    for (const json& entry : fields.array("attributes")) {
      Fields attribute(entry, place("attributes", row++));
      const std::string name = attribute.string("name");
      if (attribute.has("tensor")) {
        module.set_attr(
            name, tensors_[attribute.index("tensor", tensors_.size())]);
      } else if (attribute.has("tensors")) {
        ValueList list;
        for (const json& index : attribute.array("tensors"))
          list.emplace_back(
              tensors_[attribute.as_index(index, tensors_.size(), name)]);
        module.set_attr(name, Value::list(std::move(list)));
      } else {
        module.set_attr(name, parse_value(attribute.string("value")));
      }
      attribute.finish();
    }
    for (const json& pair : fields.array("children"))
      add_child(fields, module, pair);
  }

  void add_child(const Fields& fields, nn::Module& module, const json& pair) {
    const std::string name = fields.pair_name(pair);
    nn::ModuleRef child;
    if (!pair[1].is_null()) {
      const size_t index = fields.as_index(pair[1], modules_.size(), name);
      child = modules_[index];
      depth_ = std::max(depth_, depths_[index]);
      if (depth_ >= kMaxDepth)
        fields.fail("modules nested more than " + std::to_string(kMaxDepth) +
                    " deep");
    }
    module.register_module(name, std::move(child));
  }

  struct Handle {
    nn::Parameter parameter;
    nn::Buffer buffer;
  };
  Handle handle(const Fields& fields, const json& value,
                const std::string& name) const {
    if (value.is_null()) return {};
    return handles_[fields.as_index(value, handles_.size(), name)];
  }

  // The numbers of a module that made its own members.
  void set_state(Fields& fields, nn::Module& module) {
    std::unordered_map<std::string, nn::Parameter> left;
    for (auto& [name, parameter] : module.named_parameters())
      left.emplace(name, parameter);
    for (auto& [name, buffer] : module.named_buffers())
      left.emplace(name, buffer);
    for (const json& pair : fields.array("state")) {
      const std::string name = fields.pair_name(pair);
      const Tensor& tensor =
          tensors_[fields.as_index(pair[1], tensors_.size(), name)];
      const auto found = left.find(name);
      if (found == left.end()) fields.fail("state: unexpected " + name);
      if (found->second.sizes() != tensor.sizes())
        fields.fail("state: " + name + ": expected sizes " +
                    found->second.sizes().str() + ", got " +
                    tensor.sizes().str());
      found->second.set_tensor(tensor);
      left.erase(found);
    }
    if (!left.empty()) fields.fail("state: missing " + left.begin()->first);
  }

  const int version_;
  std::unordered_map<std::string, Tensor> data_;  // Not referred to yet.
  std::vector<std::unique_ptr<Graph>> graphs_;    // By row of modules.
  bool writes_ = false;
  std::vector<Tensor> tensors_;
  std::vector<Handle> handles_;
  std::vector<nn::ModuleRef> modules_;
  std::vector<bool> training_;
  std::vector<int> depths_;  // By module: 1 without children.
  int depth_ = 0;            // The greatest below the module being made.
};

}  // namespace

nn::Ref<GraphModule> load(const std::string& path, const LoadOptions& options) {
  FileMetadata metadata;
  const NamedTensors tensors = load_safetensors(path, &metadata);
  try {
    const int version =
        archive::check_metadata(metadata, tensors, options.verify);
    return Loader(tensors, version).run();
  } catch (Error& error) {
    error.extend("\n  in file " + path, {});
    throw;
  }
}

}  // namespace fxjit::fx
