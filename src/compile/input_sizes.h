// The sizes that are declared for a module's inputs: by their placeholders
// (declare_sizes) and by CompileOptions::sizes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/named_sizes.h"
#include "fxjit/value.h"

namespace fxjit {

// All dims and integers among inputs, in order of appearance: what has a size.
class DeclaredInputs {
 public:
  // UserError for a range without a size.
  DeclaredInputs(const fx::Graph& graph, const std::vector<InputSizes>& given);

  // What is declared of each size of `inputs`, a value for each placeholder;
  // null: nothing. RuntimeError naming input, dim and range if a size is
  // outside of its range, if sizes of one name differ, and if an input has
  // fewer dims than are declared.
  std::vector<const NamedSize*> of(std::span<const Value> inputs) const;
  bool any() const { return !given_.empty() || !of_placeholders_.empty(); }

 private:
  struct Input {
    std::string name;
    const InputSizes* own = nullptr;  // Of its placeholder.
  };
  class Call;

  const NamedSize* find(const std::optional<NamedSize>& declared) const;
  void add(const InputSizes& sizes);

  std::vector<std::string> names_;  // Of the placeholders.
  std::vector<InputSizes> given_;   // By leaf.
  std::map<size_t, InputSizes> of_placeholders_;
  std::map<std::string, NamedSize> ranges_;  // By name, of all declarations.
};

}  // namespace fxjit
