#include "src/import/onnx/typed_data.h"

#include <algorithm>
#include <cstring>

#include "fxjit/error.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

// Fields of TensorProto.
constexpr uint32_t kFloatData = 4, kInt32Data = 5, kInt64Data = 7,
                   kDoubleData = 10, kUint64Data = 11;

[[noreturn]] void fail(const TensorInfo& info, const std::string& what) {
  throw UserError("[onnx] tensor \"" + std::string(info.name) + "\": " + what);
}

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

int64_t count_elements(const TensorInfo& info, uint32_t field) {
  const size_t width = width_of(field);
  int64_t count = 0;
  for (const TensorInfo::Chunk& chunk : info.data) {
    if (chunk.number != field)
      fail(info, "the elements stand in field " +
                     std::to_string(chunk.number) + " of TensorProto, " +
                     "expected field " + std::to_string(field) +
                     " for its data_type");
    if (chunk.alone)
      ++count;
    else if (width == 0)
      count += count_varints(chunk.packed);
    else if (chunk.packed.size() % width == 0)
      count += static_cast<int64_t>(chunk.packed.size() / width);
    else
      fail(info, "the elements are cut off");
  }
  return count;
}

void write_integer(std::byte* out, int64_t value, size_t size) {
  std::memcpy(out, &value, size);  // The low bytes.
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
  for (const TensorInfo::Chunk& chunk : info.data) {
    if (width > 0) {
      const size_t bytes = chunk.alone ? width : chunk.packed.size();
      if (bytes > 0)
        std::memcpy(out,
                    chunk.alone ? static_cast<const void*>(&chunk.word)
                                : chunk.packed.data(),
                    bytes);
      out += bytes;
      continue;
    }
    if (chunk.alone) {
      write_integer(out, static_cast<int64_t>(chunk.word), item);
      out += item;
      continue;
    }
    for (const int64_t value : unpack_varints(chunk.packed)) {
      write_integer(out, value, item);
      out += item;
    }
  }
  return tensor;
}

}  // namespace fxjit::onnx
