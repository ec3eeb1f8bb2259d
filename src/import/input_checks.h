// The checks of a call of an exported program. It knows the containers of the
// arguments and, for each leaf, its dtype, its sizes, the ranges of their
// symbols, and the conditions (guards) that the exporter relied on. Immutable
// and thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fxjit/imported.h"
#include "src/import/pt2/size_formula.h"

namespace fxjit::import {

struct Range {
  std::optional<int64_t> least, most;
};

struct Guard {
  std::string text;
  SizeFormula formula;
};

// An argument of the exported function.
struct Argument {
  std::string name;
  bool keyword = false;  // Exported as one; may be given by position as well.
  Value tree;            // None for every leaf.
  size_t first = 0, leaves = 0;  // Among the inputs.
};

class InputChecks {
 public:
  // For each input, a formula for each of its sizes (one for a number); none
  // for a size that the grammar of formulas does not cover.
  using Formulas = std::vector<std::vector<std::optional<SizeFormula>>>;
  // `format` begins all messages, "pt2" for example.
  InputChecks(std::string format, std::vector<Argument> arguments,
              std::vector<imported::Input> inputs, Formulas formulas,
              std::map<std::string, Range> ranges, std::vector<Guard> guards);

  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::string& format() const { return format_; }

  // The arguments in order, one value for each. Arguments that hold constants
  // only may be missing. Throws TypeError for wrong, missing or unknown
  // arguments.
  ValueList bind(const ValueList& args, const Kwargs& kwargs) const;
  // The guards that are not checked, because they are about something else than
  // sizes of inputs.
  const std::vector<std::string>& unchecked_guards() const {
    return unchecked_;
  }
  // See imported::Program::check.
  void check(const ValueList& bound) const;

 private:
  struct Place {
    size_t input, dim;
  };

  std::string prefix() const { return "[" + format_ + "] "; }
  [[noreturn]] void fail_sizes(const imported::Input& input,
                               const std::string& what,
                               const Tensor& got) const;
  bool find_place(const std::string& name);
  SizeFormula::Lookup lookup_in(const ValueList& leaves) const;
  std::optional<size_t> find_argument(const std::string& name) const;
  Value constants_of(const Argument& argument) const;
  void collect(const Value& tree, const Value& value, const std::string& path,
               ValueList& leaves) const;
  void check_leaf(const imported::Input& input, const Value& leaf) const;
  void check_sizes(const ValueList& leaves) const;
  void check_ranges(const ValueList& leaves) const;
  void check_guards(const ValueList& leaves) const;

  std::string format_;
  std::vector<Argument> arguments_;
  std::vector<imported::Input> inputs_;
  Formulas formulas_;
  std::map<std::string, Range> ranges_;
  std::vector<Guard> guards_;
  std::vector<std::string> unchecked_;
  // Where each name of formulas and guards is read: the first size that is this
  // symbol alone, or the dim that a guard names.
  std::map<std::string, Place> places_;
};

// Gives a program the checks of its calls.
void set_checks(imported::Program& program,
                std::shared_ptr<const InputChecks> checks);

// Keeps the names and ranges of the inputs' sizes with the placeholders of
// these inputs (fxjit/named_sizes.h).
void declare_input_sizes(fx::Graph& graph,
                         const std::vector<imported::Input>& inputs);

// The path of each leaf of `tree`, in order, such as "['z'][0]", with `path` in
// front.
std::vector<std::string> leaf_paths(const Value& tree, const std::string& path);

}  // namespace fxjit::import
