// GraphBuilder: makes a ModelGraph by running calls on proxies that know their
// shapes. Each call is bound, inferred, simplified and appended: results that
// are plain values never become nodes, views that change nothing vanish, views
// of constants are folded, equal calls are merged. Passes that rebuild a graph
// are written with it, and op decompositions run on its proxies.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fxjit/op.h"
#include "fxjit/proxy_base.h"
#include "src/fx/control_flow/functions.h"
#include "src/passes/lowering/weight_recipes.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

class FoldedWeights;
struct LowerOptions;

// Whose memory a value of the user's calls is, which merged calls and folded
// views do not show any more. Lowered graphs do not keep it.
struct ValueMemory {
  int32_t id = -1;             // Equal where memory is shared.
  fx::NodePtr base = nullptr;  // Its value is all that may be read later of the
                               // memory; offsets of views count from its start.
  bool operator==(const ValueMemory&) const = default;
};

class GraphBuilder {
 public:
  struct Options {
    // Builds the lowered form: views become as_strided, and every other call
    // what this makes of it, or itself where this gives none. Null: calls stay.
    Value (*lower)(GraphBuilder& builder, const ops::Op& op,
                   const ValueList& args, bool in_memory_order) = nullptr;
    const LowerOptions* lowering = nullptr;  // For `lower`.
    // Where lowering keeps what it makes of weights; null: it is made anew.
    FoldedWeights* folded = nullptr;
    // Memory that may change between calls; calls on it are refused.
    const std::unordered_set<const Storage*>* changing = nullptr;
    // Whether some call of the graph may write. Views whose place in memory
    // only their numbers tell are refused then. Null: none writes.
    std::function<bool()> is_written = nullptr;
  };

  explicit GraphBuilder(Options options);
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  // A program input, before all calls; `val` is a meta tensor.
  Value placeholder(std::string_view name, const Value& val);
  // A proxy of a parameter or other tensor that does not change. The same
  // tensor gives the same node. `computed`: no one else holds it, so that a
  // model that returns it returns a copy.
  Value constant(const Tensor& tensor, bool computed = false);
  // Calls `op` with bound arguments, which may hold proxies and tensors.
  Value call(const ops::Op& op, ValueList args);
  // As `call`, for calls whose operands were put in memory order: they are not
  // put in order again. What is in memory order may look like channels last, so
  // that lowering would not end otherwise.
  Value call_in_memory_order(const ops::Op& op, ValueList args);
  // Ends the graph. `result` is what the model returns.
  ModelGraph finish(const Value& result);

  const Options& options() const { return options_; }

  // What the nodes made from now on come from.
  void set_origin(const fx::Node* captured) { origin_ = captured; }
  const fx::Node* origin() const { return origin_; }

  // Called in place of a call that writes its first argument; without it these
  // are refused.
  using WriteHandler = std::function<Value(const ops::Op&, ValueList args)>;
  void on_write(WriteHandler handler) { on_write_ = std::move(handler); }
  // Called for control flow with proxies of this builder among its arguments;
  // without it such calls are refused.
  using ControlHandler = std::function<Value(const fx::ControlCall&)>;
  void on_control(ControlHandler handler) { on_control_ = std::move(handler); }
  // NotImplementedError naming the origin.
  [[noreturn]] void refuse(const char* why) const;

  // Calls so far, decomposed or simplified ones as well; those of a
  // WriteHandler do not count.
  int64_t calls() const { return calls_; }

  // The node behind a proxy of this builder.
  static fx::NodePtr node_of(const Value& proxy);
  // The constant behind a proxy; null when it is not one.
  const Tensor* constant_of(const Value& proxy) const;

  // `value` with tensors in place of constants.
  Value with_constants(const Value& value) const;

  // The memory of a proxy of this builder, or of a tensor of the user's.
  ValueMemory memory_of(const Value& leaf);
  // The memory is that of an input, of the module or of a tensor that the graph
  // names: others can see writes to it.
  bool is_outside(int32_t memory) const {
    return outside_[static_cast<size_t>(memory)];
  }
  // Tells that others hold the tensor; before calls on it.
  void hold_outside(const Tensor& tensor);
  // The value that `written` has after a write: all of what may be read later
  // of its memory.
  Value as_written(const Value& result, const Value& written);
  // The whole memory of a proxy, as a proxy.
  Value base_of(const Value& leaf);

 private:
  class Proxy;

  Value proxy(fx::NodePtr node, ValueMemory memory = {});
  Value proxies_of(fx::NodePtr node);  // Tuples become one getitem per tensor.
  static ValueList nodes_of(const ValueList& args);
  Value wrap_tensors(const Value& value);
  Value simplify(const ops::Op& op, const ValueList& args, const Value& val);
  Value in_parts(const Value& made, const Value& val);
  Value make(const ops::Op& op, const ValueList& args, const Value& val,
             bool in_memory_order = false);
  Value make_placed(const ops::Op& op, const ValueList& args,
                    const ValueList& metas, const Value& val);
  ValueList viewed_by(const ops::Op& op, const ValueList& args,
                      const ValueList& metas, const Value& val);
  void place(Proxy& made, const Value& viewed);
  int32_t new_memory(bool outside);
  Value fold(const ops::Op& op, const ValueList& args, const Value& val);
  // Whether a call on constants is computed: now, or when its result is read,
  // once for all graphs that have the call.
  enum class Folding { none, now, once };
  Folding folding_of(const ops::Op& op, const ValueList& args,
                     const Value& val) const;
  Tensor folded_once(const ops::Op& op, const ValueList& args,
                     const Value& val);
  Value split_views(const ops::Op& op, const ValueList& args, const Value& val);
  Value flatten_view(const Value& base, const Tensor& val);
  Value append(const ops::Op& op, const ValueList& args, const Value& val);
  Value call_in_order(const ops::Op& op, ValueList args, bool in_memory_order);

  Options options_;
  std::unique_ptr<fx::Graph> graph_;
  fx::NodePtr last_input_ = nullptr;
  std::vector<Tensor> constants_;
  std::unordered_map<const void*, fx::NodePtr> constant_nodes_;
  std::unordered_multimap<size_t, fx::NodePtr> known_calls_;
  struct Folded {
    const ops::Op* op;
    ValueList args;
    fx::NodePtr constant;
  };
  std::unordered_multimap<size_t, Folded> folded_;
  WeightRecipes recipes_;
  const fx::Node* origin_ = nullptr;
  WriteHandler on_write_;
  ControlHandler on_control_;
  int64_t calls_ = 0;
  std::vector<bool> outside_;  // By memory.
  std::unordered_map<std::shared_ptr<Storage>, int32_t> storages_;
  Value last_draw_;  // What the draw before gave.
};

// Meta tensors in place of proxies and tensors, for shape rules.
Value meta_of(const Value& value);
ValueList meta_of(const ValueList& values);

}  // namespace fxjit::passes
