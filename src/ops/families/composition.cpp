#include "src/ops/families/composition.h"

namespace fxjit::ops {

Value cast_to(const Value& value, DType dtype) {
  if (meta_of(value).dtype() == dtype) return value;
  return method(value, "to", {dtype});
}

Value widened(const Value& value, DType dtype) {
  return cast_to(value, compute_dtype(dtype));
}

Value narrowed(const Value& result, const Value& wide, DType dtype) {
  return meta_of(wide).dtype() == dtype ? result
                                        : method(result, "to", {dtype});
}

Value axes_value(const Dims& axes) {
  ValueList items;
  for (int64_t axis : axes) items.push_back(axis);
  return Value::tuple(std::move(items));
}

int64_t count_along(const Tensor& input, const Dims& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= input.sizes()[axis];
  return count;
}

const char* torch_type_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "Float";
    case DType::f64:
      return "Double";
    case DType::f16:
      return "Half";
    case DType::bf16:
      return "BFloat16";
    case DType::i8:
      return "Char";
    case DType::u8:
      return "Byte";
    case DType::i16:
      return "Short";
    case DType::i32:
      return "Int";
    case DType::i64:
      return "Long";
    case DType::boolean:
      return "Bool";
  }
  throw InternalError("torch_type_name: unknown dtype");
}

const char* cpp_type_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::f16:
      return "c10::Half";
    case DType::bf16:
      return "c10::BFloat16";
    case DType::i8:
      return "signed char";
    case DType::u8:
      return "unsigned char";
    case DType::i16:
      return "short int";
    case DType::i32:
      return "int";
    case DType::i64:
      return "long int";
    case DType::boolean:
      return "bool";
  }
  throw InternalError("cpp_type_name: unknown dtype");
}

}  // namespace fxjit::ops
