#include "fxjit/fx/passes/operator_support.h"

#include <algorithm>

#include "fxjit/fx/passes/shape_prop.h"
#include "fxjit/fx/passes/tools_common.h"

namespace fxjit::fx::passes {
namespace {

// None for results that are no tensors.
std::optional<DType> dtype_of(const Node& node) {
  if (const TensorMetadata* facts = tensor_meta(node)) return facts->dtype;
  if (node.val().is_tensor()) return node.val().as_tensor().dtype();
  if (node.meta().contains("type") || !node.val().is_none())
    return std::nullopt;
  throw AssertionError("[operator_support %" + std::string(node.name()) +
                           "] type: expected to be known, run ShapeProp or "
                           "FakeTensorProp before",
                       node.error_context());
}

bool allowed(const Value& arg, const std::vector<DType>& dtypes) {
  if (!arg.is_node()) return true;
  const std::optional<DType> dtype = dtype_of(*arg.as_node());
  return dtype &&
         std::find(dtypes.begin(), dtypes.end(), *dtype) != dtypes.end();
}

class FunctionalSupport : public OperatorSupportBase {
 public:
  using Function = std::function<bool(const nn::Module&, const Node&)>;
  explicit FunctionalSupport(Function function)
      : function_(std::move(function)) {}
  bool is_node_supported(const nn::Module& module,
                         const Node& node) const override {
    return function_(module, node);
  }

 private:
  Function function_;
};

}  // namespace

std::string get_node_target(const nn::Module& module, const Node& node) {
  if (node.is(Opcode::call_module))
    return module.get_submodule(node.target_name()).type_name();
  return std::string(node.target_name());
}

OperatorSupport::OperatorSupport(SupportDict support)
    : support_(std::move(support)) {}

bool OperatorSupport::is_node_supported(const nn::Module& module,
                                        const Node& node) const {
  if (!is_callable_node(node)) return true;
  const auto found = support_.find(get_node_target(module, node));
  if (found == support_.end()) return false;
  if (!found->second) return true;
  const SupportedArguments& wanted = *found->second;
  const size_t count = std::min(wanted.args.size(), node.args().size());
  for (size_t i = 0; i < count; ++i)
    if (wanted.args[i] && !allowed(node.args()[i], *wanted.args[i]))
      return false;
  for (const auto& [key, dtypes] : wanted.kwargs)
    if (const Value* arg = node.find_kwarg(key); arg && !allowed(*arg, dtypes))
      return false;
  return true;
}

OperatorSupportRef create_op_support(
    std::function<bool(const nn::Module&, const Node&)> is_node_supported) {
  return std::make_shared<FunctionalSupport>(std::move(is_node_supported));
}

OperatorSupportRef chain(std::vector<OperatorSupportRef> supports) {
  return create_op_support([supports = std::move(supports)](
                               const nn::Module& module, const Node& node) {
    return std::all_of(supports.begin(), supports.end(), [&](const auto& s) {
      return s->is_node_supported(module, node);
    });
  });
}

OperatorSupportRef any_chain(std::vector<OperatorSupportRef> supports) {
  return create_op_support([supports = std::move(supports)](
                               const nn::Module& module, const Node& node) {
    return std::any_of(supports.begin(), supports.end(), [&](const auto& s) {
      return s->is_node_supported(module, node);
    });
  });
}

OperatorSupportRef OpSupports::decline_if_input_dtype(DType dtype) {
  return create_op_support([dtype](const nn::Module&, const Node& node) {
    for (const Node* input : node.all_input_nodes())
      if (dtype_of(*input) == dtype) return false;
    return true;
  });
}

OperatorSupportRef OpSupports::decline_if_node_in_names(
    std::set<std::string, std::less<>> names) {
  return create_op_support(
      [names = std::move(names)](const nn::Module&, const Node& node) {
        return !names.contains(node.name());
      });
}

}  // namespace fxjit::fx::passes
