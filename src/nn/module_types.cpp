#include "fxjit/nn/module_types.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "src/nn/layer_types.h"

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

ArgumentReader::ArgumentReader(std::string_view type, const Kwargs& arguments)
    : type_(type), left_(arguments) {}

void ArgumentReader::fail(std::string_view name,
                          const std::string& what) const {
  throw UserError("[" + type_ + "] argument " + std::string(name) + ": " +
                  what);
}

Kwargs::iterator ArgumentReader::find(std::string_view name) {
  const auto found =
      std::ranges::find(left_, name, &Kwargs::value_type::first);
  if (found == left_.end()) fail(name, "missing");
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

int64_t ArgumentReader::integer(std::string_view name) {
  const Value given = value(name);
  if (!given.is_int()) fail(name, "expected an int, got " + repr(given));
  return given.as_int();
}

double ArgumentReader::floating(std::string_view name) {
  const Value given = value(name);
  if (!given.is_number() || given.is_bool())
    fail(name, "expected a float, got " + repr(given));
  return given.as_double();
}

bool ArgumentReader::boolean(std::string_view name) {
  const Value given = value(name);
  if (!given.is_bool()) fail(name, "expected a bool, got " + repr(given));
  return given.as_bool();
}

std::string ArgumentReader::string(std::string_view name) {
  const Value given = value(name);
  if (!given.is_string()) fail(name, "expected a str, got " + repr(given));
  return std::string(given.as_string());
}

Dims ArgumentReader::dims(std::string_view name) {
  const Value given = value(name);
  bool ints = given.is_sequence();
  if (ints)
    for (const Value& size : given.as_sequence()) ints = ints && size.is_int();
  if (!ints) fail(name, "expected a tuple of ints, got " + repr(given));
  return given.as_dims();
}

void ArgumentReader::finish() const {
  if (!left_.empty()) fail(left_[0].first, "unknown");
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
