#include "src/import/input_checks.h"

#include <algorithm>

#include "fxjit/error.h"
#include "fxjit/fx/pytree.h"

namespace fxjit::import {
namespace {

using imported::Input;

std::string key_path(const std::string& path, const Value& key) {
  return path + "[" + repr(key) + "]";
}

void append_paths(const Value& tree, const std::string& path,
                  std::vector<std::string>& paths) {
  if (tree.is_sequence()) {
    for (size_t i = 0; i < tree.size(); ++i)
      append_paths(tree.at(i), key_path(path, i), paths);
  } else if (tree.is_dict()) {
    for (const auto& [key, part] : tree.as_dict())
      append_paths(part, key_path(path, key), paths);
  } else {
    paths.push_back(path);
  }
}

const Value* find_part(const Value& dict, const Value& key) {
  for (const auto& [name, part] : dict.as_dict())
    if (same(name, key)) return &part;
  return nullptr;
}

// "x['k']" as guards write it: "L['x']['k']".
std::string guard_path(const std::string& path) {
  const size_t end = std::min(path.find('['), path.size());
  return "L['" + path.substr(0, end) + "']" + path.substr(end);
}

// The same where the argument is one of many behind a star: "args_0" is
// "L['args'][0]".
std::string star_path(const std::string& path) {
  const size_t end = std::min(path.find('['), path.size());
  const std::string name = path.substr(0, end);
  const size_t bar = name.rfind('_');
  if (bar == name.npos) return "";
  return "L['" + name.substr(0, bar) + "'][" + name.substr(bar + 1) + "]" +
         path.substr(end);
}

// A size of a tensor; of a number, itself.
int64_t size_of(const Value& leaf, size_t dim) {
  if (!leaf.is_tensor()) return leaf.as_int();
  return leaf.as_tensor().size(static_cast<int64_t>(dim));
}

std::string bound_text(const std::optional<int64_t>& bound) {
  return bound ? std::to_string(*bound) : "any";
}

}  // namespace

std::vector<std::string> leaf_paths(const Value& tree,
                                    const std::string& path) {
  std::vector<std::string> paths;
  append_paths(tree, path, paths);
  return paths;
}

InputChecks::InputChecks(std::string format, std::vector<Argument> arguments,
                         std::vector<Input> inputs, Formulas formulas,
                         std::map<std::string, Range> ranges,
                         std::vector<Guard> guards)
    : format_(std::move(format)),
      arguments_(std::move(arguments)),
      inputs_(std::move(inputs)),
      formulas_(std::move(formulas)),
      ranges_(std::move(ranges)),
      guards_(std::move(guards)) {
  for (size_t i = 0; i < inputs_.size(); ++i)
    for (size_t d = 0; d < formulas_[i].size(); ++d)
      if (const auto& formula = formulas_[i][d])
        if (const auto symbol = formula->symbol())
          places_.emplace(*symbol, Place{i, d});
  std::vector<Guard> kept;
  for (Guard& guard : guards_) {
    const auto& names = guard.formula.names();
    if (std::all_of(names.begin(), names.end(),
                    [&](const std::string& name) { return find_place(name); }))
      kept.push_back(std::move(guard));
    else
      unchecked_.push_back(std::move(guard.text));
  }
  guards_ = std::move(kept);
}

// A name of a guard: a symbol, or "L['x'][0]" for an input and a dim.
bool InputChecks::find_place(const std::string& name) {
  if (places_.contains(name)) return true;
  if (!name.starts_with("L[")) return false;
  const size_t open = name.rfind('[');
  const std::string path = name.substr(0, open);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].kind != Input::Kind::tensor ||
        (guard_path(inputs_[i].path) != path &&
         star_path(inputs_[i].path) != path))
      continue;
    for (size_t d = 0; d < inputs_[i].sizes.size(); ++d)
      if (name.substr(open) == "[" + std::to_string(d) + "]") {
        places_.emplace(name, Place{i, d});
        return true;
      }
  }
  return false;
}

std::optional<size_t> InputChecks::find_argument(
    const std::string& name) const {
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (arguments_[i].name == name) return i;
  return std::nullopt;
}

ValueList InputChecks::bind(const ValueList& args, const Kwargs& kwargs) const {
  const auto fail = [&](const std::string& what) {
    throw TypeError(prefix() + what);
  };
  if (args.size() > arguments_.size())
    fail("expected at most " + std::to_string(arguments_.size()) +
         " arguments, got " + std::to_string(args.size()));
  std::vector<std::optional<Value>> given(args.begin(), args.end());
  given.resize(arguments_.size());
  for (const auto& [name, value] : kwargs) {
    const auto found = find_argument(name);
    if (!found) fail("there is no argument " + name);
    if (given[*found]) fail("argument " + name + " is given twice");
    given[*found] = value;
  }
  ValueList bound;
  for (size_t i = 0; i < given.size(); ++i)
    bound.push_back(given[i] ? *given[i] : constants_of(arguments_[i]));
  return bound;
}

// The argument that a caller has left out.
Value InputChecks::constants_of(const Argument& argument) const {
  ValueList leaves;
  for (size_t i = argument.first; i < argument.first + argument.leaves; ++i) {
    if (inputs_[i].kind != Input::Kind::constant)
      throw TypeError(prefix() + "argument " + argument.name + " is missing");
    leaves.push_back(inputs_[i].constant);
  }
  return fx::tree_unflatten(leaves, fx::TreeSpec(argument.tree));
}

void InputChecks::check(const ValueList& bound) const {
  ValueList leaves;
  leaves.reserve(inputs_.size());
  for (size_t i = 0; i < arguments_.size(); ++i)
    collect(arguments_[i].tree, bound[i], arguments_[i].name, leaves);
  for (size_t i = 0; i < leaves.size(); ++i) check_leaf(inputs_[i], leaves[i]);
  if (places_.empty()) return;
  check_ranges(leaves);
  check_sizes(leaves);
  check_guards(leaves);
}

SizeFormula::Lookup InputChecks::lookup_in(const ValueList& leaves) const {
  return [&](const std::string& name) -> std::optional<int64_t> {
    const auto found = places_.find(name);
    if (found == places_.end()) return std::nullopt;
    return size_of(leaves[found->second.input], found->second.dim);
  };
}

void InputChecks::collect(const Value& tree, const Value& value,
                          const std::string& path, ValueList& leaves) const {
  const auto fail = [&](const std::string& what) {
    throw TypeError(prefix() + "input " + path + ": " + what);
  };
  if (tree.is_none()) {
    leaves.push_back(value);
    return;
  }
  if (tree.kind() != value.kind())
    fail("expected a " + std::string(tree.kind_name()) + ", got a " +
         std::string(value.kind_name()));
  if (tree.size() != value.size())
    fail("expected " + std::to_string(tree.size()) + " parts, got " +
         std::to_string(value.size()));
  if (tree.is_sequence()) {
    for (size_t i = 0; i < tree.size(); ++i)
      collect(tree.at(i), value.at(i), key_path(path, i), leaves);
    return;
  }
  for (const auto& [key, part] : tree.as_dict()) {
    const Value* const found = find_part(value, key);
    if (!found) fail("there is no " + repr(key));
    collect(part, *found, key_path(path, key), leaves);
  }
}

void InputChecks::fail_sizes(const Input& input, const std::string& what,
                             const Tensor& got) const {
  std::string advice;
  if (got.dtype() != input.dtype)
    advice = ": convert it to " + std::string(dtype_name(input.dtype)) +
             (input.carried == CarriedType::none
                  ? ""
                  : ", which carries " + std::string(input.type_name()));
  throw RuntimeError(prefix() + "input " + input.path + ": expected " + what +
                     ", got " + got.describe() + advice);
}

void InputChecks::check_leaf(const Input& input, const Value& leaf) const {
  const auto fail = [&](const std::string& expected) {
    throw TypeError(prefix() + "input " + input.path + ": expected " +
                    expected + ", got " + repr(leaf));
  };
  if (input.kind == Input::Kind::constant) {
    if (leaf.is_tensor() || leaf.kind() != input.constant.kind() ||
        !same(leaf, input.constant))
      fail(repr(input.constant) + ", which the exported program holds");
    return;
  }
  if (input.kind == Input::Kind::number) {
    if (!leaf.is_number()) fail("a number");
    return;
  }
  if (input.kind == Input::Kind::sequence) {
    if (!leaf.is_sequence()) fail("a list of tensors");
    for (const Value& item : leaf.as_sequence())
      if (!item.is_tensor())
        fail("a list of tensors");
      else if (item.as_tensor().dtype() != input.dtype)
        fail_sizes(input, "a list of " + std::string(input.type_name()),
                   item.as_tensor());
    return;
  }
  if (!leaf.is_tensor())
    throw TypeError(prefix() + "input " + input.path + ": expected " +
                    input.str() + ", got a " + std::string(leaf.kind_name()));
  const Tensor& tensor = leaf.as_tensor();
  bool fits =
      tensor.dtype() == input.dtype &&
      (input.any_rank || tensor.dim() == static_cast<int>(input.sizes.size()));
  for (int d = 0; fits && !input.any_rank && d < tensor.dim(); ++d) {
    const auto& fixed = input.sizes[static_cast<size_t>(d)].fixed;
    fits = !fixed || *fixed == tensor.size(d);
  }
  if (!fits)
    fail_sizes(input, input.str().substr(input.path.size() + 2), tensor);
}

void InputChecks::check_ranges(const ValueList& leaves) const {
  for (const auto& [symbol, range] : ranges_) {
    const auto place = places_.find(symbol);
    if (place == places_.end()) continue;
    const auto [input, dim] = place->second;
    const int64_t size = size_of(leaves[input], dim);
    if ((!range.least || size >= *range.least) &&
        (!range.most || size <= *range.most))
      continue;
    throw RuntimeError(prefix() + "input " + inputs_[input].path + ", dim " +
                       std::to_string(dim) + " (" + symbol +
                       "): expected a size from " + bound_text(range.least) +
                       " to " + bound_text(range.most) + ", got " +
                       std::to_string(size));
  }
}

void InputChecks::check_sizes(const ValueList& leaves) const {
  const auto lookup = lookup_in(leaves);
  for (size_t i = 0; i < leaves.size(); ++i)
    for (size_t d = 0; d < formulas_[i].size(); ++d) {
      if (!formulas_[i][d]) continue;
      const auto expected = formulas_[i][d]->evaluate(lookup);
      const int64_t got = size_of(leaves[i], d);
      if (!expected || *expected == got) continue;
      throw RuntimeError(prefix() + "input " + inputs_[i].path + ", dim " +
                         std::to_string(d) + " (" + inputs_[i].sizes[d].text +
                         "): expected a size of " + std::to_string(*expected) +
                         ", got " + std::to_string(got));
    }
}

void InputChecks::check_guards(const ValueList& leaves) const {
  const auto lookup = lookup_in(leaves);
  for (const Guard& guard : guards_) {
    const auto holds = guard.formula.evaluate(lookup);
    if (holds && *holds != 0) continue;
    std::string sizes;
    for (const std::string& name : guard.formula.names())
      sizes += (sizes.empty() ? "" : ", ") + name + " = " +
               std::to_string(*lookup(name));
    throw RuntimeError(prefix() + "the program was exported for inputs with " +
                       guard.text + "; here " + sizes);
  }
}

}  // namespace fxjit::import
