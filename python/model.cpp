#include "python/model.h"

#include <nanobind/stl/string.h>

#include <filesystem>
#include <fstream>
#include <tuple>
#include <utility>

#include "fxjit/error.h"
#include "fxjit/fx/archive.h"
#include "fxjit/fx/pytree.h"
#include "fxjit/onnx.h"
#include "fxjit/report.h"
#include "python/log_queue.h"
#include "python/options.h"
#include "python/torch_exchange.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

bool is_exported(const std::string& path) { return path.ends_with(".pt2"); }

bool is_onnx(const std::string& path) { return path.ends_with(".onnx"); }

nb::object told(const char* kind, const std::string& text,
                const Report& report) {
  return nb::module_::import_("fxjit.report").attr(kind)(text, report.json());
}

// Whether a call of the graph, or of one below it, names places of a storage.
bool names_places(const fx::GraphModule& module) {
  for (const auto& [name, child] : module.named_modules()) {
    const auto* const graph = dynamic_cast<const fx::GraphModule*>(child);
    if (!graph) continue;
    for (const fx::NodePtr node : graph->graph().nodes())
      if (node->target_name().find("as_strided") != std::string_view::npos)
        return true;
  }
  return false;
}

nb::object number_or_none(const std::optional<int64_t>& number) {
  return number ? nb::object(nb::int_(*number)) : nb::none();
}

nb::object name_of(DType dtype, CarriedType carried) {
  return nb::cast(std::string(carried == CarriedType::none
                                  ? dtype_name(dtype)
                                  : carried_name(carried)));
}

// Numbers, and the texts of sizes that are none.
nb::list sizes_of(const std::vector<pt2::Size>& sizes) {
  nb::list made;
  for (const pt2::Size& size : sizes)
    made.append(size.fixed ? number_or_none(size.fixed)
                           : nb::object(nb::str(size.text.c_str())));
  return made;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes << std::flush;
  if (!file) throw UserError(path + ": cannot be written");
}

}  // namespace

Model::Model(const std::string& path, const std::string& weights,
             nb::dict options, const std::string& name)
    : name_(name.empty() ? path : name), options_(std::move(options)) {
  const CompileOptions chosen = options_of(options_);
  const Unlocked unlocked;
  if (is_exported(name_)) {
    program_ = pt2::load(path, {.weights = weights});
    module_ = program_->module;
    if (!weights.empty()) weights_ = ModelFile(weights);
  } else if (!weights.empty()) {
    throw UserError(path +
                    ": weights are for .pt2 files: this one has its own");
  } else if (is_onnx(name_)) {
    program_ = onnx::load(path);
    module_ = program_->module;
  } else {
    module_ = fx::load(path);
  }
  file_ = ModelFile(path);
  prepare(chosen);
}

Model::Model(std::string name, nn::Ref<fx::GraphModule> module,
             nb::dict options, ArrayKind kind)
    : name_(std::move(name)),
      options_(std::move(options)),
      module_(std::move(module)),
      kind_(kind) {
  prepare(options_of(options_));
}

void Model::prepare(const CompileOptions& options) {
  find_carried_types();
  if (names_places(*module_)) extent_ = Extent::storage;
  compile(*module_, options);
}

void Model::declare(const nb::list& sizes) {
  options_["sizes"] = sizes;
  compile(*module_, options_of(options_));
}

// Results of calls without arrays. Programs of PyTorch give its tensors where
// it is there.
ArrayKind Model::kind_without_arrays() const {
  return program_ && is_exported(name_) && is_torch_loaded() ? ArrayKind::torch
                                                             : kind_;
}

// Once, as results are made anew from then on: by a model that records none.
void Model::warn_of_gradients() const {
  if (warned_) return;
  const nb::module_ torch = nb::module_::import_("torch");
  if (!nb::cast<bool>(torch.attr("is_grad_enabled")())) return;
  warned_ = true;
  const std::string text =
      describe() +
      " records no gradients, though an argument requires them: results are "
      "detached. Call it under torch.no_grad(), or train by "
      "torch.compile(module, backend=\"fxjit\")";
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0)
    throw nb::python_error();
}

Model::Call Model::call_of(const nb::args& args,
                           const nb::kwargs& kwargs) const {
  Call call;
  Arrays arrays{.extent = extent_};
  for (const nb::handle arg : args) {
    const size_t i = call.args.size();
    arrays.type = type_of_input(i);
    call.args.push_back(
        value_of(taken(i, arg), "argument " + std::to_string(i), arrays));
  }
  for (const auto& [key, value] : kwargs) {
    const auto name = nb::cast<std::string>(key);
    if (name == "out") {
      take_outputs(call, value, arrays);
    } else {
      const size_t i = place_of(name);
      arrays.type = type_of_input(i);
      call.kwargs.emplace_back(name, value_of(taken(i, value), name, arrays));
    }
  }
  finish(call, arrays);
  return call;
}

void Model::finish(Call& call, const Arrays& arrays) const {
  call.kind = arrays.kind.value_or(kind_without_arrays());
  if (arrays.require_grad) warn_of_gradients();
}

ValueList Model::arguments_of(const Call& call) const {
  if (program_) return program_->bind(call.args, call.kwargs);
  return module_->bind_inputs(call.args, call.kwargs);
}

ValueList Model::placeholders_of(const Call& call) const {
  const ValueList args = arguments_of(call);
  const fx::CodeGen& codegen = module_->graph().codegen();
  if (const nn::Signature* const own = codegen.signature())
    return codegen.process_inputs(own->bind(args, {}, "forward"));
  return args;
}

Value Model::run(const Call& call) const {
  if (call.out) return call_into(*module_, arguments_of(call), call.outputs);
  if (program_) return program_->run(call.args, call.kwargs);
  return module_->call(call.args, call.kwargs);
}

nb::object Model::call(const nb::args& args, const nb::kwargs& kwargs) const {
  const Call call = call_of(args, kwargs);
  Value result;
  {
    const Unlocked unlocked;
    result = run(call);
    copy_later(call);
  }
  if (call.out) return call.out;
  const nb::object made = result_object(result, call.kind);
  return containers_.is_none() ? made : containers_(made);
}

nb::list Model::call_leaves(const nb::list& leaves) const {
  Call call;
  Arrays arrays{.extent = extent_};
  for (const nb::handle leaf : leaves) {
    const size_t i = call.args.size();
    arrays.type = type_of_input(i);
    call.args.push_back(
        value_of(taken(i, leaf), "input " + std::to_string(i), arrays));
  }
  finish(call, arrays);
  ValueList results;
  {
    const Unlocked unlocked;
    if (program_)
      std::tie(call.args, call.kwargs) = program_->arguments_of(call.args);
    results = fx::tree_leaves(run(call));
  }
  nb::list made;
  for (const Value& result : results)
    made.append(object_of(result, call.kind, type_of_output(made.size())));
  return made;
}

nb::list Model::inputs() const {
  const nb::object kind = nb::module_::import_("fxjit.report").attr("Input");
  nb::list made;
  if (!program_) {
    for (const fx::NodePtr node : module_->graph().placeholders()) {
      const nb::str name(std::string(node->name()).c_str());
      made.append(kind(name, name, name, nb::none(), nb::list(), nb::list(),
                       nb::list()));
    }
    return made;
  }
  for (const pt2::Input& input : program_->inputs) {
    const bool is_tensor = input.kind == pt2::Input::Kind::tensor;
    const bool is_constant = input.kind == pt2::Input::Kind::constant;
    nb::list example, most;
    for (const pt2::Size& size : input.sizes) {
      example.append(number_or_none(size.fixed ? size.fixed : size.example));
      most.append(number_or_none(size.fixed ? size.fixed : size.most));
    }
    nb::object one =
        kind(input.str(), input.name, input.path,
             is_tensor ? nb::cast(std::string(input.type_name())) : nb::none(),
             sizes_of(input.sizes), example, most);
    if (is_constant)
      one.attr("constant") = nb::make_tuple(object_of(input.constant, kind_));
    made.append(one);
  }
  return made;
}

nb::list Model::outputs() const {
  nb::list made;
  if (!program_) return made;
  const nb::object kind = nb::module_::import_("fxjit.report").attr("Output");
  for (const pt2::Output& output : program_->outputs)
    made.append(
        kind(output.name, output.path,
             output.dtype ? name_of(*output.dtype, output.carried) : nb::none(),
             sizes_of(output.sizes)));
  return made;
}

nb::object Model::graph() const {
  nb::list nodes;
  for (const fx::NodePtr node : module_->graph().nodes()) {
    nb::list inputs;
    for (const fx::NodePtr input : node->all_input_nodes())
      inputs.append(nb::str(std::string(input->name()).c_str()));
    nodes.append(nb::make_tuple(std::string(node->name()),
                                std::string(fx::opcode_name(node->op())),
                                node->target().pretty(), inputs));
  }
  return nb::module_::import_("fxjit.drawing")
      .attr("Graph")(module_->graph().str(), nodes);
}

nb::object Model::report() const {
  const Report made = make_report(*module_);
  return told("Report", made.text(), made);
}

std::pair<size_t, size_t> Model::compiled_size() const {
  const CompiledSize size = fxjit::compiled_size(*module_);
  return {size.programs, size.bytes};
}

nb::object Model::profile(const nb::args& args,
                          const nb::kwargs& kwargs) const {
  const Call call = call_of(args, kwargs);
  std::string text;
  Report measured;
  {
    const Unlocked unlocked;
    run(call);
    const ValueList leaves = placeholders_of(call);
    text = profile_text(fxjit::profile(*module_, leaves));
    measured = measure_report(*module_, leaves);
  }
  return told("Profile", text, measured);
}

std::string Model::describe() const { return "fxjit.Model(" + name_ + ")"; }

std::vector<std::pair<std::string, Tensor>> Model::written() const {
  std::vector<std::pair<std::string, Tensor>> tensors;
  if (!file_) return tensors;  // All are in the archive.
  for (const auto& [name, tensor] : module_->state_dict())
    if (!tensor.storage()->read_only()) tensors.emplace_back(name, tensor);
  return tensors;
}

Model* Model::copy() const {
  if (!file_) {
    auto* const made = new Model(name_, module_->deep_copy(), options_, kind_);
    made->containers_ = containers_;
    return made;
  }
  auto made = std::make_unique<Model>(
      file_.path(), weights_ ? weights_.path() : "", options_, name_);
  made->by_path_ = by_path_;
  made->containers_ = containers_;
  const auto state = made->module_->state_dict();
  for (const auto& [name, tensor] : written())
    for (const auto& [theirs, target] : state)
      if (theirs == name) target.copy_from(tensor);
  return made.release();
}

// An fx::save of a module that has no file.
std::string Model::archive() const {
  if (file_) return file_.bytes();
  const std::string path =
      std::filesystem::temp_directory_path() /
      ("fxjit-" + std::to_string(reinterpret_cast<uintptr_t>(this)));
  fx::save(*module_, path);
  const ModelFile saved(path);
  std::filesystem::remove(path);
  return saved.bytes();
}

nb::dict Model::written_arrays() const {
  nb::dict arrays;
  for (const auto& [name, tensor] : written())
    arrays[name.c_str()] = array_of(tensor, ArrayKind::numpy);
  return arrays;
}

void Model::set_pickled_by_path(bool by_path) {
  if (by_path && !file_)
    throw ValueError(name_ + ": this model was not loaded from a file");
  by_path_ = by_path;
}

nb::tuple Model::reduced() const {
  const auto bytes = [](const std::string& text) {
    return nb::bytes(text.data(), text.size());
  };
  const nb::module_ saved = nb::module_::import_("fxjit.saved");
  if (by_path_)
    return nb::make_tuple(
        saved.attr("restore_by_path"),
        nb::make_tuple(name_, file_.place(), weights_.place(), options_,
                       written_arrays(), containers_));
  return nb::make_tuple(
      saved.attr("restore"),
      nb::make_tuple(
          name_, bytes(archive()),
          weights_ ? nb::object(bytes(weights_.bytes())) : nb::none(), options_,
          written_arrays(), containers_));
}

void Model::set_written(const nb::dict& tensors) const {
  const auto state = module_->state_dict();
  for (const auto& [key, array] : tensors)
    for (const auto& [name, target] : state)
      if (name == nb::cast<std::string>(key))
        target.copy_from(tensor_of(array, name.c_str()));
}

void Model::save(const std::string& path) const {
  if (file_)
    write_file(path, file_.bytes());
  else
    fx::save(*module_, path);
}

void Model::to_folder(const std::string& folder,
                      const std::string& name) const {
  module_->to_folder(folder, name);
}

}  // namespace fxjit::python
