#include "src/import/onnx/unsigned_types.h"

#include <algorithm>
#include <string_view>

#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

// Ops whose results have the type of their first input, or of the second.
constexpr std::string_view kOfFirst[] = {
    "Add",        "BitShift",  "BitwiseAnd", "BitwiseNot",     "BitwiseOr",
    "BitwiseXor", "Clip",      "Concat",     "CumSum",         "Div",
    "Expand",     "Flatten",   "Gather",     "GatherElements", "GatherND",
    "Identity",   "Max",       "Min",        "Mod",            "Mul",
    "Pad",        "Pow",       "ReduceMax",  "ReduceMin",      "ReduceProd",
    "ReduceSum",  "Reshape",   "Slice",      "Split",          "Squeeze",
    "Sub",        "Sum",       "Tile",       "TopK",           "Transpose",
    "Unsqueeze",
};
constexpr std::string_view kComputing[] = {
    "Add", "BitShift", "BitwiseNot", "Cast", "CastLike",  "CumSum",
    "Mul", "Pow",      "ReduceProd", "ReduceSum", "Sub", "Sum",
};

template <typename List>
bool holds(const List& list, std::string_view op) {
  return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

}  // namespace

UnsignedBits unsigned_result(const Call& call, size_t i) {
  const std::string_view op = call.node().op;
  if (i > 0 && op == "TopK") return 0;  // Places.
  if (holds(kOfFirst, op)) return call.unsigned_bits(0);
  if (op == "Where" || op == "CastLike") return call.unsigned_bits(1);
  if (op == "QuantizeLinear" && call.has(2)) return call.unsigned_bits(2);
  if (op == "Cast" || op == "BitCast")
    return unsigned_bits_of(call.integer("to", 0));
  if (op == "Constant")
    if (const AttributeInfo* const value = call.node().find("value"))
      if (value->tensor)
        return unsigned_bits_of(read_tensor_info(*value->tensor).data_type);
  return 0;
}

bool computes_numbers(std::string_view op) { return holds(kComputing, op); }

}  // namespace fxjit::onnx
