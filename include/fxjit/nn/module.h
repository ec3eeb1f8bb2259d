// Module: a tree of named parameters, buffers and submodules with a forward,
// as torch.nn.Module. Models derive from nn::Custom (fxjit/nn/custom.h).
//
// Modules are held by shared handles (Ref), since a module may stand in several
// places of a tree and in graph modules made from it. Calls of a built module
// may run in several threads; registering and loading must not run beside
// calls.
#pragma once

#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fxjit/error.h"
#include "fxjit/nn/call_arg.h"
#include "fxjit/nn/ordered_dict.h"
#include "fxjit/nn/parameter.h"
#include "fxjit/nn/ref.h"
#include "fxjit/nn/signature.h"
#include "fxjit/value.h"

namespace fxjit::nn {

class Module;
using ModuleRef = Ref<Module>;

// Something a qualified name can stand for.
using Member =
    std::variant<std::monostate, ModuleRef, Parameter, Buffer, Value>;
using AttributeMap = std::vector<std::pair<std::string, Member>>;
using StateDict = std::vector<std::pair<std::string, Tensor>>;

// What load_state_dict found wrong; empty when strict.
struct LoadReport {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
};

// A function of a module that can be called and traced by name.
struct Method {
  Signature signature;
  std::function<Value(const std::vector<Value>& bound)> run;
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  // Modules in modules: walks over deeper trees are refused with a
  // RuntimeError, as Python's recursion ends in one.
  static constexpr int kMaxNesting = 500;

  explicit Module(std::string type_name = "Module");
  virtual ~Module();
  Module& operator=(const Module&) = delete;

  // --- Calling. ---
  // Goes through the active tracer if there is one, else runs forward.
  Value call(const ValueList& args, const Kwargs& kwargs = {},
             SourceLocation source = {});
  Value operator()(SourceLocation source = std::source_location::current());
  // One argument is the common call, and makes no others.
  Value operator()(CallArg a);
  Value operator()(CallArg a, CallArg b, CallArg c = {}, CallArg d = {},
                   CallArg e = {}, CallArg f = {}, CallArg g = {},
                   CallArg h = {});
  // Runs this module's forward itself, never recorded as one call.
  Value forward(const ValueList& args, const Kwargs& kwargs = {}) {
    return invoke(args, kwargs);
  }
  // The dynamic forward, to be overridden (Custom does). NotImplementedError
  // by default.
  virtual Value invoke(const ValueList& args, const Kwargs& kwargs);
  // Forward with one value per argument of `signature()`. While tracing,
  // "*args" may be one proxy. By default expands them and calls `invoke`.
  virtual Value invoke_bound(std::vector<Value> bound);
  // Arguments of forward; by default "*args", "**kwargs".
  virtual const Signature& signature() const;
  // Further functions by name, for Tracer::traced_func_name.
  void register_method(std::string name, Method method);
  const Method* find_method(std::string_view name) const;

  // --- Nature. ---
  const std::string& type_name() const { return type_name_; }
  // Recorded as one call_module by default: the layers of fxjit::nn.
  virtual bool is_leaf() const { return false; }
  // Calls must not be removed although their result is unused.
  virtual bool is_impure() const { return false; }
  // Text between the parentheses of the printed form.
  virtual std::string extra_repr() const { return {}; }
  // Python expression that makes such a module, for `from torch.nn import *`;
  // empty for modules that torch does not have.
  virtual std::string constructor_text() const { return {}; }
  // torch's printed tree.
  std::string repr() const;
  // What print(module) shows: the tree, and more where there is more.
  virtual std::string str() const { return repr(); }

  bool training() const { return training_; }
  // Sets the flag on this module and all below.
  void train(bool on = true);
  void eval() { train(false); }

  // --- Members, in order of registration. ---
  // Names may not be empty, hold dots or be taken by another kind of member:
  // KeyError with torch's text. Same kind: replaced. Null is a module that is
  // not there. ValueError for a module that holds this one: modules form trees.
  template <typename T>
  Ref<T> register_module(std::string name, Ref<T> module) {
    add_module(std::move(name), module);
    return module;
  }
  template <typename T>
  Ref<T> register_module(std::string name, std::shared_ptr<T> module) {
    return register_module(std::move(name), Ref<T>(std::move(module)));
  }
  Parameter register_parameter(std::string name, Parameter parameter);
  Parameter register_parameter(std::string name, const Tensor& tensor) {
    return register_parameter(std::move(name), Parameter(tensor));
  }
  Buffer register_buffer(std::string name, Buffer buffer);
  Buffer register_buffer(std::string name, const Tensor& tensor,
                         bool persistent = true) {
    return register_buffer(std::move(name), Buffer(tensor, persistent));
  }
  // A plain attribute: a tensor or any value that forward or a graph reads.
  void set_attr(std::string_view name, Value value);
  bool remove_member(std::string_view name);

  const OrderedDict<ModuleRef>& children() const { return modules_; }
  const OrderedDict<Parameter>& own_parameters() const { return parameters_; }
  const OrderedDict<Buffer>& own_buffers() const { return buffers_; }
  const OrderedDict<Value>& own_attrs() const { return attrs_; }

  // A parameter, buffer or attribute of this module as forward reads it;
  // AttributeError with torch's text when absent.
  Value param(std::string_view name) const;
  Value attr(std::string_view name) const { return param(name); }

  // --- The tree. ---
  // Each object once, under its first name; this module itself is "".
  std::vector<std::pair<std::string, Parameter>> named_parameters() const;
  std::vector<std::pair<std::string, Buffer>> named_buffers() const;
  std::vector<std::pair<std::string, Module*>> named_modules() const;
  // Throw AttributeError with torch's text when absent.
  Module& get_submodule(std::string_view path) const;
  Parameter get_parameter(std::string_view path) const;
  Buffer get_buffer(std::string_view path) const;
  // Whether `module` is this one or stands anywhere below it.
  bool holds(const Module& module) const;
  // RuntimeError where the tree is deeper than kMaxNesting.
  void check_nesting() const;
  // monostate when absent.
  Member find_member(std::string_view path) const;
  Module* find_submodule(std::string_view path) const;

  // A module of the same class with the same members; under a DeepCopy all are
  // copies too. NotImplementedError when the class cannot be copied.
  virtual std::shared_ptr<Module> clone() const;

  // --- State. ---
  StateDict state_dict() const;
  // Takes the tensors as they are, without copying; they may lie in mapped
  // files. Shapes must match; other dtypes are converted. When `strict`, a
  // missing or unexpected name is an error. UserError lists every problem with
  // expected and got, and then nothing has been changed.
  LoadReport load_state_dict(const StateDict& state, bool strict = true);
  // Any other collection of pairs of name and tensor.
  template <typename Entries>
    requires requires(const Entries& entries) {
      std::begin(entries) != std::end(entries);
    }
  LoadReport load_state_dict(const Entries& state, bool strict = true) {
    return load_state_dict(StateDict(std::begin(state), std::end(state)),
                           strict);
  }

 protected:
  Module(const Module& other);
  void set_type_name(std::string name) { type_name_ = std::move(name); }
  // Print runs of equal children as one line, "(0-5): 6 x Block(...)".
  virtual bool groups_equal_children() const { return false; }

 private:
  void add_module(std::string name, ModuleRef module);
  void check_name(std::string_view name, const char* kind, bool replaces) const;

  std::string type_name_;
  bool training_ = true;
  OrderedDict<Parameter> parameters_;
  OrderedDict<Buffer> buffers_;
  OrderedDict<ModuleRef> modules_;
  OrderedDict<Value> attrs_;
  OrderedDict<Method> methods_;
};

template <typename T>
Value Ref<T>::operator()(SourceLocation source) const {
  return (*this)->call({}, {}, source);
}
template <typename T>
Value Ref<T>::operator()(CallArg a) const {
  if (!module_) [[unlikely]]
    detail::throw_null_call(a.source);
  return static_cast<Module&>(**this)(std::move(a));
}
template <typename T>
Value Ref<T>::operator()(CallArg a, CallArg b, CallArg c, CallArg d, CallArg e,
                         CallArg f, CallArg g, CallArg h) const {
  if (!module_) [[unlikely]]
    detail::throw_null_call(a.source);
  return static_cast<Module&>(**this)(std::move(a), std::move(b), std::move(c),
                                      std::move(d), std::move(e), std::move(f),
                                      std::move(g), std::move(h));
}

}  // namespace fxjit::nn
