#include "fxjit/imported.h"

#include "fxjit/error.h"
#include "fxjit/fx/pytree.h"
#include "fxjit/named_sizes.h"
#include "src/import/input_checks.h"

namespace fxjit::imported {
namespace {

std::string range_text(const Size& size) {
  if (!size.least && !size.most) return size.text;
  return size.text + " in " + (size.least ? std::to_string(*size.least) : "0") +
         ".." + (size.most ? std::to_string(*size.most) : "");
}

}  // namespace

std::string_view Input::type_name() const {
  if (!texts.empty()) return "string";
  return carried == CarriedType::none ? dtype_name(dtype)
                                      : carried_name(carried);
}

std::string Input::str() const {
  const std::string type(type_name());
  if (kind == Kind::constant) return path + ": " + repr(constant);
  if (kind == Kind::number) return path + ": number";
  if (kind == Kind::sequence) return path + ": list of " + type;
  if (any_rank) return path + ": " + type + "[...]";
  std::string text = path + ": " + type + "[";
  for (size_t d = 0; d < sizes.size(); ++d)
    text += (d == 0 ? "" : ", ") + range_text(sizes[d]);
  return text + "]";
}

void Program::check(const ValueList& args, const Kwargs& kwargs) const {
  checks_->check(checks_->bind(args, kwargs));
}

ValueList Program::bind(const ValueList& args, const Kwargs& kwargs) const {
  ValueList bound = checks_->bind(args, kwargs);
  checks_->check(bound);
  return bound;
}

Value Program::run(const ValueList& args, const Kwargs& kwargs) const {
  return module->call(bind(args, kwargs));
}

std::pair<ValueList, Kwargs> Program::arguments_of(
    const ValueList& leaves) const {
  if (leaves.size() != inputs.size())
    throw TypeError("[" + checks_->format() + "] expected " +
                    std::to_string(inputs.size()) +
                    " values, one for each input, got " +
                    std::to_string(leaves.size()));
  std::pair<ValueList, Kwargs> made;
  for (const import::Argument& argument : checks_->arguments()) {
    const auto first =
        leaves.begin() + static_cast<std::ptrdiff_t>(argument.first);
    Value value = fx::tree_unflatten(
        ValueList(first, first + static_cast<std::ptrdiff_t>(argument.leaves)),
        fx::TreeSpec(argument.tree));
    if (argument.keyword)
      made.second.emplace_back(argument.name, std::move(value));
    else
      made.first.push_back(std::move(value));
  }
  return made;
}

}  // namespace fxjit::imported

namespace fxjit::import {

void set_checks(imported::Program& program,
                std::shared_ptr<const InputChecks> checks) {
  program.checks_ = std::move(checks);
}

void declare_input_sizes(fx::Graph& graph,
                         const std::vector<imported::Input>& inputs) {
  for (const imported::Input& input : inputs) {
    InputSizes sizes;
    for (const imported::Size& size : input.sizes) {
      auto& declared = sizes.emplace_back();
      if (size.fixed) continue;
      // "?" is what dims are called that have no name.
      declared = NamedSize{size.text == "?" ? "" : size.text,
                           size.least.value_or(0), size.most};
    }
    if (const fx::NodePtr node = graph.find_node(input.name))
      declare_sizes(*node, sizes);
  }
}

}  // namespace fxjit::import
