#include "src/passes/conv_work.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "src/ops/post_ops.h"
#include "src/passes/internal_ops.h"
#include "src/passes/origins.h"

namespace fxjit::passes {
namespace {

using ops::PostKind;
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
    if (!add(*next, op->name())) return false;
    last_ = next;
    tail_.push_back(next);
    return true;
  }

  bool add(const fx::Node& node, std::string_view name) {
    if (name == "add" || name == "sub" || name == "mul" || name == "div")
      return add_binary(node, name);
    if (node.arg_node(0) != last_) return false;
    const std::optional<PostOp> op = unary(node, name);
    if (op) work_.push_back(*op);
    return op.has_value();
  }

  static std::optional<float> number(const fx::Node& node, size_t i) {
    const Value& arg = node.arg(i);
    if (!arg.is_number()) return std::nullopt;
    return static_cast<float>(arg.as_double());
  }

  static std::optional<PostOp> bounds(const fx::Node& node) {
    constexpr float kNone = std::numeric_limits<float>::infinity();
    const bool low = !node.arg(1).is_none(), high = !node.arg(2).is_none();
    const auto a = low ? number(node, 1) : -kNone;
    const auto b = high ? number(node, 2) : kNone;
    if (!a || !b || !(*a <= *b)) return std::nullopt;
    return PostOp{PostKind::clip, *a, *b};
  }

  static std::optional<PostOp> unary(const fx::Node& node,
                                     std::string_view name) {
    if (name == "relu") return PostOp{PostKind::relu};
    if (name == "relu6") return PostOp{PostKind::clip, 0, 6};
    if (name == "hardtanh" || name == "clamp") return bounds(node);
    if (name == "hardsigmoid") return PostOp{PostKind::hardsigmoid};
    if (name == "hardswish") return PostOp{PostKind::hardswish};
    if (name == "sigmoid") return PostOp{PostKind::sigmoid};
    if (name == "silu") return PostOp{PostKind::silu};
    if (name == "leaky_relu")
      if (const auto slope = number(node, 1))
        return PostOp{PostKind::leaky_relu, *slope};
    return std::nullopt;
  }

  bool add_binary(const fx::Node& node, std::string_view name) {
    const bool left = node.arg_node(0) == last_;
    const Value& other = node.arg(left ? 1 : 0);
    const int alpha = node.called_op()->index_of("alpha");
    if (alpha >= 0 && !(node.arg(static_cast<size_t>(alpha)).is_number() &&
                        node.arg(static_cast<size_t>(alpha)).as_double() == 1))
      return false;
    if (name == "div" && !node.arg(2).is_none()) return false;
    if (other.is_number()) return add_number(name, left, other.as_double());
    if (name != "add" && name != "mul") return false;
    if (!other.is_node() || other.as_node() == last_ ||
        !fits(other.as_node()->val_tensor()))
      return false;
    work_.push_back({name == "add" ? PostKind::add : PostKind::multiply, 0, 0,
                     static_cast<int>(extras_.size())});
    extras_.push_back(other);
    return true;
  }

  bool add_number(std::string_view name, bool left, double other) {
    if (name == "add")
      work_.push_back({PostKind::affine, 1, float(other)});
    else if (name == "mul")
      work_.push_back({PostKind::affine, float(other), 0});
    else if (name == "sub" && left)
      work_.push_back({PostKind::affine, 1, float(-other)});
    else
      return false;
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
