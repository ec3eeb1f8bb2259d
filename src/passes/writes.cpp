#include "src/passes/writes.h"

#include "src/passes/internal_ops.h"
#include "src/passes/part_writes.h"
#include "src/passes/refusal.h"
#include "src/passes/set_items.h"
#include "src/tensor/memory_order.h"

namespace fxjit::passes {
namespace {

DType dtype_of(const Value& value) {
  return meta_of(value).as_tensor().dtype();
}

// The name of the op that gives what `op` writes to its first argument; empty
// where the name itself says it.
const char* counterpart(const ops::Op& op, const ValueList& args) {
  if (op.name() == "copy_") return "copy";
  if (op.name() == "zero_") return "zeros_like";
  if (op.name() != "fill_") return "";
  return args[1].is_number() ? "full_like" : "copy";
}

// The op that gives what `op` writes. Changes `args` where the write is asked
// for by one of them.
const ops::Op& without_write(const fx::Node& node, const ops::Op& op,
                             ValueList& args) {
  if (const int flag = op.index_of("inplace"); flag >= 0)
    args[static_cast<size_t>(flag)] = false;
  if (!ops::writes_input({op, args})) return op;
  const std::string_view name = op.name();
  const ops::Op* pure = name.ends_with('_')
                            ? ops::find_op(name.substr(0, name.size() - 1))
                            : nullptr;
  if (!pure || std::string_view(pure->row.schema) != op.row.schema)
    refuse_write(node);
  return *pure;
}

}  // namespace

void Writes::end(const fx::Node& node) {
  if (write_) {
    Value& value = values_[node.id()];
    memory_.replace(write_->written, write_->after);
    value = memory_.replaced(value, write_->written, write_->after);
  }
  memory_.add(node);
}

Value Writes::call(const fx::Node& node, const ops::Op& op, ValueList args) {
  const Value written = args[0];
  if (!memory_.may_change(written, args)) refuse_write(node);
  return put(node, written, result_of(node, op, std::move(args)));
}

Value Writes::call_in_module(const fx::Node& node, const ops::Op& op,
                             ValueList args) {
  const Value written = args[0];
  if (!memory_.may_replace(node, written)) refuse_write(node);
  return note(node, written, result_of(node, op, std::move(args)));
}

void Writes::set_items(const fx::Node& node, const ValueList& args) {
  if (args.size() != 3 || !args[0].is_proxy() ||
      !memory_.may_change(args[0], args))
    refuse_write(node);
  put(node, args[0], with_items(args[0], args[1], args[2]));
}

// What `op` writes to args[0], in memory of its own.
Value Writes::result_of(const fx::Node& node, const ops::Op& op,
                        ValueList args) {
  const DType dtype = dtype_of(args[0]);
  ValueList metas;
  for (const Value& arg : args) metas.push_back(meta_of(arg));
  ops::infer({op, metas});  // Whether the result fits its place.
  if (const ops::Op* other = ops::find_op(counterpart(op, args))) {
    if (args.size() > 2) args.resize(2);
    return builder_.call(*other, ops::bind(*other, args, {}));
  }
  const ops::Op& pure = without_write(node, op, args);
  Value result = builder_.call(pure, std::move(args));
  if (dtype_of(result) != dtype)
    result = builder_.call(
        ops::get_op("to"),
        ops::bind(ops::get_op("to"), ValueList{result, dtype}, {}));
  return result;
}

Value Writes::put(const fx::Node& node, const Value& written,
                  const Value& result) {
  return memory_.may_replace(node, written) ? note(node, written, result)
                                            : note_part(node, written, result);
}

// The value of `written` behind the write. Views of it count on its strides.
Value Writes::note(const fx::Node& node, const Value& written,
                   const Value& result) {
  if (MemoryClasses::is_same(builder_, written, result)) return result;
  const Tensor before = meta_of(written).as_tensor();
  const Tensor after = meta_of(result).as_tensor();
  if (after.sizes() != before.sizes()) refuse_write(node);
  if (after.strides() != before.strides() && !is_dense(before))
    return note_part(node, written, result);
  const Value laid_out =
      after.strides() == before.strides()
          ? result
          : builder_.call(layout_op(), {result, before.strides()});
  write_ = {written, builder_.as_written(laid_out, written)};
  return write_->after;
}

// The same where `written` is a part of memory that is read later.
Value Writes::note_part(const fx::Node& node, const Value& written,
                        const Value& result) {
  if (meta_of(result).as_tensor().sizes() !=
      meta_of(written).as_tensor().sizes())
    refuse_write(node);
  const std::optional<Value> after = memory_.write_part(node, written, result);
  if (!after) refuse_write(node);
  return *after;
}

}  // namespace fxjit::passes
