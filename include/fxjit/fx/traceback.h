// torch.fx.traceback: facts of nodes that go over to the nodes made from them.
// While they are preserved, every node made by a tracer takes "stack_trace",
// "custom" and the like from the current meta; Interpreter makes that the meta
// of the node being run, so what a Transformer makes of a node keeps its notes.
//
// The state is the thread's own. The objects here change it while they live.
#pragma once

#include <string_view>

#include "fxjit/fx/meta.h"
#include "fxjit/fx/node.h"

namespace fxjit::fx::traceback {

bool has_preserved_node_meta();
// torch's get_current_meta.
const Meta& current_meta();
// Sets the trace of nodes made from now on, while meta is preserved; empty:
// none.
void set_stack_trace(std::string_view trace);

// torch's preserve_node_meta.
class [[nodiscard]] PreserveNodeMeta {
 public:
  explicit PreserveNodeMeta(bool enable = true);
  ~PreserveNodeMeta();
  PreserveNodeMeta(const PreserveNodeMeta&) = delete;
  PreserveNodeMeta& operator=(const PreserveNodeMeta&) = delete;

 private:
  bool enabled_;
  Meta meta_;
};

// torch's set_current_meta: without effect unless meta is preserved and the
// node has some.
class [[nodiscard]] CurrentMeta {
 public:
  explicit CurrentMeta(const Node& node);
  ~CurrentMeta();
  CurrentMeta(const CurrentMeta&) = delete;
  CurrentMeta& operator=(const CurrentMeta&) = delete;

 private:
  bool changed_;
  Meta meta_;
};

// torch's annotate: adds entries to "custom" of nodes made meanwhile, while
// meta is preserved.
class [[nodiscard]] Annotation {
 public:
  explicit Annotation(const ValueDict& entries);
  ~Annotation();
  Annotation(const Annotation&) = delete;
  Annotation& operator=(const Annotation&) = delete;

 private:
  Value custom_;  // As it was.
};

// For tracers: gives a node just made what is preserved.
void copy_current_meta(Node& node);

}  // namespace fxjit::fx::traceback
