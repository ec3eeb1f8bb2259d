// Which calls a backend can run (torch.fx.passes.operator_support).
// Partitioners ask an OperatorSupportBase for every node.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

// Says which nodes a backend can run.
class OperatorSupportBase {
 public:
  virtual ~OperatorSupportBase() = default;
  // `module` is the one whose graph has `node`; it finds submodules.
  virtual bool is_node_supported(const nn::Module& module,
                                 const Node& node) const = 0;
};

// Types of arguments that are allowed; none allows any.
using AllowedDTypes = std::optional<std::vector<DType>>;
struct SupportedArguments {
  std::vector<AllowedDTypes> args;  // Further arguments are not checked.
  std::vector<std::pair<std::string, std::vector<DType>>> kwargs;
};
// By target: a function's qualified name ("_operator.add", "torch.relu"), a
// method's name, or a module's type name. None: with any arguments.
using SupportDict =
    std::unordered_map<std::string, std::optional<SupportedArguments>>;

// Supports what its table lists, and nodes that are no calls. Types are read
// from meta["tensor_meta"] or from `val`; AssertionError when a type is needed
// and neither is there.
class OperatorSupport : public OperatorSupportBase {
 public:
  explicit OperatorSupport(SupportDict support = {});
  bool is_node_supported(const nn::Module& module,
                         const Node& node) const override;

 private:
  SupportDict support_;
};

using OperatorSupportRef = std::shared_ptr<const OperatorSupportBase>;

// An OperatorSupportBase that asks the given function.
OperatorSupportRef create_op_support(
    std::function<bool(const nn::Module&, const Node&)> is_node_supported);
// Supports a node if all of `supports` do (chain), or if one of them does
// (any_chain).
OperatorSupportRef chain(std::vector<OperatorSupportRef> supports);
OperatorSupportRef any_chain(std::vector<OperatorSupportRef> supports);

// Makers of supports that refuse some nodes and accept all others, as torch's
// OpSupports.
struct OpSupports {
  // Refuses nodes with an input of this dtype; refuses nodes with these names.
  static OperatorSupportRef decline_if_input_dtype(DType dtype);
  static OperatorSupportRef decline_if_node_in_names(
      std::set<std::string, std::less<>> names);
};

// The key of `node` in a SupportDict.
std::string get_node_target(const nn::Module& module, const Node& node);

}  // namespace fxjit::fx::passes
