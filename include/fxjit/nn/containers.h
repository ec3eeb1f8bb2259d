// Modules that hold others. Sequential is traced through, as in torch.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/nn/custom.h"

namespace fxjit::nn {

// Children "0", "1", ...; each one's output is the next one's input.
class Sequential : public Custom<Sequential> {
 public:
  Sequential();
  template <typename First, typename... Rest>
    requires std::convertible_to<First, ModuleRef>
  explicit Sequential(First first, Rest... rest) : Sequential() {
    append(std::move(first));
    (append(std::move(rest)), ...);
  }
  Value forward(Value input);

  Sequential& append(ModuleRef module);
  size_t size() const { return children().size(); }
  // IndexError outside of [-size, size).
  ModuleRef operator[](int64_t i) const;
};

// A list of modules that a model calls itself.
class ModuleList : public Module {
 public:
  ModuleList();
  std::shared_ptr<Module> clone() const override;
  template <typename... Modules>
  static Ref<ModuleList> create(Modules... modules) {
    auto list = std::make_shared<ModuleList>();
    (list->append(ModuleRef(std::move(modules))), ...);
    return list;
  }

  ModuleList& append(ModuleRef module);
  size_t size() const { return children().size(); }
  ModuleRef operator[](int64_t i) const;
  // In order, for range-based loops.
  std::vector<ModuleRef> modules() const;

 protected:
  bool groups_equal_children() const override { return true; }
};

// Modules by name.
class ModuleDict : public Module {
 public:
  ModuleDict();
  std::shared_ptr<Module> clone() const override;
  static Ref<ModuleDict> create(
      std::vector<std::pair<std::string, ModuleRef>> modules = {});

  void insert(std::string name, ModuleRef module);
  bool contains(std::string_view name) const {
    return children().contains(name);
  }
  size_t size() const { return children().size(); }
  ModuleRef operator[](std::string_view name) const;  // KeyError when absent.
};

}  // namespace fxjit::nn
