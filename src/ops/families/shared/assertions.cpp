// Assertions of exported programs. They give nothing: what sizes and types tell
// is looked at when a shape is inferred, numbers of tensors when they are
// there.
#include <limits>

#include "src/ops/families/shared/structured.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// _assert_scalar(input, assert_msg).
Value assert_scalar(const OpCall& call) {
  if (call[0].is_tensor() && call[0].as_tensor().is_meta())
    throw DataDependentError("_assert_scalar: needs the number of a tensor");
  if (!static_cast<bool>(call[0]))
    runtime_error(std::string(call[1].as_string()));
  return None;
}

Value infer_async(const OpCall& call) {
  throw DataDependentError("_assert_async: needs the number of " +
                           call.tensor(0).describe());
}

// _assert_async(input, assert_msg=None).
Value assert_async(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.numel() != 1)
    runtime_error(input.numel() == 0
                      ? "Boolean value of Tensor with no values is ambiguous"
                      : "Boolean value of Tensor with more than one value is "
                        "ambiguous");
  if (input.item() == 0)
    runtime_error(call.has(1) ? std::string(call[1].as_string())
                              : "Expected Tensor with single nonzero value, "
                                "but got zero");
  return None;
}

[[noreturn]] void mismatch(const char* what, const std::string& expected,
                           const std::string& got) {
  runtime_error("Tensor ", what, " mismatch! Expected: ", expected,
                ", Got: ", got);
}

// _assert_tensor_metadata(a, size, stride, dtype).
Value assert_metadata(const OpCall& call) {
  const Tensor& a = call.tensor(0);
  if (call.has(1) && call.dims(1) != a.sizes())
    mismatch("sizes", call.dims(1).str(), a.sizes().str());
  if (call.has(2) && call.dims(2) != a.strides())
    mismatch("strides", call.dims(2).str(), a.strides().str());
  if (call.has(3) && call[3].as_dtype() != a.dtype())
    mismatch("dtype", torch_type_name(call[3].as_dtype()),
             cpp_type_name(a.dtype()));
  return None;
}

// (size, *, min, max).
Value check_range(const OpCall& call, int64_t least) {
  const Size size = call.size(0);
  const int64_t low = call.has(1) ? call.integer(1) : least;
  const int64_t high =
      call.has(2) ? call.integer(2) : std::numeric_limits<int64_t>::max();
  if (size < low || size > high)
    runtime_error("Invalid value range for ", size, " between [", low, ", ",
                  high, "].");
  return None;
}

Value constrain_range(const OpCall& call) {
  return check_range(call, std::numeric_limits<int64_t>::min());
}

Value constrain_range_for_size(const OpCall& call) {
  if (call.has(2) && call.integer(2) <= 2)
    runtime_error(
        "Max value to constrain_range_for_size must be greater than 2. got: ",
        call.integer(2));
  return check_range(call, 0);
}

constexpr OpRow assertion(const char* name, const char* schema,
                          const char* names, EagerFn check,
                          InferFn infer = nullptr) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .infer = infer ? infer : check,
          .eager = check,
          .purity = Purity::effect};
}

constexpr OpRow kAssertionsRows[] = {
    assertion("_assert_scalar", "input, assert_msg", "torch._assert_scalar",
              assert_scalar),
    assertion("_assert_async", "input, assert_msg=None", "torch._assert_async",
              assert_async, infer_async),
    assertion("_assert_tensor_metadata",
              "a, size=None, stride=None, dtype=None, *, device=None, "
              "layout=None",
              "torch._assert_tensor_metadata", assert_metadata),
    assertion("sym_constrain_range", "size, *, min=None, max=None",
              "torch.sym_constrain_range", constrain_range),
    assertion("sym_constrain_range_for_size", "size, *, min=None, max=None",
              "torch.sym_constrain_range_for_size", constrain_range_for_size),
};

}  // namespace

std::span<const OpRow> assertion_rows() { return kAssertionsRows; }

}  // namespace fxjit::ops
