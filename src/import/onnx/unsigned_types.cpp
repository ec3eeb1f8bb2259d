#include "src/import/onnx/unsigned_types.h"

#include <algorithm>
#include <string_view>

#include "src/import/onnx/function_facts.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

constexpr InputBits kFirstUnsigned = 1, kSecond = 2, kThird = 4;

struct ResultType {
  InputBits inputs;  // Those whose type the results have.
  // Its numbers are computed and may be outside of the type's range. Numbers of
  // other ops are the inputs' own, or cannot leave the range.
  bool computes = false;
  bool only_first = false;  // Further results have a type of their own.
};

constexpr bool kComputes = true, kOnlyFirst = true;

constexpr FunctionFacts<ResultType>::Group kUnsignedResults[] = {
    {{kFirstUnsigned},
     "Abs CenterCropPad Compress ConcatFromSequence DepthToSpace Expand "
     "EyeLike Flatten Gather GatherElements GatherND Identity Optional "
     "OptionalGetElement ReduceMax ReduceMean ReduceMin Reshape Resize "
     "ReverseSequence SequenceAt SequenceErase Sign Slice SpaceToDepth Split "
     "SplitToSequence Squeeze Tile Transpose Trilu Unsqueeze Upsample"},
    {{kAllInputs, kComputes}, "Add BitShift Einsum Gemm MatMul Mul Sub Sum"},
    {{kAllInputs},
     "BitwiseAnd BitwiseOr BitwiseXor Clip Concat Div Max Min Mod PRelu "
     "SequenceConstruct"},
    {{kFirstUnsigned, kComputes},
     "BitwiseNot Col2Im CumProd CumSum Pow ReduceL1 ReduceL2 ReduceProd "
     "ReduceSum ReduceSumSquare Shrink"},
    {{0, kComputes}, "Cast"},
    {{kSecond, kComputes}, "CastLike"},
    {{kThird}, "OneHot QuantizeLinear"},
    {{kFirstUnsigned | kThird}, "Pad"},
    {{kFirstUnsigned | kThird, kComputes}, "Scatter ScatterElements ScatterND"},
    {{kFirstUnsigned | kSecond}, "SequenceInsert TensorScatter"},
    {{kFirstUnsigned, !kComputes, kOnlyFirst}, "TopK Unique"},
    {{kSecond | kThird}, "Where"},
};

const ResultType* result_type_of(std::string_view op) {
  static const auto* const all =
      new FunctionFacts<ResultType>(kUnsignedResults);
  return all->find(op);
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
  const ResultType* const type = result_type_of(op);
  if (!type || (i > 0 && type->only_first)) return 0;
  return unsigned_bits_of(call, type->inputs);
}

bool computes_numbers(std::string_view op) {
  const ResultType* const type = result_type_of(op);
  return type && type->computes;
}

}  // namespace fxjit::onnx
