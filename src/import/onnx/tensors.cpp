#include "src/import/onnx/tensors.h"

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "fxjit/error.h"
#include "src/io/map_storage.h"
#include "src/support/rounding.h"

namespace fxjit::onnx {
namespace {

namespace fs = std::filesystem;

struct ElementType {
  std::string_view name;
  std::optional<DType> dtype;
};

// By TensorProto's number.
constexpr std::array<ElementType, 27> kTypes = {{
    {"UNDEFINED", {}},
    {"FLOAT", DType::f32},
    {"UINT8", DType::u8},
    {"INT8", DType::i8},
    {"UINT16", DType::i32},
    {"INT16", DType::i16},
    {"INT32", DType::i32},
    {"INT64", DType::i64},
    {"STRING", {}},
    {"BOOL", DType::boolean},
    {"FLOAT16", DType::f16},
    {"DOUBLE", DType::f64},
    {"UINT32", DType::i64},
    {"UINT64", DType::i64},
    {"COMPLEX64", DType::c64},
    {"COMPLEX128", DType::c128},
    {"BFLOAT16", DType::bf16},
    {"FLOAT8E4M3FN", DType::f8e4m3},
    {"FLOAT8E4M3FNUZ", DType::f16},
    {"FLOAT8E5M2", DType::f8e5m2},
    {"FLOAT8E5M2FNUZ", DType::f16},
    {"UINT4", DType::u8},
    {"INT4", DType::i8},
    {"FLOAT4E2M1", DType::f16},
    {"FLOAT8E8M0", {}},
    {"UINT2", DType::u8},
    {"INT2", DType::i8},
}};

constexpr int64_t kUint8 = 2;

const ElementType* type_of(int64_t number) {
  return number >= 0 && number < std::ssize(kTypes) ? &kTypes[number] : nullptr;
}

Dims dims_of(const TensorInfo& info) {
  if (info.dims.size() > static_cast<size_t>(kMaxRank))
    fail(info, "dims: expected at most " + std::to_string(kMaxRank) + ", got " +
                   std::to_string(info.dims.size()));
  for (const int64_t dim : info.dims)
    if (dim < 0)
      fail(info, "dims: expected 0 or more, got " + std::to_string(dim));
  return Dims(info.dims);
}

// Bytes of the whole tensor; UserError where they are beyond 64 bits.
size_t bytes_of(const TensorInfo& info, const Dims& dims, size_t item) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(int64_t{numel(dims)}, static_cast<int64_t>(item),
                             &bytes))
    fail(info, "dims: " + dims.str() + " have more bytes than 64 bits count");
  return static_cast<size_t>(bytes);
}

// Integers without a sign of `item` bytes each, in a wider type.
Tensor widened(const std::byte* data, const Dims& dims, DType dtype,
               size_t item) {
  const Tensor tensor = Tensor::empty(dims, dtype);
  auto* out = static_cast<std::byte*>(tensor.data());
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, data, item);
    std::memcpy(out, &value, tensor.item_size());
    data += item;
    out += tensor.item_size();
  }
  return tensor;
}

std::optional<std::string_view> find_entry(const TensorInfo& info,
                                           std::string_view key) {
  for (const TextEntry& entry : info.location)
    if (entry.key == key) return entry.value;
  return std::nullopt;
}

size_t number_entry(const TensorInfo& info, std::string_view key,
                    size_t otherwise) {
  const auto text = find_entry(info, key);
  if (!text || text->empty()) return otherwise;
  size_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end)
    fail(info, "external_data." + std::string(key) +
                   ": expected a number, got \"" + std::string(*text) + "\"");
  return number;
}

// Numbers of a few bits, which take a byte each or more where they are read.
Tensor unpacked_when_read(const Tensor& packed, CarriedType type,
                          const Dims& dims) {
  const DType dtype = carrier_of(type);
  if (numel(dims) == 0) return Tensor::empty(dims, dtype);
  const size_t bytes = static_cast<size_t>(numel(dims)) * dtype_size(dtype);
  return Tensor::view(
      Storage::deferred(bytes,
                        [=](std::byte* out) {
                          const Tensor made =
                              carried(unpacked(packed, type, dims), type);
                          std::memcpy(out, made.data(), bytes);
                        }),
      dims, dtype, contiguous_strides(dims), 0);
}

// Bytes of a file as a tensor's memory, kept where they are.
std::shared_ptr<Storage> memory_at(const std::shared_ptr<Storage>& file,
                                   size_t offset, size_t bytes, size_t item) {
  std::byte* const data = file->data() + offset;
  const auto memory =
      bytes > 0 && offset % item != 0
          ? Storage::deferred(bytes,
                              [file, data, bytes](std::byte* out) {
                                std::memcpy(out, data, bytes);
                              })
          : Storage::borrow(data, bytes, file, /*read_only=*/true);
  memory->release_pages = [file = file.get(), offset](size_t at,
                                                      size_t length) {
    file->release_pages(offset + at, length);
  };
  return memory;
}

}  // namespace

void fail(const TensorInfo& info, const std::string& what) {
  throw UserError("[onnx] tensor \"" + std::string(info.name) + "\": " + what);
}

std::optional<DType> find_dtype(int64_t element_type) {
  const ElementType* const type = type_of(element_type);
  return type ? type->dtype : std::nullopt;
}

CarriedType carried_type_of(int64_t element_type) {
  switch (element_type) {
    case 4:
      return CarriedType::u16;
    case 12:
      return CarriedType::u32;
    case 13:
      return CarriedType::u64;
    case 18:
      return CarriedType::f8e4m3fnuz;
    case 20:
      return CarriedType::f8e5m2fnuz;
    case 21:
      return CarriedType::u4;
    case 22:
      return CarriedType::i4;
    case 23:
      return CarriedType::f4e2m1;
    case 25:
      return CarriedType::u2;
    case 26:
      return CarriedType::i2;
    default:
      return CarriedType::none;
  }
}

int unsigned_bits_of(int64_t element_type) {
  const CarriedType type = carried_type_of(element_type);
  return type == CarriedType::u16   ? 16
         : type == CarriedType::u32 ? 32
         : type == CarriedType::u64 ? 64
                                    : 0;
}

std::optional<int64_t> element_type_of(std::string_view name) {
  for (size_t i = 1; i < kTypes.size(); ++i)
    if (kTypes[i].name == name) return static_cast<int64_t>(i);
  return std::nullopt;
}

std::string element_type_name(int64_t element_type) {
  const ElementType* const type = type_of(element_type);
  return type ? std::string(type->name) : std::to_string(element_type);
}

TensorFile::TensorFile(const std::string& path)
    : path_(path), storage_(io::map_storage(path)) {}

Tensor TensorFile::read(const TensorInfo& info) {
  const auto dtype = find_dtype(info.data_type);
  if (!dtype)
    fail(info, "data_type " + element_type_name(info.data_type) +
                   " is not supported");
  const CarriedType type = carried_type_of(info.data_type);
  if (type != CarriedType::none && bits_type_of(type) == DType::u8) {
    TensorInfo bits = info;
    bits.data_type = kUint8;
    if (packed_bits(type) == 0) return carried(read(bits), type);
    const Dims dims = dims_of(info);
    const int64_t each = 8 / packed_bits(type), count = numel(dims);
    bits.dims = {support::ceil_div(count, each)};
    return unpacked_when_read(read(bits), type, dims);
  }
  const Dims dims = dims_of(info);
  const int unsigned_bits = unsigned_bits_of(info.data_type);
  const size_t item = unsigned_bits > 0 ? static_cast<size_t>(unsigned_bits) / 8
                                        : dtype_size(*dtype);
  const size_t bytes = bytes_of(info, dims, item);
  Extent extent;
  if (info.external()) {
    extent = external(info);
  } else if (info.raw) {
    if (!info.data.empty())
      fail(info, "raw_data: there are other data as well");
    extent.storage = storage_;
    extent.offset = static_cast<size_t>(info.raw->data() - storage_->data());
    extent.bytes = info.raw->size();
  } else {
    return read_typed_data(info, dims, *dtype);
  }
  if (extent.bytes != bytes)
    fail(info, (info.external() ? "external_data: " : "raw_data: ") +
                   std::string("expected ") + std::to_string(bytes) +
                   " bytes for " + std::string(dtype_name(*dtype)) +
                   dims.str() + ", got " + std::to_string(extent.bytes));
  if (bytes == 0) return Tensor::empty(dims, *dtype);
  if (item != dtype_size(*dtype))
    return widened(extent.storage->data() + extent.offset, dims, *dtype, item);
  return Tensor::view(
      memory_at(extent.storage, extent.offset, bytes, dtype_size(*dtype)), dims,
      *dtype, contiguous_strides(dims), 0);
}

TensorFile::Extent TensorFile::external(const TensorInfo& info) {
  const auto location = find_entry(info, "location");
  if (!location || location->empty())
    fail(info, "external_data.location: missing");
  if (info.raw || !info.data.empty())
    fail(info, "external_data: there are other data as well");
  const fs::path inside = fs::path(*location).lexically_normal();
  if (location->find('\0') != location->npos || inside.is_absolute() ||
      inside.empty() || *inside.begin() == "..")
    fail(info, "external_data.location: \"" + std::string(*location) +
                   "\" leaves the folder of the model");
  Extent extent;
  try {
    extent.storage = open_beside(inside.string());
  } catch (Error& error) {
    error.extend(
        "\n  external_data of the tensor \"" + std::string(info.name) + "\"",
        {});
    throw;
  }
  const size_t size = extent.storage->bytes();
  extent.offset = number_entry(info, "offset", 0);
  if (extent.offset > size)
    fail(info, "external_data.offset: " + std::to_string(extent.offset) +
                   " is behind the end of " + inside.string() + ", " +
                   std::to_string(size) + " bytes");
  extent.bytes = number_entry(info, "length", size - extent.offset);
  if (extent.bytes > size - extent.offset)
    fail(info, "external_data.length: " + std::to_string(extent.bytes) +
                   " bytes from " + std::to_string(extent.offset) +
                   " are not in " + inside.string() + ", " +
                   std::to_string(size) + " bytes");
  return extent;
}

// A link may lead out of the folder as ".." does.
std::shared_ptr<Storage> TensorFile::open_beside(const std::string& location) {
  auto& known = beside_[location];
  if (known) return known;
  const fs::path folder = fs::path(path_).parent_path();
  const fs::path file = folder / location;
  std::error_code error;
  const fs::path root =
      fs::weakly_canonical(folder.empty() ? "." : folder, error);
  const fs::path real = fs::weakly_canonical(file, error);
  const fs::path within = real.lexically_relative(root);
  if (error || within.empty() || *within.begin() == "..")
    throw UserError("[onnx] external_data.location: \"" + location +
                    "\" leaves the folder of the model");
  return known = io::map_storage(real.string());
}

}  // namespace fxjit::onnx
