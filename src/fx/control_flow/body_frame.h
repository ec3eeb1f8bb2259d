// Bodies of control flow while they are traced. The tracer stays the same; only
// the graph that it records in changes, so that all its hooks are at work. Values
// of the graphs around a body become placeholders of it when it first uses them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/tracer_base.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {

struct BodyFrame {
  Graph* around = nullptr;  // The graph in which the body is called.
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  // Nodes of `around` and the placeholders that stand for them: operands that
  // the body was given, and what it uses beside.
  std::vector<std::pair<NodePtr, NodePtr>> given;
  std::vector<std::pair<NodePtr, NodePtr>> lifted;
  // Bodies inside of this one, by the names of their members.
  std::vector<std::pair<std::string, nn::ModuleRef>> members;
};

// The tracer records in the body while this lives.
class BodyScope {
 public:
  BodyScope(TracerBase& tracer, BodyFrame& frame);
  ~BodyScope();
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

 private:
  TracerBase& tracer_;
};

// The tracer records in the outermost graph while this lives.
class OutsideScope {
 public:
  explicit OutsideScope(TracerBase& tracer);
  ~OutsideScope();
  OutsideScope(const OutsideScope&) = delete;
  OutsideScope& operator=(const OutsideScope&) = delete;

 private:
  TracerBase& tracer_;
  Graph* graph_;
  std::vector<BodyFrame*> bodies_;
};

// The placeholder of the body that stands for a node of the graph around.
NodePtr lift(BodyFrame& frame, NodePtr node);

// What stands for `node` in the graph that the tracer records in: itself, or a
// placeholder where it is of a graph around the body being traced.
NodePtr in_reach(TracerBase& tracer, NodePtr node);

// The path by which nodes of the tracer's graph name a module; NameError when it
// is no member.
std::string path_of_body(const TracerBase& tracer, const nn::Module& module);

}  // namespace fxjit::fx
