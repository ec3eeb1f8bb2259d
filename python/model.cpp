#include "python/model.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "fxjit/error.h"
#include "fxjit/fx/archive.h"
#include "python/values.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

struct Call {
  ValueList args;
  Kwargs kwargs;
  ArrayKind kind = ArrayKind::numpy;
};

Call call_of(const nb::args& args, const nb::kwargs& kwargs) {
  Call call;
  for (const nb::handle arg : args)
    call.args.push_back(value_of(
        arg, "argument " + std::to_string(call.args.size()), call.kind));
  for (const auto& [key, value] : kwargs) {
    const auto name = nb::cast<std::string>(key);
    call.kwargs.emplace_back(name, value_of(value, name, call.kind));
  }
  return call;
}

bool is_exported(const std::string& path) { return path.ends_with(".pt2"); }

}  // namespace

Model::Model(const std::string& path, const std::string& weights,
             const CompileOptions& options)
    : path_(path) {
  const nb::gil_scoped_release unlocked;
  if (is_exported(path)) {
    program_ = pt2::load(path, {.weights = weights});
    module_ = program_->module;
  } else if (!weights.empty()) {
    throw UserError(path +
                    ": weights are for .pt2 files: this one has its own");
  } else {
    module_ = fx::load(path);
  }
  compile(*module_, options);
}

Value Model::run(const ValueList& args, const Kwargs& kwargs) const {
  if (program_) return program_->run(args, kwargs);
  if (!kwargs.empty())
    throw TypeError(path_ + ": takes its arguments by position");
  return module_->call(args);
}

nb::object Model::call(const nb::args& args, const nb::kwargs& kwargs) const {
  const Call call = call_of(args, kwargs);
  Value result;
  {
    const nb::gil_scoped_release unlocked;
    result = run(call.args, call.kwargs);
  }
  return object_of(result, call.kind);
}

std::vector<std::string> Model::inputs() const {
  std::vector<std::string> texts;
  if (program_) {
    for (const pt2::Input& input : program_->inputs)
      texts.push_back(input.str());
  } else {
    for (const fx::NodePtr node : module_->graph().placeholders())
      texts.emplace_back(node->name());
  }
  return texts;
}

std::vector<std::string> Model::outputs() const {
  std::vector<std::string> names;
  if (program_)
    for (const pt2::Output& output : program_->outputs)
      names.push_back(output.name);
  return names;
}

std::string Model::graph() const { return module_->graph().str(); }

std::string Model::report() const { return fxjit::report(*module_); }

std::string Model::profile(const nb::args& args,
                           const nb::kwargs& kwargs) const {
  const Call call = call_of(args, kwargs);
  const nb::gil_scoped_release unlocked;
  run(call.args, call.kwargs);
  ValueList leaves = call.args;
  for (const auto& [name, value] : call.kwargs) leaves.push_back(value);
  return profile_text(fxjit::profile(*module_, leaves));
}

std::string Model::describe() const { return "fxjit.Model(" + path_ + ")"; }

}  // namespace fxjit::python
