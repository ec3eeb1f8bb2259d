#include "tests/compile/graph_case.h"

#include <cmath>
#include <random>

#include "fxjit/fx/wrap.h"

namespace fxjit::testing {

bool has_special_inputs(const GraphCase& c) {
  for (const Value& input : c.inputs) {
    if (!input.is_tensor() || !is_floating(input.as_tensor().dtype())) continue;
    const Tensor wide = input.as_tensor().to(DType::f64).contiguous();
    for (int64_t i = 0; i < wide.numel(); ++i)
      if (!std::isfinite(wide.data_as<double>()[i])) return true;
  }
  return false;
}

GraphCase in_parts(const GraphCase& whole, uint32_t seed) {
  static const fx::Wrapped identity =
      fx::wrap("fxjit_tests.same", [](Value x) { return x; });
  std::mt19937 random(seed);
  GraphCase made = whole.copy();
  for (fx::NodePtr node : made.graph->nodes().list()) {
    const bool call = node->is(fx::Opcode::call_function) ||
                      node->is(fx::Opcode::call_method);
    if (!call || node->num_users() == 0 || random() % 6 != 0) continue;
    auto scope = made.graph->inserting_after(node);
    const fx::NodePtr same =
        made.graph->call_function(identity.function(), ValueList{node});
    node->replace_all_uses_with(same,
                                [=](fx::NodePtr user) { return user != same; });
  }
  return made;
}

}  // namespace fxjit::testing
