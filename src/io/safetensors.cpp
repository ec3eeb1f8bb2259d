// Format: https://github.com/huggingface/safetensors#format
//   u64 little-endian header length, JSON header, tensor data.
#include "fxjit/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "fxjit/error.h"
#include "src/io/json_text.h"
#include "src/io/map_storage.h"
#include "src/io/safetensors_names.h"

namespace fxjit {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
// The limit of the reference implementation.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct Entry {
  std::string name;
  DType dtype;
  Dims sizes;
  uint64_t begin = 0, end = 0;
};

class Reader {
 public:
  explicit Reader(const std::string& path)
      : path_(path), file_(io::map_storage(path)) {}

  NamedTensors read(FileMetadata* metadata) {
    read_header(metadata);
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) {
                return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
              });
    check_layout();
    NamedTensors tensors;
    for (const Entry& entry : entries_)
      tensors.emplace_back(entry.name, make_tensor(entry));
    return tensors;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError("[safetensors] " + path_ + ": " + what);
  }
  [[noreturn]] void fail(const std::string& name,
                         const std::string& what) const {
    fail("tensor \"" + name + "\": " + what);
  }

  void read_header(FileMetadata* metadata) {
    const std::span<const std::byte> bytes(file_->data(), file_->bytes());
    if (bytes.size() < kLengthBytes)
      fail("expected at least 8 bytes, got " + std::to_string(bytes.size()));
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), kLengthBytes);
    if (length > kMaxHeaderBytes || length > bytes.size() - kLengthBytes)
      fail("header length " + std::to_string(length) +
           " does not fit a file of " + std::to_string(bytes.size()) +
           " bytes: truncated or not safetensors");
    data_start_ = kLengthBytes + length;
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    const io::JsonText parsed =
        io::read_json({text + kLengthBytes, static_cast<size_t>(length)});
    const json& header = parsed.value;
    if (!header.is_object()) fail("the header is not a JSON object");
    if (parsed.repeated) fail(*parsed.repeated, "named twice in one object");
    for (const auto& [name, value] : header.items()) {
      if (name != io::kMetadataKey) {
        add_entry(name, value);
      } else if (metadata) {
        read_metadata(value, *metadata);
      }
    }
  }

  void read_metadata(const json& value, FileMetadata& metadata) const {
    if (!value.is_object()) fail("__metadata__: expected an object");
    for (const auto& [name, text] : value.items()) {
      if (!text.is_string())
        fail("__metadata__: " + name + ": expected a string");
      metadata[name] = text.get<std::string>();
    }
  }

  void add_entry(const std::string& name, const json& value) {
    if (!value.is_object()) fail(name, "expected an object");
    Entry entry;
    entry.name = name;
    const auto dtype = value.find("dtype");
    if (dtype == value.end() || !dtype->is_string())
      fail(name, "dtype: expected a string");
    const auto known = io::safetensors_dtype(dtype->get<std::string>());
    if (!known) fail(name, "dtype: unknown " + dtype->get<std::string>());
    entry.dtype = *known;
    read_shape(entry, value);
    read_offsets(entry, value);
    entries_.push_back(std::move(entry));
  }

  void read_shape(Entry& entry, const json& value) {
    const auto shape = value.find("shape");
    if (shape == value.end() || !shape->is_array())
      fail(entry.name, "shape: expected an array");
    if (shape->size() > kMaxRank)
      fail(entry.name, "shape: expected at most " + std::to_string(kMaxRank) +
                           " dims, got " + std::to_string(shape->size()));
    for (const json& size : *shape) {
      if (!size.is_number_unsigned() || size.get<uint64_t>() > uint64_t{1}
                                                                   << 62)
        fail(entry.name, "shape: expected sizes of 0 or more");
      entry.sizes.push_back(size.get<int64_t>());
    }
  }

  void read_offsets(Entry& entry, const json& value) {
    const auto offsets = value.find("data_offsets");
    if (offsets == value.end() || !offsets->is_array() ||
        offsets->size() != 2 || !(*offsets)[0].is_number_unsigned() ||
        !(*offsets)[1].is_number_unsigned())
      fail(entry.name, "data_offsets: expected two numbers");
    entry.begin = (*offsets)[0].get<uint64_t>();
    entry.end = (*offsets)[1].get<uint64_t>();
    const uint64_t data = file_->bytes() - data_start_;
    if (entry.begin > entry.end || entry.end > data)
      fail(entry.name, "data_offsets: [" + std::to_string(entry.begin) + ", " +
                           std::to_string(entry.end) + ") outside the " +
                           std::to_string(data) + " bytes of data");
    int64_t bytes = 0;
    if (__builtin_mul_overflow(int64_t{numel(entry.sizes)},
                               static_cast<int64_t>(dtype_size(entry.dtype)),
                               &bytes) ||
        static_cast<uint64_t>(bytes) != entry.end - entry.begin)
      fail(entry.name, "shape " + entry.sizes.str() + " of " +
                           std::string(dtype_name(entry.dtype)) +
                           " does not match " +
                           std::to_string(entry.end - entry.begin) + " bytes");
  }

  // The format allows neither holes nor overlaps nor bytes behind the data.
  void check_layout() const {
    uint64_t at = 0;
    for (const Entry& entry : entries_) {
      if (entry.begin != at)
        fail(entry.name, "data_offsets: expected to begin at " +
                             std::to_string(at) + ", got " +
                             std::to_string(entry.begin));
      at = entry.end;
    }
    const uint64_t data = file_->bytes() - data_start_;
    if (at != data)
      fail("expected " + std::to_string(at) + " bytes of data, got " +
           std::to_string(data));
  }

  Tensor make_tensor(const Entry& entry) const {
    const size_t item = dtype_size(entry.dtype);
    const uint64_t at = data_start_ + entry.begin;
    if (at % item == 0)
      return Tensor::view(file_, entry.sizes, entry.dtype,
                          contiguous_strides(entry.sizes),
                          static_cast<int64_t>(at / item));
    Tensor copy = Tensor::empty(entry.sizes, entry.dtype);
    std::memcpy(copy.data(), file_->data() + at, entry.end - entry.begin);
    return copy;
  }

  std::string path_;
  std::shared_ptr<Storage> file_;
  uint64_t data_start_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace

NamedTensors load_safetensors(const std::string& path, FileMetadata* metadata) {
  return Reader(path).read(metadata);
}

}  // namespace fxjit
