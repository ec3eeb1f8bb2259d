#include "fxjit/nn/module.h"

#include <typeinfo>
#include <unordered_set>

#include "fxjit/fx/proxy.h"
#include "fxjit/fx/tracer.h"
#include "fxjit/nn/layer.h"
#include "src/nn/member_value.h"

namespace fxjit::nn {
namespace {

// torch's text for a name that a module does not have.
[[noreturn]] void fail_absent(const Module& module, std::string_view name) {
  throw AttributeError("'" + module.type_name() +
                       "' object has no attribute '" + std::string(name) + "'");
}

// The first name of a path, without which the path is left.
std::string_view take_name(std::string_view& path) {
  const std::string_view name = path.substr(0, path.find('.'));
  path.remove_prefix(std::min(name.size() + 1, path.size()));
  return name;
}

const Module* child_of(const Module& module, std::string_view name) {
  const ModuleRef* const child = module.children().find(name);
  return child ? child->get() : nullptr;
}

// A member of that path, which is `kind`, among those that its owner has of it.
template <typename T>
T get_member(const Module& root, std::string_view path,
             const OrderedDict<T>& (Module::*own)() const, const char* kind) {
  const size_t dot = path.rfind('.');
  const bool nested = dot != path.npos;
  const Module& owner = root.get_submodule(nested ? path.substr(0, dot) : "");
  const std::string name(nested ? path.substr(dot + 1) : path);
  if (const T* member = (owner.*own)().find(name)) return *member;
  if (std::holds_alternative<std::monostate>(owner.find_member(name)))
    throw AttributeError(owner.type_name() + " has no attribute `" + name +
                         "`");
  throw AttributeError("`" + name + "` is not " + kind);
}

// Walks the tree in registration order, each module once.
template <typename Fn>
void walk(const Module& module, const std::string& prefix,
          std::unordered_set<const Module*>& seen, const Fn& fn,
          int depth = 0) {
  if (depth > Module::kMaxNesting)
    throw RuntimeError(
        "maximum recursion depth exceeded: expected modules nested at most " +
        std::to_string(Module::kMaxNesting) + " deep");
  if (!seen.insert(&module).second) return;
  fn(module, prefix);
  for (const auto& [name, child] : module.children())
    if (child) walk(*child, joined(prefix, name), seen, fn, depth + 1);
}

// Handles found by `members` over the tree, each slot once.
template <typename T, typename Members>
std::vector<std::pair<std::string, T>> collect(const Module& root,
                                               const Members& members) {
  std::vector<std::pair<std::string, T>> found;
  std::unordered_set<const TensorSlot*> known;
  std::unordered_set<const Module*> seen;
  walk(root, "", seen, [&](const Module& module, const std::string& prefix) {
    for (const auto& [name, handle] : members(module))
      if (handle.defined() && known.insert(handle.slot()).second)
        found.emplace_back(joined(prefix, name), handle);
  });
  return found;
}

// Moves the value of an argument that is present.
void add_value(CallArg& arg, ValueList& args, Kwargs& kwargs) {
  if (!arg.present) return;
  if (arg.name.empty())
    args.push_back(std::move(arg.value));
  else
    kwargs.emplace_back(std::move(arg.name), std::move(arg.value));
}

}  // namespace

void detail::throw_null_module() { throw_null_call({}); }

void detail::throw_null_call(SourceLocation source) {
  throw TypeError("[module] handle: expected a module, got null",
                  {"", "", "", source});
}

std::pair<ValueList, Kwargs> present_values(
    std::initializer_list<CallArg*> args) {
  std::pair<ValueList, Kwargs> values;
  for (CallArg* arg : args) add_value(*arg, values.first, values.second);
  return values;
}

Module::Module(std::string type_name) : type_name_(std::move(type_name)) {}

// One after the other: a long chain of modules must not recurse here.
Module::~Module() {
  static thread_local std::vector<ModuleRef>* pending = nullptr;
  if (modules_.empty()) return;
  std::vector<ModuleRef> released;
  std::vector<ModuleRef>& queue = pending ? *pending : released;
  for (auto& [name, child] : modules_.take()) queue.push_back(std::move(child));
  if (pending) return;
  pending = &released;
  while (!released.empty()) {
    const ModuleRef last = std::move(released.back());
    released.pop_back();
  }
  pending = nullptr;
}

Module::Module(const Module& other)
    : std::enable_shared_from_this<Module>(),
      type_name_(other.type_name_),
      training_(other.training_),
      parameters_(other.parameters_),
      buffers_(other.buffers_),
      modules_(other.modules_),
      attrs_(other.attrs_),
      methods_(other.methods_) {
  if (DeepCopy* const copy = DeepCopy::active())
    for (const auto& [name, value] : other.attrs_)
      attrs_.set(name, copy->value(value));
}

std::shared_ptr<Module> Module::clone() const {
  // Classes of their own say how they are copied.
  if (typeid(*this) != typeid(Module))
    throw NotImplementedError("[deep copy] " + type_name_ +
                              ": expected a class that overrides clone()");
  return std::shared_ptr<Module>(new Module(*this));
}

Value Module::call(const ValueList& args, const Kwargs& kwargs,
                   SourceLocation source) {
  if (fx::Tracer* tracer = fx::active_tracer())
    return tracer->call_from_user(*this, args, kwargs, source);
  try {
    return invoke(args, kwargs);
  } catch (Error& error) {
    // The code of the library's layers is nothing that the user has written:
    // where they stand, the line of the call does.
    if (dynamic_cast<const LeafModule*>(this)) error.set_source(source);
    error.extend("", {"", "", "", source});
    throw;
  }
}

Value Module::operator()(SourceLocation source) { return call({}, {}, source); }

Value Module::operator()(CallArg a) {
  ValueList args;
  Kwargs kwargs;
  add_value(a, args, kwargs);
  return call(args, kwargs, a.source);
}

Value Module::operator()(CallArg a, CallArg b, CallArg c, CallArg d, CallArg e,
                         CallArg f, CallArg g, CallArg h) {
  const auto [args, kwargs] = present_values({&a, &b, &c, &d, &e, &f, &g, &h});
  return call(args, kwargs, a.source);
}

Value Module::invoke(const ValueList&, const Kwargs&) {
  throw NotImplementedError("Module [" + type_name_ +
                            "] is missing the required \"forward\" function");
}

Value Module::invoke_bound(std::vector<Value> bound) {
  ValueList args;
  Kwargs kwargs;
  const std::vector<ArgSpec>& specs = signature().args();
  for (size_t i = 0; i < bound.size(); ++i) {
    if (specs[i].is_varargs()) {
      for (Value& item : fx::iterate(bound[i])) args.push_back(std::move(item));
    } else if (specs[i].is_varkeywords()) {
      if (bound[i].is_proxy()) fx::iterate(bound[i]);  // Throws TraceError.
      for (const auto& [key, value] : bound[i].as_dict())
        kwargs.emplace_back(std::string(key.as_string()), value);
    } else if (specs[i].keyword_only) {
      kwargs.emplace_back(specs[i].name, std::move(bound[i]));
    } else {
      args.push_back(std::move(bound[i]));
    }
  }
  return invoke(args, kwargs);
}

const Signature& Module::signature() const {
  static const Signature kAnything{"*args", "**kwargs"};
  return kAnything;
}

void Module::register_method(std::string name, Method method) {
  methods_.set(name, std::move(method));
}

const Method* Module::find_method(std::string_view name) const {
  return methods_.find(name);
}

void Module::train(bool on) {
  std::unordered_set<const Module*> seen;
  walk(*this, "", seen, [on](const Module& module, const std::string&) {
    const_cast<Module&>(module).training_ = on;
  });
}

void Module::check_name(std::string_view name, const char* kind,
                        bool replaces) const {
  const std::string text(name);
  if (name.find('.') != name.npos)
    throw KeyError(std::string(kind) +
                   " name can't contain \".\", got: " + text);
  if (name.empty())
    throw KeyError(std::string(kind) + " name can't be empty string \"\"");
  if (!replaces && !std::holds_alternative<std::monostate>(find_member(name)))
    throw KeyError("attribute '" + text + "' already exists");
}

void Module::add_module(std::string name, ModuleRef module) {
  const ModuleRef* const there = modules_.find(name);
  check_name(name, "module", there);
  if (there && *there == module) return;
  if (module && module->holds(*this))
    throw ValueError("[module] " + name +
                     ": expected a module of its own, got one that holds the "
                     "module that it is put into");
  modules_.set(name, std::move(module));
}

Parameter Module::register_parameter(std::string name, Parameter parameter) {
  check_name(name, "parameter", parameters_.contains(name));
  return parameters_.set(name, std::move(parameter));
}

Buffer Module::register_buffer(std::string name, Buffer buffer) {
  check_name(name, "buffer", buffers_.contains(name));
  return buffers_.set(name, std::move(buffer));
}

void Module::set_attr(std::string_view name, Value value) {
  check_name(name, "attribute", attrs_.contains(name));
  attrs_.set(name, std::move(value));
}

bool Module::remove_member(std::string_view name) {
  return modules_.erase(name) || parameters_.erase(name) ||
         buffers_.erase(name) || attrs_.erase(name);
}

Value Module::param(std::string_view name) const {
  if (const Parameter* parameter = parameters_.find(name))
    return parameter->value();
  if (const Buffer* buffer = buffers_.find(name)) return buffer->value();
  if (const Value* value = attrs_.find(name)) return *value;
  fail_absent(*this, name);
}

std::vector<std::pair<std::string, Parameter>> Module::named_parameters()
    const {
  return collect<Parameter>(*this, [](const Module& module) -> const auto& {
    return module.parameters_;
  });
}

std::vector<std::pair<std::string, Buffer>> Module::named_buffers() const {
  return collect<Buffer>(*this, [](const Module& module) -> const auto& {
    return module.buffers_;
  });
}

std::vector<std::pair<std::string, Module*>> Module::named_modules() const {
  std::vector<std::pair<std::string, Module*>> found;
  std::unordered_set<const Module*> seen;
  walk(*this, "", seen, [&](const Module& module, const std::string& prefix) {
    found.emplace_back(prefix, const_cast<Module*>(&module));
  });
  return found;
}

void Module::check_nesting() const {
  std::unordered_set<const Module*> seen;
  walk(*this, "", seen, [](const Module&, const std::string&) {});
}

bool Module::holds(const Module& module) const {
  std::vector<const Module*> open = {this};
  std::unordered_set<const Module*> seen;
  while (!open.empty()) {
    const Module* const next = open.back();
    open.pop_back();
    if (next == &module) return true;
    for (const auto& [name, child] : next->modules_)
      if (child && (child->modules_.empty() ? child.get() == &module
                                            : seen.insert(child.get()).second))
        open.push_back(child.get());
  }
  return false;
}

Member Module::find_member(std::string_view path) const {
  const Module* module = this;
  while (path.find('.') != path.npos) {
    module = child_of(*module, take_name(path));
    if (!module) return {};
  }
  if (const ModuleRef* child = module->modules_.find(path)) return *child;
  if (const Parameter* p = module->parameters_.find(path)) return *p;
  if (const Buffer* b = module->buffers_.find(path)) return *b;
  if (const Value* v = module->attrs_.find(path)) return *v;
  return {};
}

Module* Module::find_submodule(std::string_view path) const {
  const Module* module = this;
  while (module && !path.empty()) module = child_of(*module, take_name(path));
  return const_cast<Module*>(module);
}

// As torch: the first part that is missing, or that is no module.
Module& Module::get_submodule(std::string_view path) const {
  const Module* module = this;
  while (!path.empty()) {
    const std::string name(take_name(path));
    const Module* const child = child_of(*module, name);
    if (!child &&
        std::holds_alternative<std::monostate>(module->find_member(name)))
      throw AttributeError(module->type_name_ + " has no attribute `" + name +
                           "`");
    if (!child) throw AttributeError("`" + name + "` is not an nn.Module");
    module = child;
  }
  return const_cast<Module&>(*module);
}

Parameter Module::get_parameter(std::string_view path) const {
  return get_member(*this, path, &Module::own_parameters, "an nn.Parameter");
}

Buffer Module::get_buffer(std::string_view path) const {
  return get_member(*this, path, &Module::own_buffers, "a buffer");
}

}  // namespace fxjit::nn
