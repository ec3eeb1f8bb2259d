// Elements of a TensorProto that stand as lists of numbers.
#include <algorithm>
#include <cstring>

#include "fxjit/error.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

// Fields of TensorProto.
constexpr uint32_t kFloatData = 4, kInt32Data = 5, kInt64Data = 7,
                   kDoubleData = 10, kUint64Data = 11;

uint32_t field_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::c64:
      return kFloatData;
    case DType::f64:
    case DType::c128:
      return kDoubleData;
    case DType::i64:
      return kInt64Data;
    case DType::f16:
    case DType::bf16:
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::i32:
    case DType::boolean:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return kInt32Data;
  }
  return 0;
}

// Bytes of an element where it is fixed, 0 for varints.
size_t width_of(uint32_t field) {
  return field == kFloatData ? 4 : field == kDoubleData ? 8 : 0;
}

// Varints in packed bytes: each ends with a byte whose first bit is 0.
int64_t count_varints(Bytes bytes) {
  return std::count_if(bytes.begin(), bytes.end(), [](std::byte byte) {
    return static_cast<uint8_t>(byte) < 0x80;
  });
}

// One element, not packed with others.
bool is_alone(const WireField& chunk) {
  return chunk.type != WireField::Type::bytes;
}

int64_t count_elements(const TensorInfo& info, uint32_t field) {
  const size_t width = width_of(field);
  int64_t count = 0;
  for (const WireField& chunk : info.data) {
    if (chunk.number != field)
      fail(info, "the elements stand in field " + std::to_string(chunk.number) +
                     " of TensorProto, " + "expected field " +
                     std::to_string(field) + " for its data_type");
    if (is_alone(chunk))
      ++count;
    else if (width == 0)
      count += count_varints(chunk.bytes);
    else if (chunk.bytes.size() % width == 0)
      count += static_cast<int64_t>(chunk.bytes.size() / width);
    else
      fail(info, "the elements are cut off");
  }
  return count;
}

}  // namespace

Tensor read_typed_data(const TensorInfo& info, const Dims& dims, DType dtype) {
  const int unsigned_bits = unsigned_bits_of(info.data_type);
  const uint32_t field = unsigned_bits > 16 ? kUint64Data : field_of(dtype);
  const int64_t parts = is_complex(dtype) ? 2 : 1;
  const int64_t count = count_elements(info, field);
  if (count % parts != 0 || count / parts != numel(dims))
    fail(info, "expected " + std::to_string(numel(dims)) + " elements for " +
                   std::string(dtype_name(dtype)) + dims.str() + ", got " +
                   std::to_string(count / parts));
  const Tensor tensor = Tensor::empty(dims, dtype);
  auto* out = static_cast<std::byte*>(tensor.data());
  const size_t width = width_of(field), item = dtype_size(dtype);
  const auto write = [&](const void* from, size_t bytes) {
    if (bytes > 0) std::memcpy(out, from, bytes);
    out += bytes;
  };
  for (const WireField& chunk : info.data) {
    if (is_alone(chunk))
      write(&chunk.word, width > 0 ? width : item);  // The low bytes.
    else if (width > 0)
      write(chunk.bytes.data(), chunk.bytes.size());
    else
      for (const int64_t value : unpack_varints(chunk.bytes))
        write(&value, item);
  }
  return tensor;
}

}  // namespace fxjit::onnx
