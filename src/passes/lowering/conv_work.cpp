#include "src/passes/lowering/conv_work.h"

#include <optional>

#include "src/ops/eager/body_value.h"
#include "src/ops/eager/post_ops.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/origins.h"

namespace fxjit::passes {
namespace {

// As many as kernels hold at hand.
constexpr size_t kMostExtras = 4;

// The empty epilogue: its result is the sum.
ScalarBody sum_alone() {
  ScalarBuilder builder;
  return builder.finish({builder.input(0, DType::f32)});
}

// The tail of one convolution while it is collected.
class Tail {
 public:
  explicit Tail(fx::NodePtr conv)
      : conv_(conv), last_(conv), tail_{conv}, epilogue_(sum_alone()) {}

  void collect() {
    while (step()) {
    }
  }
  bool empty() const { return last_ == conv_; }

  void replace(fx::Graph& graph) const {
    auto scope = graph.inserting_before(last_);
    ValueList args(conv_->args().begin(), conv_->args().end());
    args.push_back(ops::to_value(epilogue_));
    args.push_back(Value::list(extras_));
    fx::NodePtr made =
        graph.call_function(conv_last_work_op().canonical, std::move(args));
    made->copy_meta_from(*conv_);
    take_origins(*made, tail_);
    made->set_val(last_->val());
    last_->replace_all_uses_with(made);
  }

 private:
  bool step() {
    if (last_->num_users() != 1) return false;
    fx::NodePtr next = *last_->users().begin();
    const ops::Op* op = next->called_op();
    if (!op || op->row.lowering != ops::Lowering::scalar) return false;
    const Tensor& val = next->val_tensor();
    if (val.dtype() != DType::f32 || !val.is_contiguous() ||
        val.sizes() != conv_->val_tensor().sizes())
      return false;
    if (!add(*next)) return false;
    last_ = next;
    tail_.push_back(next);
    return true;
  }

  // Appends what `next` computes to the epilogue; false if loops cannot do that
  // or `next` is a copy.
  bool add(const fx::Node& next) {
    ValueList extras = extras_;
    const std::optional<std::vector<size_t>> slots = slots_of(next, extras);
    if (!slots) return false;
    ScalarBuilder builder;
    std::vector<Scalar> values;
    for (size_t i = 0; i <= extras.size(); ++i)
      values.push_back(builder.input(static_cast<int>(i), DType::f32));
    values[0] = builder.inline_body(epilogue_, values).front();
    std::vector<Scalar> inputs;
    for (size_t slot : *slots) inputs.push_back(values[slot]);
    ScalarBody more =
        builder.finish(builder.inline_body(body_of(next), inputs));
    const auto work = ops::post_ops_of(more);
    if (more == epilogue_ || !work || !ops::suits_convolutions(*work))
      return false;
    epilogue_ = std::move(more);
    extras_ = std::move(extras);
    return true;
  }

  // The body's input for each tensor of `next`: 0 for the tail's result, else a
  // new one of `extras`. nullopt if one of the tensors does not fit.
  std::optional<std::vector<size_t>> slots_of(const fx::Node& next,
                                              ValueList& extras) const {
    std::vector<size_t> slots;
    bool good = true;
    for (const Value& arg : next.args())
      visit_leaves(arg, [&](const Value& leaf) {
        if (!leaf.is_node()) return;
        const bool is_sum = leaf.as_node() == last_;
        good = good && (is_sum || fits(leaf.as_node()->val()));
        if (!is_sum) extras.push_back(leaf);
        slots.push_back(is_sum ? 0 : extras.size());
      });
    if (!good || extras.size() > kMostExtras) return std::nullopt;
    return slots;
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

  fx::NodePtr conv_, last_;
  std::vector<fx::NodePtr> tail_;  // The convolution and what is done to it.
  ScalarBody epilogue_;            // Input i + 1 is extra i.
  ValueList extras_;
};

}  // namespace

int fuse_conv_work(ModelGraph& model) {
  int count = 0;
  for (fx::NodePtr node : model.graph->nodes()) {
    if (node->called_op() != &conv_last_op()) continue;
    Tail tail(node);
    tail.collect();
    if (tail.empty()) continue;
    tail.replace(*model.graph);
    ++count;
  }
  if (count > 0) model.graph->eliminate_dead_code();
  return count;
}

}  // namespace fxjit::passes
