#include "src/fx/control_flow/body_frame.h"

#include <algorithm>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/tracer.h"

namespace fxjit::fx {
NodePtr lift(BodyFrame& frame, NodePtr node) {
  for (const auto* known : {&frame.given, &frame.lifted})
    for (const auto& [outside, inside] : *known)
      if (outside == node) return inside;
  const NodePtr made = frame.graph->placeholder(
      "arg" + std::to_string(frame.graph->placeholders().size()) + "_1");
  frame.lifted.emplace_back(node, made);
  return made;
}

BodyScope::BodyScope(TracerBase& tracer, BodyFrame& frame) : tracer_(tracer) {
  frame.around = std::exchange(tracer.graph, frame.graph.get());
  tracer.bodies_.push_back(&frame);
}

BodyScope::~BodyScope() {
  tracer_.graph = tracer_.bodies_.back()->around;
  tracer_.bodies_.pop_back();
}

OutsideScope::OutsideScope(TracerBase& tracer)
    : tracer_(tracer),
      graph_(tracer.graph),
      bodies_(std::move(tracer.bodies_)) {
  tracer_.bodies_.clear();
  if (!bodies_.empty()) tracer_.graph = bodies_[0]->around;
}

OutsideScope::~OutsideScope() {
  tracer_.graph = graph_;
  tracer_.bodies_ = std::move(bodies_);
}

NodePtr in_reach(TracerBase& tracer, NodePtr node) {
  const std::vector<BodyFrame*>& bodies = tracer.bodies();
  if (&node->graph() == tracer.graph) return node;
  auto from = std::find_if(
      bodies.begin(), bodies.end(),
      [&](const BodyFrame* body) { return body->around == &node->graph(); });
  for (; from != bodies.end(); ++from) node = lift(**from, node);
  return node;
}

std::string path_of_body(const TracerBase& tracer, const nn::Module& module) {
  if (!tracer.bodies().empty())
    for (const auto& [name, member] : tracer.bodies().back()->members)
      if (member.get() == &module) return name;
  if (const auto* const tracing = dynamic_cast<const Tracer*>(&tracer))
    return tracing->path_of_module(module);
  if (const nn::Module* const owner = tracer.owner())
    for (const auto& [path, member] : owner->named_modules())
      if (member == &module) return path;
  throw NameError("module is not installed as a submodule");
}

nn::Module* GraphAppendingTracer::owner() const { return to_.owning_module(); }

}  // namespace fxjit::fx
