#include "src/program/running/update_code.h"

#include <algorithm>

#include "src/ops/table/layouts.h"
#include "src/ops/table/op_facts.h"
#include "src/passes/lowering/internal_ops.h"

namespace fxjit::program {
namespace {

// How the calls of one kind of update are made in place and undone.
struct Update {
  ops::UpdateKind kind;
  // Whether shapes and dtypes tell which elements the call overwrites.
  bool (*is_known)(const ValueList& args);
  // The op that picks those elements, and the op that puts old elements back to
  // their places. Of several old elements of one place all are equal.
  std::string_view pick;
  ValueList (*picked_by)(const ValueList& args);
  std::string_view restore;
  ValueList (*restored_by)(const ValueList& args, const Tensor& old);
};

bool has_integer_indices(const ValueList& args) {
  return std::ranges::all_of(args[1].as_sequence(), [](const Value& index) {
    return index.is_none() ||
           (index.is_tensor() && (index.as_tensor().dtype() == DType::i64 ||
                                  index.as_tensor().dtype() == DType::i32));
  });
}

// Whole slices along a dim.
bool has_line_of_indices(const ValueList& args) {
  return args[0].as_tensor().dim() > 0 && args[2].as_tensor().dim() == 1;
}

// Whether there is an index for each element, and no more of them than elements
// in the other dims. An empty index need not satisfy the latter.
bool has_elements(const ValueList& args) {
  const Tensor &self = args[0].as_tensor(), &index = args[2].as_tensor();
  if (self.dim() == 0 || self.dim() != index.dim()) return false;
  const auto dim = static_cast<int>(args[1].as_int());
  const int axis = dim < 0 ? dim + self.dim() : dim;
  for (int d = 0; d < self.dim(); ++d)
    if (d != axis && index.size(d) > self.size(d)) return false;
  return true;
}

ValueList first_three(const ValueList& args) {
  return {args[0], args[1], args[2]};
}

ValueList gathered_by(const ValueList& args) {
  return {args[0], args[1], args[2], false};
}

ValueList slices_restored(const ValueList& args, const Tensor& old) {
  return {args[0], args[1], args[2], old};
}

ValueList elements_restored(const ValueList& args, const Tensor& old) {
  return {args[0], args[1], args[2], old, None, None};
}

ValueList view_restored(const ValueList& args, const Tensor& old) {
  return {args[0], old, args[2], args[3]};
}

constexpr Update kUpdates[] = {
    {ops::UpdateKind::entries, has_integer_indices, "index",
     [](const ValueList& args) { return ValueList{args[0], args[1]}; },
     "index_put",
     [](const ValueList& args, const Tensor& old) {
       return ValueList{args[0], args[1], old, false};
     }},
    {ops::UpdateKind::slices, has_line_of_indices, "index_select", first_three,
     "index_copy", slices_restored},
    {ops::UpdateKind::elements, has_elements, "gather", gathered_by, "scatter",
     elements_restored},
    {ops::UpdateKind::view, [](const ValueList&) { return true; },
     "fxjit.as_strided",
     [](const ValueList& args) {
       return ValueList{args[0], args[1].as_tensor().sizes(), args[2], args[3],
                        None};
     },
     "fxjit.put_view", view_restored},
};

// Runs the op with its first argument's memory as its result.
void put(const ops::Op& op, const ValueList& args) {
  const Tensor target = args[0].as_tensor();
  op.row.direct({op, args}, {&target, 1});
}

const Update* update_of(const ops::Op& op) {
  const auto* const found =
      std::ranges::find(kUpdates, ops::facts_of(op).update, &Update::kind);
  return found == std::end(kUpdates) ? nullptr : found;
}

}  // namespace

std::optional<UpdateSpec> update_spec(const ops::Op& op,
                                      const ValueList& args) {
  const Update* const update = update_of(op);
  if (!update || !update->is_known(args)) return std::nullopt;
  const ValueList picked = update->picked_by(args);
  const Tensor old =
      ops::infer_plain({ops::get_op(update->pick), picked}).as_tensor();
  return UpdateSpec{{CallCode::eager, std::string(op.name()), args, {}, {}},
                    spec_of(Tensor::meta(old.sizes(), old.dtype()))};
}

UpdateCode::UpdateCode(const UpdateSpec& spec)
    : op_(ops::get_op(spec.call.op)),
      args_(spec.call.args),
      overwritten_(meta_of(spec.overwritten)) {}

void UpdateCode::run(const StepCall& call, int64_t, int64_t) const {
  size_t operands = 0;
  const ValueList args = borrow_args(call, args_, operands);
  const Tensor old = borrow(call.operands[operands], overwritten_);
  const Update& update = *update_of(op_);
  refusing_values([&] {
    // Bad indices fail here, before anything is written.
    const ValueList picked = update.picked_by(args);
    old.copy_from(
        ops::run_eager({ops::get_op(update.pick), picked}).as_tensor());
    put(op_, args);
  });
}

void UpdateCode::undo(const StepCall& call) const {
  size_t operands = 0;
  const ValueList args = borrow_args(call, args_, operands);
  const Tensor old = borrow(call.operands[operands], overwritten_);
  const Update& update = *update_of(op_);
  put(ops::get_op(update.restore), update.restored_by(args, old));
}

std::string UpdateCode::describe() const {
  return "loops " + std::string(op_.name()) + " in place";
}

void WriteBackCode::run(const StepCall& call, int64_t, int64_t) const {
  borrow(call.operands[1], input_).copy_from(borrow(call.operands[0], value_));
}

}  // namespace fxjit::program
