#include "src/passes/named_calls.h"

#include <algorithm>
#include <bit>

#include "fxjit/op.h"
#include "src/ops/table/counted.h"
#include "src/tensor/sizes/named.h"

namespace fxjit::passes {
namespace {

// 0, 1, 2 ... below a named size: a view of a longer constant. Sizes beyond it
// are of another kind.
Value counted(GraphBuilder& builder, const ops::Op& op, ValueList args,
              const Value& named_end) {
  constexpr uint64_t kLeast = 4096;
  const Size end = named_end.as_size();
  const auto present = static_cast<uint64_t>(hint(end));
  const auto most =
      static_cast<int64_t>(std::max(kLeast, 2 * std::bit_ceil(present)));
  if (end > most || end < 0) throw RuntimeError("no such length");
  for (Value& arg : args)
    if (arg.is_named_size()) arg = most;
  const Value all = ops::run_eager({op, args});
  return builder.call(ops::get_op("narrow"),
                      {builder.constant(all.as_tensor(), true), 0, 0, end});
}

}  // namespace

Value call_without_tensors(GraphBuilder& builder, const ops::Op& op,
                           ValueList args) {
  if (!has_name(Value::tuple(args))) return ops::run_eager({op, args});
  const Value* const end = ops::counted_end({op, args});
  if (end && end->is_named_size()) return counted(builder, op, args, *end);
  return builder.call(op, std::move(args));
}

}  // namespace fxjit::passes
