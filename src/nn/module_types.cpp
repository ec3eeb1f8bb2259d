#include "fxjit/nn/module_types.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "src/nn/layer_types.h"
#include "src/ops/python/items.h"

namespace fxjit::nn {
namespace {

// Process-wide, as classes are.
class TypeTable {
 public:
  static TypeTable& instance() {
    // Never destroyed: modules may outlive main.
    static TypeTable* const table = new TypeTable;
    return *table;
  }

  void add(ModuleType type) {
    std::lock_guard lock(mutex_);
    if (by_name_.contains(type.name) || by_class_.contains(type.type))
      throw UserError("[module type] " + type.name +
                      ": its name or class is registered already");
    types_.push_back(std::make_unique<ModuleType>(std::move(type)));
    const ModuleType* const added = types_.back().get();
    by_name_.emplace(added->name, added);
    by_class_.emplace(added->type, added);
  }
  const ModuleType* find(std::string_view name) {
    std::lock_guard lock(mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  const ModuleType* find(std::type_index type) {
    std::lock_guard lock(mutex_);
    const auto found = by_class_.find(type);
    return found == by_class_.end() ? nullptr : found->second;
  }

 private:
  TypeTable() {
    for (ModuleType& type : layer_types()) add(std::move(type));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<ModuleType>> types_;
  std::unordered_map<std::string_view, const ModuleType*> by_name_;
  std::unordered_map<std::type_index, const ModuleType*> by_class_;
};

}  // namespace

void Argument::fail(const std::string& what) const {
  throw UserError("[" + std::string(layer) + "] argument " + std::string(name) +
                  ": " + what);
}

void Argument::check(bool fits, const char* expected) const {
  if (!fits) fail(std::string("expected ") + expected + ", got " + repr(value));
}

Argument::operator bool() const {
  check(value.is_bool(), "a bool");
  return value.as_bool();
}

Argument::operator int64_t() const {
  check(value.is_int(), "an int");
  return value.as_int();
}

Argument::operator double() const {
  check(value.is_number() && !value.is_bool(), "a float");
  value = value.as_double();
  return value.as_double();
}

Argument::operator std::string() const {
  check(value.is_string(), "a str");
  return std::string(value.as_string());
}

Argument::operator Dims() const {
  bool ints = value.is_sequence();
  if (ints)
    for (const Value& size : value.as_sequence()) ints = ints && size.is_int();
  check(ints, "a tuple of ints");
  const Dims dims = value.as_dims();
  value = ops::python::size_tuple(dims);
  return dims;
}

ArgumentReader::ArgumentReader(std::string_view type, const Kwargs& arguments)
    : type_(type), left_(arguments) {}

Kwargs::iterator ArgumentReader::find(std::string_view name) {
  const auto found = std::ranges::find(left_, name, &Kwargs::value_type::first);
  Value none;
  if (found == left_.end()) Argument{type_, name, none}.fail("missing");
  return found;
}

Value ArgumentReader::value(std::string_view name) {
  const auto found = find(name);
  Value value = std::move(found->second);
  left_.erase(found);
  return value;
}

bool ArgumentReader::none(std::string_view name) {
  const auto found = find(name);
  if (!found->second.is_none()) return false;
  left_.erase(found);
  return true;
}

void ArgumentReader::finish() const {
  if (left_.empty()) return;
  Value none;
  Argument{type_, left_[0].first, none}.fail("unknown");
}

void register_module_type(ModuleType type) {
  TypeTable::instance().add(std::move(type));
}

const ModuleType* find_module_type(const Module& module) {
  return TypeTable::instance().find(std::type_index(typeid(module)));
}

const ModuleType* find_module_type(std::string_view name) {
  return TypeTable::instance().find(name);
}

ModuleRef make_module(std::string_view type, const Kwargs& arguments) {
  const ModuleType* const known = find_module_type(type);
  if (!known)
    throw UserError("[" + std::string(type) +
                    "] module type: expected a layer of fxjit::nn or a type "
                    "given to register_module_type");
  ArgumentReader reader(type, arguments);
  ModuleRef made = known->make(reader);
  reader.finish();
  return made;
}

}  // namespace fxjit::nn
