#include "fxjit/fx/folded_graph_module.h"

#include "src/fx/graph_module/module_members.h"

namespace fxjit::fx::passes {
namespace {

nn::Parameter folded_parameter(const Value& value) {
  if (value.is_tensor())
    return nn::Parameter(value.as_tensor().clone(), /*requires_grad=*/false);
  return nn::Parameter(Tensor::full({1}, value.as_double()),
                       /*requires_grad=*/false);
}

}  // namespace

FoldedGraphModule::FoldedGraphModule(const nn::Module& root,
                                     std::unique_ptr<Graph> graph,
                                     std::unique_ptr<Graph> const_subgraph,
                                     std::string folded_attrs_name)
    : GraphModule(root, std::move(graph), "FoldedGraphModule"),
      folded_attrs_name_(std::move(folded_attrs_name)) {
  if (const_subgraph)
    const_subgraph_module_ =
        GraphModule::create(root, std::move(const_subgraph));
}

void FoldedGraphModule::fold() {
  has_folding_been_run_ = true;
  if (!const_subgraph_module_) return;
  const Value folded = const_subgraph_module_->call({});
  if (!folded.is_sequence()) {
    put_member(*this, folded_attrs_name_, folded_parameter(folded));
    return;
  }
  ValueList tensors;
  for (const Value& value : folded.as_sequence())
    tensors.push_back(folded_parameter(value).tensor());
  put_member(*this, folded_attrs_name_, Value::list(std::move(tensors)));
}

void FoldedGraphModule::fold_once() {
  std::call_once(folding_, [this] {
    if (!has_folding_been_run_) fold();
  });
}

// The values belong to the module's result: computing them changes nothing that
// its user can tell.
void FoldedGraphModule::ensure_folded() const {
  const_cast<FoldedGraphModule*>(this)->fold_once();
}

void FoldedGraphModule::run_folding() {
  if (has_folding_been_run_)
    throw AssertionError("Folding has already been run");
  fold_once();
}

Value FoldedGraphModule::invoke(const ValueList& args, const Kwargs& kwargs) {
  fold_once();
  return GraphModule::invoke(args, kwargs);
}

Value FoldedGraphModule::invoke_bound(std::vector<Value> inputs) {
  fold_once();
  return GraphModule::invoke_bound(std::move(inputs));
}

}  // namespace fxjit::fx::passes
