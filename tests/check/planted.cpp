#include "tests/check/planted.h"

#include <random>

#include "fxjit/op.h"

namespace fxjit::testing {
namespace {

bool negate_in(fx::Graph& graph, const std::string& op) {
  for (const fx::NodePtr node : graph.nodes()) {
    if (!node->called_op() || node->called_op()->name() != op) continue;
    auto scope = graph.inserting_after(node);
    const fx::NodePtr wrong =
        graph.call_function(ops::get_op("neg").canonical, ValueList{node});
    wrong->copy_meta_from(*node);
    node->replace_all_uses_with(
        wrong, [=](fx::NodePtr user) { return user != wrong; });
    return true;
  }
  return false;
}

size_t calls_in(const fx::Graph& graph) {
  size_t calls = 0;
  for (const fx::Node* node : graph.nodes())
    if (node->called_op()) ++calls;
  return calls;
}

}  // namespace

passes::PassHooks planted(const std::string& pass, const std::string& op) {
  passes::PassHooks hooks;
  hooks.alter = [=](std::string_view done, passes::ModelGraph& model) {
    if (done != pass || negate_in(*model.graph, op)) return;
    for (auto& [name, region] : model.regions)
      if (calls_in(*region.graph) > 1 && negate_in(*region.graph, op)) return;
  };
  return hooks;
}

CheckOptions quick() {
  CheckOptions made;
  made.compile.threads = 1;
  made.compile.cache_folder = "";
  return made;
}

Tensor random_numbers(const Dims& sizes, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor made = Tensor::empty(sizes);
  for (int64_t i = 0; i < made.numel(); ++i)
    made.data_as<float>()[i] = static_cast<float>(random()) * 0x1p-31f - 1;
  return made;
}

}  // namespace fxjit::testing
