// One call of a module whose graph is compiled in parts: native code up to a node
// that stays with the interpreter, that node, and so on. Effects happen in the
// graph's order; what comes out of an interpreted node decides, by its shape,
// which program computes the next part.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/compile/compiled_shape.h"
#include "src/compile/graph_parts.h"
#include "src/fx/control_flow/functions.h"

namespace fxjit {

// What ran in a call, for profiles.
struct StageTime {
  std::shared_ptr<const CompiledShape> shape;  // Null: an interpreted node.
  program::StepTimes steps;
  const fx::Node* node = nullptr;
  double nanoseconds = 0;
};

class StagedRun : private fx::Interpreter {
 public:
  using Shape = std::shared_ptr<const CompiledShape>;
  // The program of the part from a node on; null or not compiled: the rest of
  // the graph is interpreted.
  using Find = std::function<Shape(const fx::Node&, const GraphParts::Known&)>;

  // Keeps `source`, whose nodes `find` is asked for. Loops that are interpreted
  // keep to `limits`; null: to those of the thread.
  StagedRun(std::shared_ptr<const GraphSource> source, Find find,
            support::BlockPool& blocks, const fx::LoopLimits* limits);

  // `first` is the part that begins the graph, made for such inputs. Adds to
  // `times` when given.
  Value run(std::span<const Value> inputs, Shape first,
            std::vector<StageTime>* times = nullptr);

 private:
  const Value& known(const fx::Node& node) const;
  std::optional<Value> run_part(const CompiledShape& shape, StageTime* time);
  void run_here(const fx::Node& node);
  Value interpret_from(const fx::Node* node);  // Null: from the beginning.

  const std::shared_ptr<const GraphSource> source_;
  const GraphParts& parts_;
  const Find find_;
  support::BlockPool& blocks_;
  const fx::LoopLimitsScope limits_;
};

}  // namespace fxjit
