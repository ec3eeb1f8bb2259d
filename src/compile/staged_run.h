// One call of a module whose graph is compiled in parts. The call runs the
// native code of a part, then the node after it, and so on, so that effects
// keep the order of the graph. That node is a call of an op whose result
// depends on data, or something that only the interpreter can run. The shapes
// of the values that come out of it decide which program runs the next part.
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

// One stage of a call, a part or a node between parts, and the time that it
// took. For profiles.
struct StageTime {
  std::shared_ptr<const CompiledShape> shape;  // Null: a node between parts.
  program::StepTimes steps;
  const fx::Node* node = nullptr;
  bool native = false;  // The node, as CompiledShape::native_stop().
  double nanoseconds = 0;
};

class StagedRun : private fx::Interpreter {
 public:
  using Shape = std::shared_ptr<const CompiledShape>;
  // Returns the program of the part that begins at a node. If it returns null
  // or an entry that is not compiled, the rest of the graph is interpreted.
  using Find = std::function<Shape(const fx::Node&, const GraphParts::Known&)>;

  // Keeps `source` alive. `find` is asked for programs of its nodes. `limits`
  // bounds the loops that are interpreted; null keeps the limits of the thread.
  StagedRun(std::shared_ptr<const GraphSource> source, Find find,
            support::BlockPool& blocks, const fx::LoopLimits* limits);

  // Runs the whole call. `first` is the program of the first part, made for
  // such inputs. Stages are added to `times` unless it is null.
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
