// Where parts begin and end: what normalize.h says of nodes beside the
// normaliser.
#include "src/fx/control_flow/functions.h"
#include "src/ops/table/data_dependent.h"
#include "src/passes/normalize.h"

namespace fxjit::passes {

std::vector<int32_t> node_order(const fx::Graph& graph) {
  std::vector<int32_t> order(graph.id_bound());
  int32_t next = 0;
  for (const fx::Node* node : graph.nodes()) order[node->id()] = next++;
  return order;
}

bool is_data_dependent(const fx::Node& node, const std::exception_ptr& why) {
  // What a module, a branch or a body holds may be more than that call.
  if (node.is(fx::Opcode::call_module) ||
      fx::find_control_flow(node.target().function()))
    return false;
  try {
    if (why) std::rethrow_exception(why);
  } catch (const ops::DataDependentError&) {
    return true;
  } catch (const Error&) {
  }
  return false;
}

}  // namespace fxjit::passes
