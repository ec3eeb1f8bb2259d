#include "src/fx/graph_module/running_graph.h"

namespace fxjit::fx {
namespace {

// SyntaxError for placeholders that are no arguments of Python's
// `def forward(self, ...)`.
void check_function(std::vector<nn::ArgSpec> specs) {
  if (specs.empty() || specs[0].name != "self")
    specs.insert(specs.begin(), nn::ArgSpec("self"));
  nn::Signature(std::move(specs), SourceLocation());
}

}  // namespace

RunningGraph::RunningGraph(const Graph& graph) : graph_(&graph) {
  index_placeholders();
}

void RunningGraph::index_placeholders() {
  placeholders_ = graph_->placeholders();
  variadic_ = false;
  std::vector<nn::ArgSpec> specs;
  for (const Node* node : placeholders_) {
    nn::ArgSpec spec(std::string(node->target_name()));
    if (!node->args().empty()) spec.default_value = node->args()[0];
    variadic_ = variadic_ || spec.name.starts_with('*');
    specs.push_back(std::move(spec));
  }
  // With a CodeGen the function has arguments of its own.
  if (!graph_->has_codegen()) check_function(specs);
  signature_ = nn::Signature::unchecked(std::move(specs));
}

void RunningGraph::keep(std::unique_ptr<Graph> copy) {
  owned_ = std::move(copy);
  graph_ = owned_.get();
  plan_.reset();
  index_placeholders();
}

const ExecutionPlan& RunningGraph::plan() const {
  std::lock_guard lock(mutex_);
  if (!plan_) plan_ = std::make_unique<const ExecutionPlan>(*graph_);
  return *plan_;
}

const PythonCode& RunningGraph::python_code() const {
  std::lock_guard lock(mutex_);
  if (!code_)
    code_ = std::make_unique<const PythonCode>(graph_->python_code("self"));
  return *code_;
}

}  // namespace fxjit::fx
