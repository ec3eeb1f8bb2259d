#include "src/passes/memory/written_value.h"

#include "src/ops/table/aliasing.h"
#include "src/ops/table/op_facts.h"
#include "src/ops/table/pure_form.h"
#include "src/passes/memory/followed_writes.h"

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

}  // namespace

Value written_value(GraphBuilder& builder, const fx::Node& node,
                    const ops::Op& op, ValueList args) {
  if (const int flag = op.index_of("inplace"); flag >= 0)
    args[static_cast<size_t>(flag)] = false;
  if (!ops::writes_input({op, args})) return builder.call(op, std::move(args));
  const ops::Op* const pure = ops::pure_form(op);
  if (!pure) refuse_write(node);
  if (const int from = ops::facts_of(*pure).copied;
      from >= 0 && is_made_so(args[static_cast<size_t>(from)], args[0]))
    return args[static_cast<size_t>(from)];
  const size_t taken = pure->parameters.size();
  if (args.size() > taken) args.resize(taken);
  if (args.size() < taken) args = ops::bind(*pure, args, {});
  return builder.call(*pure, std::move(args));
}

}  // namespace fxjit::passes
