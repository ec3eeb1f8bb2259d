#include "src/passes/lower.h"

#include "src/ops/complex_calls.h"
#include "src/passes/internal_ops.h"
#include "src/passes/rebuild.h"
#include "src/passes/result_order.h"

namespace fxjit::passes {
namespace {

// In bytes.
int64_t end_of(const Tensor& t) {
  int64_t last = t.offset();
  for (int d = 0; d < t.dim(); ++d) last += (t.sizes()[d] - 1) * t.strides()[d];
  return (last + 1) * static_cast<int64_t>(t.item_size());
}

// as_strided names places in memory: these must be the captured ones, and
// known. A caller's tensor may start anywhere in its memory.
void check_memory_view(const fx::Node& node, const Value& input) {
  const fx::Node* root = GraphBuilder::node_of(input);
  if (root->called_op() == &as_strided_op()) root = root->arg_node(0);
  const Tensor& view = node.val_tensor();
  const bool outside =
      view.numel() > 0 && end_of(view) > end_of(root->val_tensor());
  if (outside || (root->is(fx::Opcode::placeholder) && !node.arg(3).is_none()))
    throw NotImplementedError(
        "cannot be compiled: the view may reach outside its input",
        node.error_context());
}

// view(x, size) was checked on the captured strides; what the lowered ones do
// not allow is copied.
Value lower_call(GraphBuilder& b, const fx::Node& node, ValueList& args) {
  const std::string_view name = node.called_op()->name();
  const DType dtype = node.val_tensor().dtype();
  if ((name == "view" || name == "view_as") && val_of(args[0]).dtype() == dtype)
    return b.call(ops::get_op("reshape"), {args[0], node.val_tensor().sizes()});
  if (node.called_op() == &layout_op()) return args[0];
  // Lowered strides may be others than those that were checked.
  if (name == "view_as_complex" && !ops::holds_pairs(val_of(args[0])))
    args[0] = b.call(materialize_op(), {args[0]});
  if (name != "as_strided") return {};
  args[0] = in_order_of(b, args[0], node.arg_node(0)->val_tensor());
  check_memory_view(node, args[0]);
  return {};
}

}  // namespace

Tensor val_of(const Value& proxy) {
  return proxy.as_proxy()->val().as_tensor();
}

Value call(GraphBuilder& builder, std::string_view op, const ValueList& args) {
  const ops::Op& row = ops::get_op(op);
  return builder.call(row, ops::bind(row, args, {}));
}

ModelGraph lower(const ModelGraph& model, const LowerOptions& how) {
  GraphBuilder::Options options;
  options.has_kernel = how.has_kernel;
  options.direct_convolutions = how.direct_convolutions;
  options.lower = true;
  const std::vector<Tensor> wanted =
      how.results.empty() ? layouts_of_results(model) : how.results;
  const auto for_results = calls_for_results(model);
  return rebuild(
      model, options, [&](GraphBuilder& b, const fx::Node& node, ValueList& args) {
        if (node.is(fx::Opcode::output))
          args[0] = results_in_order(b, args[0], wanted);
        else if (for_results.contains(&node))
          return call_in_order_of(b, *node.called_op(), args, node.val_tensor());
        else if (node.called_op() && node.val().is_tensor())
          return lower_call(b, node, args);
        return Value();
      });
}

}  // namespace fxjit::passes
