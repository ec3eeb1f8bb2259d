#include "src/passes/lowering/shown_name.h"

#include <string_view>

#include "fxjit/error.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/window_combine.h"

namespace fxjit::passes {
namespace {

constexpr std::string_view kInternal = "fxjit.";

const char* window_name(const ops::OpCall& call) {
  constexpr size_t kCombine = 3;  // Place in the schema.
  switch (static_cast<WindowCombine>(call[kCombine].as_int())) {
    case WindowCombine::products:
      return "conv";
    case WindowCombine::sums:
      return "avg_pool";
    case WindowCombine::maximum:
      return "max_pool";
  }
  throw RuntimeError("a window of unknown kind");
}

}  // namespace

std::string shown_name(const ops::OpCall& call) {
  const ops::Op* const op = &call.op;
  if (op == &contract_op() || op == &plane_product_op()) return "matmul";
  if (op == &materialize_op()) return "copy";
  if (op == &window_op()) return window_name(call);
  if (op == &window_product_op() || op == &conv_last_op() ||
      op == &conv_last_work_op() || op == &padded_conv_op())
    return "conv";
  if (op == &winograd_op()) return "winograd_conv";
  std::string_view name = op->name();
  if (name.starts_with(kInternal)) name.remove_prefix(kInternal.size());
  return std::string(name);
}

}  // namespace fxjit::passes
