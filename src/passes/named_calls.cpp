#include "src/passes/named_calls.h"

#include <algorithm>
#include <bit>

#include "fxjit/op.h"

namespace fxjit::passes {
namespace {

// arange(end), arange(start, end, step): 0, 1, 2 ... up to a named size?
const Value* counted_end(const ops::Op& op, const ValueList& args) {
  if (&op != &ops::get_op("arange")) return nullptr;
  const Value& end = args[1].is_none() ? args[0] : args[1];
  const bool from_zero =
      args[1].is_none() ||
      (args[0].is_int() && !args[0].is_named_size() && args[0].as_int() == 0);
  const bool by_one =
      args[2].is_int() && !args[2].is_named_size() && args[2].as_int() == 1;
  return from_zero && by_one && end.is_named_size() ? &end : nullptr;
}

// A view of a longer constant: larger sizes are another kind of inputs.
Value counted(GraphBuilder& builder, const ops::Op& op, ValueList args,
              Size end) {
  constexpr uint64_t kLeast = 4096;
  const auto present = static_cast<uint64_t>(hint(end));
  const auto most =
      static_cast<int64_t>(std::max(kLeast, 2 * std::bit_ceil(present)));
  if (end > most || end < 0) throw RuntimeError("arange: no such length");
  args[0] = most;
  args[1] = None;
  const Value all = ops::run_eager({op, args});
  return builder.call(ops::get_op("narrow"),
                      {builder.constant(all.as_tensor(), true), 0, 0, end});
}

}  // namespace

Value call_of_names(GraphBuilder& builder, const ops::Op& op, ValueList args) {
  if (const Value* const end = counted_end(op, args))
    return counted(builder, op, args, end->as_size());
  return builder.call(op, std::move(args));
}

}  // namespace fxjit::passes
