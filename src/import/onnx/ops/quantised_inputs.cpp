#include "src/import/onnx/ops/quantised_inputs.h"

#include <string>

namespace fxjit::onnx {
namespace {

std::string input_name(size_t input) {
  return "input " + std::to_string(input) + ": ";
}

std::string name_of(DType dtype) { return std::string(dtype_name(dtype)); }

}  // namespace

void check_scale(const Call& call, size_t input) {
  const DType dtype = call.dtype(input);
  if (!is_floating(dtype))
    call.fail(input_name(input) + "expected a scale of floats, got " +
              name_of(dtype));
}

void check_zero_point(const Call& call, size_t input, DType dtype) {
  if (call.has(input) && call.dtype(input) != dtype)
    call.fail(input_name(input) + "expected a zero point of " + name_of(dtype) +
              ", got " + name_of(call.dtype(input)));
}

void check_count(const Call& call, size_t input, const Value& count) {
  const SizeList sizes = call.sizes(input);
  if (sizes.size() != 1 || !sizes[0].is_int() || !count.is_int()) return;
  const int64_t got = sizes[0].as_int();
  if (got != 1 && got != count.as_int())
    call.fail(
        input_name(input) + "expected one number" +
        (count.as_int() == 1 ? "" : " or " + std::to_string(count.as_int())) +
        ", got " + std::to_string(got));
}

void check_one(const Call& call, size_t input) {
  if (call.has(input)) check_count(call, input, 1);
}

}  // namespace fxjit::onnx
