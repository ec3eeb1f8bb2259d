#include "src/passes/lowering/conv_work.h"

#include <algorithm>
#include <optional>

#include "src/ops/eager/post_op_of.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/origins.h"

namespace fxjit::passes {
namespace {

using ops::PostOp;

// As many as kernels hold at hand.
constexpr size_t kMostExtras = 4;

// The tail of one convolution while it is collected.
class Tail {
 public:
  explicit Tail(fx::NodePtr conv) : conv_(conv), last_(conv), tail_{conv} {}

  void collect() {
    while (step()) {
    }
  }
  bool empty() const { return work_.empty(); }

  void replace(fx::Graph& graph) const {
    auto scope = graph.inserting_before(last_);
    ValueList args(conv_->args().begin(), conv_->args().end());
    args.push_back(ops::to_value(work_));
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

  bool add(const fx::Node& node) {
    const size_t at = node.arg_node(0) == last_ ? 0 : 1;
    std::optional<PostOp> op =
        ops::post_op_of({*node.called_op(), node.args()}, at);
    if (!op || (op->tensor >= 0 && !take(node.arg(1 - at)))) return false;
    if (op->tensor >= 0) op->tensor = static_cast<int>(extras_.size()) - 1;
    work_.push_back(*op);
    return true;
  }

  bool take(const Value& extra) {
    if (!extra.is_node() || extra.as_node() == last_ ||
        !fits(extra.as_node()->val_tensor()))
      return false;
    extras_.push_back(extra);
    return true;
  }

  // The result's shape and order, or one element for each channel.
  bool fits(const Tensor& t) const {
    const Dims& sizes = conv_->val_tensor().sizes();
    if (extras_.size() >= kMostExtras || t.dtype() != DType::f32 ||
        !t.is_contiguous() || t.dim() == 0 || t.size(-1) != sizes.back())
      return false;
    return t.sizes() == sizes || t.numel() == sizes.back();
  }

  fx::NodePtr conv_, last_;
  std::vector<fx::NodePtr> tail_;  // The convolution and what is done to it.
  ops::PostOps work_;
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
