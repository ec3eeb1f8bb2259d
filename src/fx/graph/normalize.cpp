// Node::normalized_arguments.
#include <algorithm>

#include "fxjit/fx/node.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {
namespace {

// One declared argument and the value that the call gives it.
struct Bound {
  std::string name;
  Value value;
};

ArgsKwargs arrange(std::vector<Bound> bound, size_t positional,
                   bool only_kwargs) {
  ArgsKwargs result;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!only_kwargs && i < positional) {
      result.args.push_back(std::move(bound[i].value));
    } else {
      result.kwargs.emplace_back(std::move(bound[i].name),
                                 std::move(bound[i].value));
    }
  }
  return result;
}

// Parameters that only torch's Python functions have, not the ops below them.
bool is_python_only(std::string_view parameter) {
  return parameter == "inplace" || parameter == "_stacklevel";
}

std::vector<Value> bind_function(const Node& node,
                                 const ops::Spelling& function) {
  return ops::bind_declared(function, node.args(), node.kwargs(), node.source());
}

// None, as torch gives it where no schema fits.
std::optional<std::vector<Value>> try_bind(const Node& node,
                                           const ops::Spelling& function) {
  try {
    return bind_function(node, function);
  } catch (const TypeError&) {
    return std::nullopt;
  }
}

std::optional<ArgsKwargs> normalize_function(const Node& node,
                                             bool only_kwargs) {
  const ops::Spelling* const function = node.target().spelling();
  if (!function || !function->name.starts_with("torch.")) return std::nullopt;
  const std::vector<ops::Parameter>& parameters =
      ops::parameters_of(*function);
  if (std::any_of(parameters.begin(), parameters.end(),
                  [](const ops::Parameter& p) { return p.variadic; }))
    return std::nullopt;
  const bool is_python = function->name.starts_with("torch.nn.functional.");
  std::optional<std::vector<Value>> values =
      is_python ? bind_function(node, *function) : try_bind(node, *function);
  if (!values) return std::nullopt;
  std::vector<Bound> bound;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (is_python || !is_python_only(parameters[i].name))
      bound.push_back({parameters[i].name, std::move((*values)[i])});
  return arrange(std::move(bound), node.args().size(), only_kwargs);
}

std::optional<ArgsKwargs> normalize_module(const Node& node,
                                           const nn::Module& root,
                                           bool only_kwargs) {
  const std::string target(node.target_name());
  const nn::Module* const module = root.find_submodule(target);
  if (!module)
    throw RuntimeError("Tried to normalize node with target " + target +
                           " but root did not have that target!",
                       node.error_context());
  // torch looks at its own modules only.
  if (module->constructor_text().empty()) return std::nullopt;
  const nn::Signature& signature = module->signature();
  std::vector<Value> values =
      signature.bind(node.args(), node.kwargs(), module->type_name());
  std::vector<Bound> bound;
  for (size_t i = 0; i < values.size(); ++i)
    bound.push_back({signature.args()[i].name, std::move(values[i])});
  return arrange(std::move(bound), node.args().size(), only_kwargs);
}

}  // namespace

std::optional<ArgsKwargs> Node::normalized_arguments(
    const nn::Module& root, bool normalize_to_only_use_kwargs) const {
  if (op_ == Opcode::call_function)
    return normalize_function(*this, normalize_to_only_use_kwargs);
  if (op_ == Opcode::call_module)
    return normalize_module(*this, root, normalize_to_only_use_kwargs);
  return std::nullopt;
}

}  // namespace fxjit::fx
