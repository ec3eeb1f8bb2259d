// GraphBuilder: makes a ModelGraph by running calls on proxies that know their
// shapes. Each call is bound, inferred, simplified and appended: results that
// are plain values never become nodes, views that change nothing vanish, views of
// constants are folded, equal calls are merged. Passes that rebuild a graph are
// written with it, and op decompositions run on its proxies.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fxjit/op.h"
#include "fxjit/proxy_base.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

// Whether a call, its tensors meta, has a kernel of its own that is fast.
using HasKernel =
    std::function<bool(const ops::Op& op, const ValueList& args)>;

class GraphBuilder {
 public:
  struct Options {
    bool lower = false;  // Build the lowered form: decompose, flatten views.
    // Asked for products by constants and convolutions of half types; those
    // without one are computed in f32. Null: all are.
    HasKernel has_kernel = nullptr;
    // Convolutions are sums of products of their own numbers, never of
    // transforms.
    bool direct_convolutions = false;
    bool fold_constants = true;
    bool merge_equal = true;
    // Memory that may change between calls; calls on it are refused.
    const std::unordered_set<const Storage*>* changing = nullptr;
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
  // NotImplementedError naming the origin.
  [[noreturn]] void refuse(const char* why) const;

  // Calls so far, decomposed or simplified ones as well, and the last one's op;
  // those of a WriteHandler do not count.
  int64_t calls() const { return calls_; }
  const ops::Op* last_op() const { return last_op_; }

  // The node behind a proxy of this builder.
  static fx::Node* node_of(const Value& proxy);
  // The constant behind a proxy; null when it is not one.
  const Tensor* constant_of(const Value& proxy) const;
  // The memory of a constant; of other nodes the node itself.
  const void* constant_memory(const fx::Node& node) const;

 private:
  class Proxy;
  struct CallKey;

  Value proxy(fx::Node* node);
  Value proxies_of(fx::Node* node);  // Tuples become one getitem per tensor.
  static ValueList nodes_of(const ValueList& args);
  Value wrap_tensors(const Value& value);
  Value simplify(const ops::Op& op, const ValueList& args, const Value& val);
  Value lower_call(const ops::Op& op, const ValueList& args);
  Value fold(const ops::Op& op, const ValueList& args, const Value& val);
  bool folds(const ops::Op& op, const ValueList& args, const Value& val) const;
  Value split_views(const ops::Op& op, const ValueList& args,
                    const Value& val);
  Value flatten_view(const Value& base, const Tensor& val);
  Value append(const ops::Op& op, const ValueList& args, const Value& val);

  Options options_;
  std::unique_ptr<fx::Graph> graph_;
  fx::Node* last_input_ = nullptr;
  std::vector<Tensor> constants_;
  std::unordered_map<const void*, fx::Node*> constant_nodes_;
  std::unordered_multimap<size_t, fx::Node*> known_calls_;
  struct Folded {
    const ops::Op* op;
    ValueList args;
    fx::Node* constant;
  };
  std::unordered_multimap<size_t, Folded> folded_;
  const fx::Node* origin_ = nullptr;
  WriteHandler on_write_;
  int64_t calls_ = 0;
  const ops::Op* last_op_ = nullptr;
};

// Meta tensors in place of proxies and tensors, for shape rules.
Value meta_of(const Value& value);

}  // namespace fxjit::passes
