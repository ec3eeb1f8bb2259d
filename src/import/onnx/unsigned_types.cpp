#include "src/import/onnx/unsigned_types.h"

#include <algorithm>
#include <string_view>

#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

constexpr InputBits kFirst = 1, kSecond = 2, kThird = 4;

struct TypeRow {
  std::string_view op;
  InputBits inputs;  // Those whose type the results have.
  // Its numbers are computed and may be outside of the type's range. Numbers of
  // other ops are the inputs' own, or cannot leave the range.
  bool computes = false;
  bool only_first = false;  // Further results have a type of their own.
};

constexpr bool kComputes = true, kOnlyFirst = true;

constexpr TypeRow kRows[] = {
    {"Abs", kFirst},
    {"Add", kAllInputs, kComputes},
    {"BitShift", kAllInputs, kComputes},
    {"BitwiseAnd", kAllInputs},
    {"BitwiseNot", kFirst, kComputes},
    {"BitwiseOr", kAllInputs},
    {"BitwiseXor", kAllInputs},
    {"Cast", 0, kComputes},
    {"CastLike", kSecond, kComputes},
    {"CenterCropPad", kFirst},
    {"Clip", kAllInputs},
    {"Col2Im", kFirst, kComputes},
    {"Compress", kFirst},
    {"Concat", kAllInputs},
    {"ConcatFromSequence", kFirst},
    {"CumProd", kFirst, kComputes},
    {"CumSum", kFirst, kComputes},
    {"DepthToSpace", kFirst},
    {"Div", kAllInputs},
    {"Einsum", kAllInputs, kComputes},
    {"Expand", kFirst},
    {"EyeLike", kFirst},
    {"Flatten", kFirst},
    {"Gather", kFirst},
    {"GatherElements", kFirst},
    {"GatherND", kFirst},
    {"Gemm", kAllInputs, kComputes},
    {"Identity", kFirst},
    {"MatMul", kAllInputs, kComputes},
    {"Max", kAllInputs},
    {"Min", kAllInputs},
    {"Mod", kAllInputs},
    {"Mul", kAllInputs, kComputes},
    {"OneHot", kThird},
    {"Optional", kFirst},
    {"OptionalGetElement", kFirst},
    {"PRelu", kAllInputs},
    {"Pad", kFirst | kThird},
    {"Pow", kFirst, kComputes},
    {"QuantizeLinear", kThird},
    {"ReduceL1", kFirst, kComputes},
    {"ReduceL2", kFirst, kComputes},
    {"ReduceMax", kFirst},
    {"ReduceMean", kFirst},
    {"ReduceMin", kFirst},
    {"ReduceProd", kFirst, kComputes},
    {"ReduceSum", kFirst, kComputes},
    {"ReduceSumSquare", kFirst, kComputes},
    {"Reshape", kFirst},
    {"Resize", kFirst},
    {"ReverseSequence", kFirst},
    {"Scatter", kFirst | kThird, kComputes},
    {"ScatterElements", kFirst | kThird, kComputes},
    {"ScatterND", kFirst | kThird, kComputes},
    {"SequenceAt", kFirst},
    {"SequenceConstruct", kAllInputs},
    {"SequenceErase", kFirst},
    {"SequenceInsert", kFirst | kSecond},
    {"Shrink", kFirst, kComputes},
    {"Sign", kFirst},
    {"Slice", kFirst},
    {"SpaceToDepth", kFirst},
    {"Split", kFirst},
    {"SplitToSequence", kFirst},
    {"Squeeze", kFirst},
    {"Sub", kAllInputs, kComputes},
    {"Sum", kAllInputs, kComputes},
    {"TensorScatter", kFirst | kSecond},
    {"Tile", kFirst},
    {"TopK", kFirst, !kComputes, kOnlyFirst},
    {"Transpose", kFirst},
    {"Trilu", kFirst},
    {"Unique", kFirst, !kComputes, kOnlyFirst},
    {"Unsqueeze", kFirst},
    {"Upsample", kFirst},
    {"Where", kSecond | kThird},
};

const TypeRow* find_type_row(std::string_view op) {
  const auto found = std::find_if(
      std::begin(kRows), std::end(kRows),
      [&](const TypeRow& row) { return row.op == op; });
  return found == std::end(kRows) ? nullptr : found;
}

// The attribute by which an op states the element type of its results.
std::string_view type_attribute(std::string_view op) {
  if (op == "Cast" || op == "BitCast") return "to";
  if (op == "EyeLike" || op == "SequenceEmpty") return "dtype";
  if (op == "QuantizeLinear") return "output_dtype";
  if (op == "BlackmanWindow" || op == "HammingWindow" || op == "HannWindow" ||
      op == "MelWeightMatrix")
    return "output_datatype";
  return {};
}

}  // namespace

bool includes(InputBits inputs, size_t i) {
  return inputs == kAllInputs || (i < 32 && (inputs >> i & 1) != 0);
}

UnsignedBits unsigned_bits_of(const Call& call, InputBits inputs) {
  UnsignedBits bits = 0;
  for (size_t i = 0; i < call.inputs(); ++i)
    if (includes(inputs, i)) bits = std::max(bits, call.unsigned_bits(i));
  return bits;
}

UnsignedBits unsigned_bits_of(const TypeInfo& type) {
  const TypeInfo* inner = &type;
  while (!inner->element.empty()) inner = &inner->element[0];
  return unsigned_bits_of(inner->element_type);
}

int64_t stated_type(const Call& call) {
  const std::string_view attribute = type_attribute(call.node().op);
  const AttributeInfo* const found =
      attribute.empty() ? nullptr : call.node().find(attribute);
  if (!found) return 0;
  // The first opsets write the type's name.
  if (!found->text.empty()) return element_type_of(found->text).value_or(0);
  return found->integer;
}

UnsignedBits unsigned_result(const Call& call, size_t i) {
  const std::string_view op = call.node().op;
  if (const int64_t stated = stated_type(call)) return unsigned_bits_of(stated);
  if (op == "Constant" || op == "ConstantOfShape") {
    const AttributeInfo* const value = call.node().find("value");
    if (!value || !value->tensor) return 0;
    return unsigned_bits_of(read_tensor_info(*value->tensor).data_type);
  }
  const TypeRow* const row = find_type_row(op);
  if (!row || (i > 0 && row->only_first)) return 0;
  return unsigned_bits_of(call, row->inputs);
}

bool computes_numbers(std::string_view op) {
  const TypeRow* const row = find_type_row(op);
  return row && row->computes;
}

}  // namespace fxjit::onnx
