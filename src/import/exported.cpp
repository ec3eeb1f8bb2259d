#include "fxjit/exported.h"

#include "src/import/pt2/origin.h"

namespace fxjit::pt2 {
namespace {

// Calls that the exporter leaves in its graphs and that mean another one here.
constexpr std::pair<std::string_view, std::string_view> kOtherSpellings[] = {
    // torch checks that a view has its argument's memory while it exports, with
    // the strides that its own kernels give. Where ours are others a copy is
    // right.
    {"torch.ops.aten.view.default", "torch.ops.aten.reshape.default"},
    {"torch.ops.aten._unsafe_view.default", "torch.ops.aten.reshape.default"}};

}  // namespace

std::optional<fx::Target> exported_function(std::string_view name) {
  for (const auto& [exported, here] : kOtherSpellings)
    if (exported == name) return fx::find_callable(here);
  return fx::find_callable(name);
}

void set_stack_trace(fx::NodePtr node, const std::string& trace) {
  if (trace.empty()) return;
  node->meta().set("stack_trace", trace);
  node->set_source(import::innermost_source(trace));
}

}  // namespace fxjit::pt2
