#include "src/passes/lowering/conv_work.h"

#include <algorithm>
#include <map>

#include "src/ops/eager/body_value.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/origins.h"
#include "src/passes/patterns.h"

namespace fxjit::passes {
namespace {

// Most tensors beside the sums that an epilogue may read: the kernels keep so
// many addresses in registers.
constexpr size_t kMostExtras = 4;

// The empty epilogue: its result is the sum.
ScalarBody sum_alone() {
  ScalarBuilder builder;
  return builder.finish({builder.input(0, DType::f32)});
}

// The search for a tail goes on for this many calls beyond the longest tail
// found: an activation that is written out is a valid tail only at its last
// call.
constexpr size_t kMostOpen = 8;
// Most nodes after the convolution that the search visits.
constexpr int kMostNodes = 256;

// Collects the tail of one convolution: elementwise calls that read its sums,
// each other, and tensors that do not depend on it. Only the result of the last
// call may be read outside of the tail.
class Tail {
 public:
  explicit Tail(fx::NodePtr conv) : conv_(conv), epilogue_(sum_alone()) {}

  void collect() {
    std::vector<fx::NodePtr> calls;
    fx::NodePtr node = conv_;
    for (int i = 0; i < kMostNodes && calls.size() < tail_.size() + kMostOpen;
         ++i) {
      node = node->next();
      if (node->is(fx::Opcode::root)) return;
      if (!reads_any(*node, calls)) continue;
      if (!suits(*node)) return;
      calls.push_back(node);
      if (is_closed(calls) && take(calls)) tail_ = calls;
    }
  }
  bool empty() const { return tail_.empty(); }

  void replace(fx::Graph& graph) const {
    fx::NodePtr last = tail_.back();
    auto scope = graph.inserting_before(last);
    ValueList args(conv_->args().begin(), conv_->args().end());
    args.push_back(ops::to_value(epilogue_));
    args.push_back(Value::list(extras_));
    fx::NodePtr made =
        graph.call_function(conv_last_work_op().canonical, std::move(args));
    made->copy_meta_from(*conv_);
    std::vector<fx::NodePtr> all{conv_};
    all.insert(all.end(), tail_.begin(), tail_.end());
    take_origins(*made, all);
    made->set_val(last->val());
    last->replace_all_uses_with(made);
  }

 private:
  static bool contains(const std::vector<fx::NodePtr>& calls,
                       const fx::Node* node) {
    return std::ranges::find(calls, node) != calls.end();
  }

  bool reads_any(const fx::Node& node,
                 const std::vector<fx::NodePtr>& calls) const {
    return std::ranges::any_of(
        node.all_input_nodes(), [&](const fx::Node* input) {
          return input == conv_ || contains(calls, input);
        });
  }

  bool suits(const fx::Node& node) const {
    const ops::Op* op = node.called_op();
    if (!op || op->row.lowering != ops::Lowering::scalar) return false;
    if (!node.val().is_tensor()) return false;
    const Tensor& val = node.val_tensor();
    const bool type_fits =
        val.dtype() == DType::f32 || val.dtype() == DType::boolean;
    return type_fits && val.is_contiguous() &&
           val.sizes() == conv_->val_tensor().sizes();
  }

  // Whether only calls of the tail read the convolution and the calls before
  // the last one, and the last one gives f32.
  bool is_closed(const std::vector<fx::NodePtr>& calls) const {
    const auto stays_inside = [&](const fx::Node* node) {
      return std::ranges::all_of(node->users(), [&](const fx::Node* user) {
        return contains(calls, user);
      });
    };
    return calls.back()->val_tensor().dtype() == DType::f32 &&
           stays_inside(conv_) &&
           std::all_of(calls.begin(), calls.end() - 1, stays_inside);
  }

  // Makes the calls the epilogue. Returns false, and changes nothing, if they
  // cannot be one or add no operation.
  bool take(const std::vector<fx::NodePtr>& calls) {
    std::vector<fx::NodePtr> extras;
    if (!find_extras(calls, extras)) return false;
    ScalarBuilder builder;
    std::map<const fx::Node*, Scalar> values;
    values.emplace(conv_, builder.input(0, DType::f32));
    for (size_t i = 0; i < extras.size(); ++i)
      values.emplace(extras[i],
                     builder.input(static_cast<int>(i) + 1, DType::f32));
    for (const fx::Node* call : calls) {
      std::vector<Scalar> inputs;
      for (const Value& arg : call->args())
        visit_leaves(arg, [&](const Value& leaf) {
          if (leaf.is_node()) inputs.push_back(values.at(leaf.as_node()));
        });
      values.insert_or_assign(
          call, builder.inline_body(body_of(*call), inputs).front());
    }
    ScalarBody more = builder.finish({values.at(calls.back())});
    if (more == epilogue_ || has_index(more)) return false;
    epilogue_ = std::move(more);
    extras_.assign(extras.begin(), extras.end());
    return true;
  }

  // Finds the tensors that the calls read beside the sums and each other. False
  // if one of them does not fit, or if there are more than kMostExtras.
  bool find_extras(const std::vector<fx::NodePtr>& calls,
                   std::vector<fx::NodePtr>& extras) const {
    bool good = true;
    for (const fx::Node* call : calls)
      for (const fx::NodePtr input : call->all_input_nodes()) {
        if (input == conv_ || contains(calls, input)) continue;
        good = good && fits(input->val());
        if (!contains(extras, input)) extras.push_back(input);
      }
    return good && extras.size() <= kMostExtras;
  }

  // Whether a tensor has the result's shape and order, or one element for each
  // channel.
  bool fits(const Value& extra) const {
    if (!extra.is_tensor()) return false;
    const Tensor& t = extra.as_tensor();
    const Dims& sizes = conv_->val_tensor().sizes();
    if (t.dtype() != DType::f32 || !t.is_contiguous() || t.dim() == 0 ||
        t.size(-1) != sizes.back())
      return false;
    return t.sizes() == sizes || t.numel() == sizes.back();
  }

  fx::NodePtr conv_;
  std::vector<fx::NodePtr> tail_;  // What is done to the convolution.
  ScalarBody epilogue_;            // Input i + 1 is extra i.
  ValueList extras_;
};

}  // namespace

int fuse_conv_work(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    if (node->called_op() != &conv_last_op()) return false;
    Tail tail(node);
    tail.collect();
    if (tail.empty()) return false;
    tail.replace(*model.graph);
    return true;
  });
}

}  // namespace fxjit::passes
