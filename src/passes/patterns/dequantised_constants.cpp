// Weights that a program dequantises by plain calls, as those of torchao do:
//
//   mul(sub(cast(w), z), s)   ==>   dequantize(w, s, z)
//
// of constants; patterns of products see it then, and what they leave is folded
// as a whole. Casts of large constants are not, as they take more memory than
// what they are made of, so that each call would make the weight anew.
#include <algorithm>
#include <cmath>

#include "src/passes/patterns.h"
#include "src/passes/patterns/quantised.h"

namespace fxjit::passes {
namespace {

fx::NodePtr operand(const fx::Node& node, size_t at) {
  return at < node.args().size() && node.arg(at).is_node() ? node.arg_node(at)
                                                           : nullptr;
}

bool is_call(const fx::Node* node, std::string_view op) {
  return node && node->called_op() == &ops::get_op(op);
}

bool is_byte_tensor(const fx::Node* node) {
  return node && (node->val_tensor().dtype() == DType::i8 ||
                  node->val_tensor().dtype() == DType::u8);
}

bool is_f32(const fx::Node* node) {
  return node && node->val().is_tensor() &&
         node->val_tensor().dtype() == DType::f32;
}

// Zero points that were folded into floats.
bool are_whole(const Tensor& zeros) {
  if (zeros.is_meta()) return false;
  const Tensor dense = zeros.contiguous();
  const float* const numbers = dense.data_as<float>();
  return std::all_of(numbers, numbers + dense.numel(), [](float x) {
    return std::abs(x) <= 255 && x == std::trunc(x);
  });
}

class Dequantised {
 public:
  Dequantised(const ModelGraph& model, fx::NodePtr product) : model_(model) {
    scale_ = operand(*product, 1);
    fx::NodePtr moved = operand(*product, 0);
    numbers_ = constant_below_cast(moved);
    if (!numbers_ && is_call(moved, "sub") && is_one(*moved, 2)) {
      numbers_ = constant_below_cast(operand(*moved, 0));
      zero_ = operand(*moved, 1);
      good_ = is_zero();
    }
    good_ = good_ && is_byte_tensor(numbers_) && is_f32(scale_) &&
            scale_->is(fx::Opcode::get_attr) && is_f32(moved) &&
            product->val_tensor().sizes() == numbers_->val_tensor().sizes();
  }

  bool found() const { return good_; }
  ValueList args() const {
    return {numbers_, scale_, zero_ ? Value(zero_) : Value()};
  }

 private:
  static bool is_one(const fx::Node& node, size_t at) {
    return node.args().size() <= at || node.arg(at).as_double() == 1;
  }

  bool is_zero() {
    if (const fx::NodePtr whole = constant_below_cast(zero_)) {
      zero_ = whole;
      return is_byte_tensor(whole);
    }
    return is_f32(zero_) && zero_->is(fx::Opcode::get_attr) &&
           are_whole(model_.constant(*zero_));
  }

  const ModelGraph& model_;
  fx::NodePtr numbers_ = nullptr, scale_ = nullptr, zero_ = nullptr;
  bool good_ = true;
};

}  // namespace

int dequantised_constants(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    if (!is_call(node, "mul") || !is_f32(node)) return false;
    const Dequantised weight(model, node);
    if (!weight.found()) return false;
    CallWriter write(*model.graph, node);
    node->replace_all_uses_with(write.call("fxjit.dequantize", weight.args()));
    return true;
  });
}

}  // namespace fxjit::passes
