#include "src/passes/patterns/quantised.h"

#include <algorithm>
#include <array>

#include "src/passes/origins.h"

namespace fxjit::passes {
namespace {

bool parameter_fits(const Value& parameter, const Dims& sizes) {
  if (parameter.is_none()) return true;
  const Tensor& t = parameter.as_node()->val_tensor();
  return t.numel() == 1 || t.sizes() == sizes;
}

}  // namespace

bool Quantised::fits(const Dims& sizes) const {
  return parameter_fits(scale, sizes) && parameter_fits(zero, sizes);
}

std::optional<Quantised> quantised(fx::NodePtr node) {
  static const ops::Op& dequantize = ops::get_op("fxjit.dequantize");
  if (!node || node->called_op() != &dequantize || !node->arg(1).is_node())
    return std::nullopt;
  const fx::NodePtr input = node->arg_node(0);
  const DType dtype = input->val_tensor().dtype();
  if (dtype != DType::u8 && dtype != DType::i8) return std::nullopt;
  return Quantised{input, node->arg(1), node->arg(2)};
}

fx::NodePtr constant_below_cast(fx::NodePtr node) {
  static const std::array casts{&ops::get_op("cast"), &ops::get_op("to"),
                                &ops::get_op("_to_copy")};
  if (!node || std::ranges::find(casts, node->called_op()) == casts.end() ||
      !node->arg_node(0)->is(fx::Opcode::get_attr))
    return nullptr;
  return node->arg_node(0);
}

fx::NodePtr CallWriter::call(const ops::Op& op, const ValueList& args) {
  auto scope = graph_.inserting_before(before_);
  const fx::NodePtr made =
      graph_.call_function(op.canonical, ops::bind(op, args, {}));
  made->set_val(ops::infer({op, vals_of(made->args())}));
  made->set_source(before_->source());
  copy_origins(*before_, *made);
  return made;
}

}  // namespace fxjit::passes
