#include "fxjit/nn/containers.h"

namespace fxjit::nn {
namespace {

// The i-th child, counted from the end when negative.
ModuleRef child_at(const Module& module, int64_t i) {
  const auto size = static_cast<int64_t>(module.children().size());
  const int64_t at = i < 0 ? i + size : i;
  if (at < 0 || at >= size)
    throw IndexError("index " + std::to_string(i) + " is out of range");
  return module.children().entry(static_cast<size_t>(at)).second;
}

}  // namespace

Sequential::Sequential() : Custom("Sequential", {"input"}) {}

Value Sequential::forward(Value input) {
  // Without a line: the caller's stands for all.
  for (const auto& [name, module] : children())
    input = module->call({std::move(input)});
  return input;
}

Sequential& Sequential::append(ModuleRef module) {
  register_module(std::to_string(size()), std::move(module));
  return *this;
}

ModuleRef Sequential::operator[](int64_t i) const { return child_at(*this, i); }

ModuleList::ModuleList() : Module("ModuleList") {}

std::shared_ptr<Module> ModuleList::clone() const {
  return std::make_shared<ModuleList>(*this);
}

ModuleList& ModuleList::append(ModuleRef module) {
  register_module(std::to_string(size()), std::move(module));
  return *this;
}

ModuleRef ModuleList::operator[](int64_t i) const { return child_at(*this, i); }

std::vector<ModuleRef> ModuleList::modules() const {
  std::vector<ModuleRef> found;
  for (const auto& [name, module] : children()) found.push_back(module);
  return found;
}

ModuleDict::ModuleDict() : Module("ModuleDict") {}

std::shared_ptr<Module> ModuleDict::clone() const {
  return std::make_shared<ModuleDict>(*this);
}

Ref<ModuleDict> ModuleDict::create(
    std::vector<std::pair<std::string, ModuleRef>> modules) {
  auto dict = std::make_shared<ModuleDict>();
  for (auto& [name, module] : modules)
    dict->insert(std::move(name), std::move(module));
  return dict;
}

void ModuleDict::insert(std::string name, ModuleRef module) {
  register_module(std::move(name), std::move(module));
}

ModuleRef ModuleDict::operator[](std::string_view name) const {
  if (const ModuleRef* module = children().find(name)) return *module;
  throw KeyError("'" + std::string(name) + "'");
}

}  // namespace fxjit::nn
