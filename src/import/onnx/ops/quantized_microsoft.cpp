// Ops of the domain com.microsoft on quantised tensors, as ONNX Runtime's tools
// write them: real ops between dequantised and quantised numbers, which the
// compiler keeps in 8 bits, and products with a scale.
#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/microsoft.h"
#include "src/import/onnx/ops/quantised_inputs.h"

namespace fxjit::onnx {
namespace {

// Checks a scale, and a zero point of input `x`, which may be absent.
void check(const Call& call, size_t x, size_t scale, size_t zero) {
  check_scale(call, scale);
  check_zero_point(call, zero, call.dtype(x));
}

// A scale or zero point of one element without dims, others as they are.
Value parameter(const Call& call, size_t input) {
  if (!call.has(input)) return {};
  const SizeList sizes = call.sizes(input);
  const bool one =
      sizes.size() == 1 && sizes[0].is_int() && sizes[0].as_int() == 1;
  return one ? reshape(call[input], Value::list({})) : call[input];
}

// Input `x`, behind which stand its scale and its zero point.
Value real(const Call& call, size_t x) {
  check(call, x, x + 1, x + 2);
  check_one(call, x + 1);
  check_one(call, x + 2);
  return function("fxjit.dequantize",
                  {call[x], parameter(call, x + 1), parameter(call, x + 2)});
}

// Numbers of the type of input 0, by the scale `at` and the zero point behind.
Value quantized_as(const Call& call, const Value& x, size_t at, DType dtype) {
  if (dtype != DType::u8 && dtype != DType::i8)
    call.fail("the type " + std::string(dtype_name(dtype)) +
              " is not supported");
  check_scale(call, at);
  check_zero_point(call, at + 1, dtype);
  check_one(call, at);
  check_one(call, at + 1);
  const int low = dtype == DType::u8 ? 0 : -128;
  return function(
      "fxjit.quantize",
      {x, parameter(call, at), parameter(call, at + 1), low, low + 255, dtype});
}

Value quantized(const Call& call, const Value& x, size_t at) {
  return quantized_as(call, x, at, call.dtype(0));
}

Results linear_add(Call& call) {
  return quantized(call, real(call, 0) + real(call, 3), 6);
}

Results linear_mul(Call& call) {
  return quantized(call, real(call, 0) * real(call, 3), 6);
}

Results linear_sigmoid(Call& call) {
  return quantized(call, sigmoid(real(call, 0)), 3);
}

Results linear_leaky_relu(Call& call) {
  return quantized(
      call, nn::functional::leaky_relu(real(call, 0), call.real("alpha", 0.01)),
      3);
}

// Scale and zero point of the result come first, then those of each part.
Results linear_concat(Call& call) {
  ValueList parts;
  for (size_t i = 2; i + 2 < call.inputs(); i += 3)
    parts.push_back(real(call, i));
  if (parts.empty()) call.fail("expected inputs beside the scale");
  const int64_t axis = call.wrap(call.integer("axis"), call.rank(2));
  return quantized_as(call, cat(Value::list(parts), axis), 0, call.dtype(1));
}

// What an op of ONNX gives for a real input, with this node's attributes.
Value plain(const Call& call, const char* op, int64_t opset, const Value& x) {
  Call of_reals = call.with_inputs({Operand(x)});
  return run_row(*find_row({}, op, opset), of_reals).items[0].value;
}

Results linear_softmax(Call& call) {
  const int64_t opset = call.integer("opset", 13);
  return quantized(call, plain(call, "Softmax", opset, real(call, 0)), 3);
}

Value pooled(const Call& call, const char* op) {
  const Value x = real(call, 0);
  if (!call.flag("channels_last", false)) return plain(call, op, 19, x);
  return permute(plain(call, op, 19, permute(x, {0, 3, 1, 2})), {0, 2, 3, 1});
}

Results linear_average_pool(Call& call) {
  if (call.flag("channels_last", false) && call.rank(0) != 4)
    call.fail("expected channels last of an image");
  return quantized(call, pooled(call, "AveragePool"), 3);
}

Results linear_global_average_pool(Call& call) {
  if (call.flag("channels_last", false) && call.rank(0) != 4)
    call.fail("expected channels last of an image");
  return quantized(call, pooled(call, "GlobalAveragePool"), 3);
}

// Two factors with what stands beside them in the list of inputs.
struct Factors {
  Value a, b, a_scale, b_scale, a_zero, b_zero;

  Value sums() const {
    return function("fxjit.integer_matmul", {a, b, a_zero, b_zero});
  }
  Value scale() const { return a_scale * b_scale; }
};

Value scaled(const Call& call, const Factors& factors, size_t bias) {
  const Value y = cast(call, factors.sums(), DType::f32) * factors.scale();
  return call.has(bias) ? y + call[bias] : y;
}

Results integer_product(Call& call) {
  check(call, 0, 2, 4);
  check(call, 1, 3, 5);
  return scaled(call,
                {call[0], call[1], parameter(call, 2), parameter(call, 3),
                 parameter(call, 4), parameter(call, 5)},
                6);
}

Results dynamic_product(Call& call) {
  check(call, 1, 2, 3);
  Call rows = call.with_inputs({call.operand(0)});
  const std::vector<Operand> x =
      run_row(*find_row({}, "DynamicQuantizeLinear", 11), rows).items;
  return scaled(call,
                {x[0].value, call[1], x[1].value, parameter(call, 2),
                 x[2].value, parameter(call, 3)},
                4);
}

Results quantized_gemm(Call& call) {
  check(call, 0, 1, 2);
  check(call, 3, 4, 5);
  const auto factor = [&](size_t input, const char* turned) {
    return call.flag(turned, false) ? transpose(call[input], 0, 1)
                                    : call[input];
  };
  const Factors factors{factor(0, "transA"), factor(3, "transB"),
                        parameter(call, 1),  parameter(call, 4),
                        parameter(call, 2),  parameter(call, 5)};
  Value sums = factors.sums();
  if (call.has(6)) sums = sums + call[6];
  const Value y =
      cast(call, sums, DType::f32) * (factors.scale() * call.real("alpha", 1));
  return call.has(7) ? quantized(call, y, 7) : y;
}

// Attention whose first product is one of integers, which the compiler makes of
// that of the dequantised factors.
Results quantized_attention(Call& call) {
  const auto factor = [&](size_t x, size_t scale, size_t zero) {
    check(call, x, scale, zero);
    return function("fxjit.dequantize",
                    {call[x], parameter(call, scale), parameter(call, zero)});
  };
  const auto as_given = [&](size_t input) {
    return call.has(input) ? call.operand(input) : Operand();
  };
  Call of_reals =
      call.with_inputs({Operand(factor(0, 3, 6)), Operand(factor(1, 4, 7)),
                        as_given(2), as_given(5), as_given(8)});
  return run_row(*find_row(kMicrosoft, "Attention", 1), of_reals);
}

constexpr OpRow kQuantizedMicrosoftOps[] = {
    {.op = "DynamicQuantizeMatMul",
     .run = dynamic_product,
     .domain = kMicrosoft},
    {.op = "MatMulIntegerToFloat",
     .run = integer_product,
     .domain = kMicrosoft},
    {.op = "QAttention", .run = quantized_attention, .domain = kMicrosoft},
    {.op = "QGemm", .run = quantized_gemm, .domain = kMicrosoft},
    {.op = "QLinearAdd", .run = linear_add, .domain = kMicrosoft},
    {.op = "QLinearAveragePool",
     .run = linear_average_pool,
     .domain = kMicrosoft},
    {.op = "QLinearConcat", .run = linear_concat, .domain = kMicrosoft},
    {.op = "QLinearGlobalAveragePool",
     .run = linear_global_average_pool,
     .domain = kMicrosoft},
    {.op = "QLinearLeakyRelu", .run = linear_leaky_relu, .domain = kMicrosoft},
    {.op = "QLinearMul", .run = linear_mul, .domain = kMicrosoft},
    {.op = "QLinearSigmoid", .run = linear_sigmoid, .domain = kMicrosoft},
    {.op = "QLinearSoftmax", .run = linear_softmax, .domain = kMicrosoft},
};

}  // namespace

std::span<const OpRow> quantized_microsoft_rows() {
  return kQuantizedMicrosoftOps;
}

}  // namespace fxjit::onnx
