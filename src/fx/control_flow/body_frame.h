// Scopes in which a tracer records a branch, or the body of a loop, into a
// graph of its own. It stays the same tracer, so all its hooks run; only the
// graph that it records in changes. When a body first uses a value of a graph
// around it, that value becomes a placeholder of the body ("lifted").
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/tracer_base.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {

struct BodyFrame {
  // The graph that has the call of this body.
  Graph* around = nullptr;
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  // Nodes of `around`, each with the placeholder of `graph` that stands for it.
  // `given` has the operands of the call, `lifted` what the body uses besides.
  std::vector<std::pair<NodePtr, NodePtr>> given;
  std::vector<std::pair<NodePtr, NodePtr>> lifted;
  // Bodies that are called in this one, by the names of their members.
  std::vector<std::pair<std::string, nn::ModuleRef>> members;
};

// While this lives, the tracer records in the graph of `frame`.
class BodyScope {
 public:
  BodyScope(TracerBase& tracer, BodyFrame& frame);
  ~BodyScope();
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

 private:
  TracerBase& tracer_;
};

// While this lives, the tracer records in the outermost graph.
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

// The placeholder of the body for `node` of the graph around, made if there is
// none.
NodePtr lift(BodyFrame& frame, NodePtr node);

// The node that stands for `node` in the graph that the tracer records in now:
// `node` itself, or a placeholder if `node` is of a graph around.
NodePtr in_reach(TracerBase& tracer, NodePtr node);

// The path by which a node of the tracer's graph names the module. Throws
// NameError if the module is no member.
std::string path_of_body(const TracerBase& tracer, const nn::Module& module);

}  // namespace fxjit::fx
