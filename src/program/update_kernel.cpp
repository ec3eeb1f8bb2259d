#include "src/program/update_kernel.h"

#include "src/ops/layouts.h"
#include "src/passes/internal_ops.h"

namespace fxjit::program {
namespace {

// The elements that a call overwrites, of memory or meta tensors. An undefined
// tensor: not known, or their number is not.
Tensor overwritten_by(const ops::Op& op, const ValueList& args, bool real) {
  const auto call = [&](const char* name, ValueList bound) {
    const ops::Op& pick = ops::get_op(name);
    const ops::OpCall made{pick, bound};
    return (real ? ops::run_eager(made) : ops::infer_plain(made)).as_tensor();
  };
  if (&op == &passes::put_view_op()) {
    const Tensor& source = args[1].as_tensor();
    if (!real) return source;
    return args[0].as_tensor().as_strided(
        source.sizes(), ops::OpCall{op, args}.dims(2), args[3].as_int());
  }
  if (op.name() == "index_put") {
    bool numbers = true;
    for (const Value& index : args[1].as_sequence())
      numbers = numbers && (index.is_none() ||
                            (index.is_tensor() &&
                             index.as_tensor().dtype() == DType::i64));
    return numbers ? call("index", {args[0], args[1]}) : Tensor();
  }
  if (op.name() == "index_copy" && args[2].as_tensor().dim() == 1)
    return call("index_select", {args[0], args[1], args[2]});
  return Tensor();
}

}  // namespace

std::shared_ptr<const UpdateKernel> UpdateKernel::make(const ops::Op& op,
                                                       const ValueList& args) {
  const Tensor old = overwritten_by(op, args, false);
  if (!old.defined()) return nullptr;
  return std::shared_ptr<const UpdateKernel>(new UpdateKernel(
      op, args, Tensor::meta(old.sizes(), old.dtype())));
}

ValueList UpdateKernel::arguments(const KernelCall& call) const {
  size_t operand = 0;
  ValueList args;
  for (const Value& arg : args_)
    args.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      return borrow(call.operands[operand++], leaf.as_tensor());
    }));
  return args;
}

Tensor UpdateKernel::memory_for_old(const KernelCall& call) const {
  size_t operands = 0;
  for (const Value& arg : args_)
    visit_leaves(arg,
                 [&](const Value& leaf) { operands += leaf.is_tensor(); });
  return borrow(call.operands[operands], overwritten_);
}

void UpdateKernel::put(const ValueList& args) const {
  const Tensor target = args[0].as_tensor();
  op_.row.direct({op_, args}, {&target, 1});
}

void UpdateKernel::run(const KernelCall& call, int64_t, int64_t) const {
  const ValueList args = arguments(call);
  refusing_values([&] {
    memory_for_old(call).copy_from(overwritten_by(op_, args, true));
    put(args);
  });
}

void UpdateKernel::undo(const KernelCall& call) const {
  ValueList args = arguments(call);
  const Tensor old = memory_for_old(call);
  if (&op_ == &passes::put_view_op()) args[1] = old;
  if (op_.name() == "index_put") args[2] = old, args[3] = false;
  if (op_.name() == "index_copy") args[3] = old;
  put(args);
}

std::string UpdateKernel::describe() const {
  return "loops " + std::string(op_.name()) + " in place";
}

void WriteBackKernel::run(const KernelCall& call, int64_t, int64_t) const {
  borrow(call.operands[1], input_).copy_from(borrow(call.operands[0], value_));
}

}  // namespace fxjit::program
