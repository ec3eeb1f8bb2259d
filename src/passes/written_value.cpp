#include "src/passes/written_value.h"

#include "src/ops/aliasing.h"
#include "src/passes/followed_writes.h"

namespace fxjit::passes {

bool is_own(const Value& value) {
  if (!value.is_proxy()) return false;
  const ops::Op* const op = GraphBuilder::node_of(value)->called_op();
  return op && !ops::may_alias(*op);
}

namespace {

// Whether `value` is its own memory, laid out as `place`: no copy of it is
// needed to become the value of that place.
bool is_made_so(const Value& value, const Value& place) {
  if (!is_own(value)) return false;
  const Tensor made = meta_of(value).as_tensor();
  const Tensor wanted = meta_of(place).as_tensor();
  return made.dtype() == wanted.dtype() && made.sizes() == wanted.sizes() &&
         made.strides() == wanted.strides() && made.is_contiguous();
}

// Changes `args` where the write is asked for by an argument.
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

Value written_value(GraphBuilder& builder, const fx::Node& node,
                    const ops::Op& op, ValueList args) {
  const auto call = [&](const char* name, const ValueList& given) {
    const ops::Op& pure = ops::get_op(name);
    return builder.call(pure, ops::bind(pure, given, {}));
  };
  if (op.name() == "copy_" && is_made_so(args[1], args[0])) return args[1];
  if (op.name() == "copy_") return call("copy", {args[0], args[1]});
  if (op.name() == "fill_") return call("full_like", {args[0], args[1]});
  if (op.name() == "zero_") return call("zeros_like", {args[0]});
  const ops::Op& pure = without_write(node, op, args);
  return builder.call(pure, std::move(args));
}

}  // namespace fxjit::passes
