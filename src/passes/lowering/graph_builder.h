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
#include <utility>
#include <vector>

#include "fxjit/op.h"
#include "fxjit/proxy_base.h"
#include "src/fx/control_flow/functions.h"
#include "src/passes/lowering/image_way_text.h"
#include "src/passes/lowering/weight_recipes.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

class FoldedWeights;
struct LowerOptions;

// The memory that a value of the user's graph is in. The graph itself does not
// show it, because equal calls are merged and views folded. Lowered graphs do
// not keep it.
struct ValueMemory {
  int32_t id = -1;             // Equal where memory is shared.
  fx::NodePtr base = nullptr;  // Its value is all that may be read later of the
                               // memory; offsets of views count from its start.
  bool operator==(const ValueMemory&) const = default;
};

class GraphBuilder {
 public:
  struct Options {
    // Set to build a lowered graph: views become as_strided, and every other
    // call becomes what this function makes of it, or stays if it gives none.
    // Null leaves all calls as they are.
    Value (*lower)(GraphBuilder& builder, const ops::Op& op,
                   const ValueList& args, bool in_memory_order) = nullptr;
    const LowerOptions* lowering = nullptr;  // For `lower`.
    // Where tensors that lowering makes of weights are kept for other graphs of
    // the module; null to make them for this graph alone.
    FoldedWeights* folded = nullptr;
    // Storages that calls of the graph may write, so that their tensors are no
    // constants. Calls on them are refused.
    const std::unordered_set<const Storage*>* changing = nullptr;
    // Tells whether some call of the graph may write. If so, views are refused
    // whose place in memory depends on numbers that only a call knows. Null: no
    // call writes.
    std::function<bool()> is_written = nullptr;
  };

  explicit GraphBuilder(Options options);
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  // Adds an input of the program; called before all calls. `val` is a meta
  // tensor with its dtype, shape and strides.
  Value placeholder(std::string_view name, const Value& val);
  // A proxy of a parameter or another tensor that never changes. The same
  // tensor gives the same node. `computed` says that nobody outside of the
  // graph holds the tensor, so a model that returns it must return a copy.
  Value constant(const Tensor& tensor, bool computed = false);
  // Calls `op` with bound arguments, which may hold proxies and tensors.
  Value call(const ops::Op& op, ValueList args);
  // Like `call`, for operands that lowering has already permuted to their order
  // in memory. Such operands may look like channels last themselves, and
  // permuting them again would not end.
  Value call_in_memory_order(const ops::Op& op, ValueList args);
  // Ends the graph. `result` is what the model returns.
  ModelGraph finish(const Value& result);

  const Options& options() const { return options_; }

  // The captured node that all nodes made from now on stand for.
  void set_origin(const fx::Node* captured) { origin_ = captured; }
  const fx::Node* origin() const { return origin_; }
  // While one lives, the nodes that are made are of a convolution or pooling
  // that is computed so. Copies of its operands are not.
  class WayScope {
   public:
    WayScope(GraphBuilder& builder, ImageWay way)
        : builder_(builder), before_(std::exchange(builder.way_, way)) {}
    ~WayScope() { builder_.way_ = before_; }
    WayScope(const WayScope&) = delete;
    WayScope& operator=(const WayScope&) = delete;

   private:
    GraphBuilder& builder_;
    const ImageWay before_;
  };

  // Handles a call that writes its first argument: what it returns takes the
  // place of the call. Without a handler such calls are refused.
  using WriteHandler = std::function<Value(const ops::Op&, ValueList args)>;
  void on_write(WriteHandler handler) { on_write_ = std::move(handler); }
  // Handles control flow with proxies of this builder among its arguments.
  // Without a handler such calls are refused.
  using ControlHandler = std::function<Value(const fx::ControlCall&)>;
  void on_control(ControlHandler handler) { on_control_ = std::move(handler); }
  // Throws NotImplementedError that names the origin and gives the reason.
  [[noreturn]] void refuse(const char* why) const;

  // The number of calls made so far, including those that were decomposed or
  // simplified, without those that a WriteHandler made.
  int64_t calls() const { return calls_; }

  // The node behind a proxy of this builder.
  static fx::NodePtr node_of(const Value& proxy);
  // The constant behind a proxy; null when it is not one, or one whose numbers
  // follow from named sizes.
  const Tensor* constant_of(const Value& proxy) const;
  // Whether it is a constant of either kind.
  bool is_constant(const Value& proxy) const { return held_by(proxy); }
  // Takes over constants made of named sizes, before they are named.
  void adopt(const std::vector<MadeConstant>& made);

  // `value` with tensors in place of constants.
  Value with_constants(const Value& value) const;

  // The memory of a proxy of this builder, or of a tensor of the user's.
  ValueMemory memory_of(const Value& leaf);
  // Whether the memory is that of an input, of the module or of a tensor that
  // the graph names, so that others can see writes to it.
  bool is_outside(int32_t memory) const {
    return outside_[static_cast<size_t>(memory)];
  }
  // States that someone outside holds the tensor. Called before the first call
  // on it.
  void hold_outside(const Tensor& tensor);
  // `result` as the value of `written` after a write: from now on everything
  // that is read of that memory is read from it.
  Value as_written(const Value& result, const Value& written);
  // The proxy of the whole memory that `leaf` is a view of.
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
  // The constant behind a proxy, or what stands for it.
  const Tensor* held_by(const Value& proxy) const;
  // Whether a call on constants is computed: now, when its result is read, once
  // for all graphs that have the call, or for each tuple of sizes.
  enum class Folding { none, now, once, sized };
  Folding folding_of(const ops::Op& op, const ValueList& args,
                     const Value& val) const;
  Tensor folded_once(const ops::Op& op, const ValueList& args,
                     const Value& val);
  Tensor folded_for_sizes(const ops::Op& op, const ValueList& args);
  // With numbers in place of named sizes, and tensors of these.
  Value present_of(const Value& value) const;
  Value folded_constant(const ValueList& args, const Tensor& result,
                        Folding how);
  Value split_views(const ops::Op& op, const ValueList& args, const Value& val);
  Value flatten_view(const Value& base, const Tensor& val);
  Value append(const ops::Op& op, const ValueList& args, const Value& val);
  Value call_in_order(const ops::Op& op, ValueList args, bool in_memory_order);

  Options options_;
  std::unique_ptr<fx::Graph> graph_;
  fx::NodePtr last_input_ = nullptr;
  std::vector<Tensor> constants_;
  std::unordered_map<const void*, fx::NodePtr> constant_nodes_;
  std::vector<MadeConstant> made_;
  std::unordered_map<const void*, Tensor> presents_;  // By stand-in.
  std::unordered_multimap<size_t, fx::NodePtr> known_calls_;
  struct Folded {
    const ops::Op* op;
    ValueList args;
    fx::NodePtr constant;
  };
  std::unordered_multimap<size_t, Folded> folded_;
  WeightRecipes recipes_;
  const fx::Node* origin_ = nullptr;
  ImageWay way_ = ImageWay::none;
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
