// save_safetensors: header and data of one file, written in one go.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "fxjit/error.h"
#include "fxjit/safetensors.h"
#include "src/io/safetensors_names.h"
#include "src/support/disk/atomic_file.h"

namespace fxjit {
namespace {

using nlohmann::json;

// Data begins at a multiple of this, which serves every dtype and cache lines.
constexpr size_t kAlignment = 64;

std::span<const std::byte> data_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data()),
          static_cast<size_t>(tensor.numel()) * tensor.item_size()};
}

class Writer {
 public:
  Writer(const std::string& path, const NamedTensors& tensors) : path_(path) {
    std::unordered_set<std::string_view> names;
    for (const auto& [name, tensor] : tensors) {
      if (name == io::kMetadataKey) fail(name, "the format uses this name");
      if (!names.insert(name).second) fail(name, "given twice");
      if (!tensor.defined() || tensor.is_meta())
        fail(name, "expected a tensor with memory");
      tensors_.emplace_back(name, tensor.contiguous());
    }
    std::stable_sort(tensors_.begin(), tensors_.end(),
                     [](const auto& a, const auto& b) {
                       return a.second.item_size() > b.second.item_size();
                     });
  }

  void write(const FileMetadata& metadata) const {
    const std::string text = header(metadata);
    const uint64_t length = text.size();
    support::AtomicFile file(path_);
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(std::as_bytes(std::span(text)));
    for (const auto& [name, tensor] : tensors_) file.write(data_of(tensor));
    file.commit();
  }

 private:
  [[noreturn]] void fail(const std::string& name,
                         const std::string& what) const {
    throw UserError("[safetensors] " + path_ + ": tensor \"" + name +
                    "\": " + what);
  }

  std::string header(const FileMetadata& metadata) const {
    json entries = json::object();
    if (!metadata.empty()) entries[std::string(io::kMetadataKey)] = metadata;
    uint64_t at = 0;
    for (const auto& [name, tensor] : tensors_) {
      const uint64_t end = at + data_of(tensor).size();
      entries[name] = {
          {"dtype", io::safetensors_name(tensor.dtype())},
          {"shape", std::vector<int64_t>(tensor.sizes().begin(),
                                         tensor.sizes().end())},
          {"data_offsets", {at, end}}};
      at = end;
    }
    try {
      std::string text = entries.dump();
      const size_t used = sizeof(uint64_t) + text.size();
      text.append((kAlignment - used % kAlignment) % kAlignment, ' ');
      return text;
    } catch (const json::type_error& error) {
      throw UserError("[safetensors] " + path_ +
                      ": names and metadata: expected UTF-8: " + error.what());
    }
  }

  std::string path_;
  NamedTensors tensors_;
};

}  // namespace

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const FileMetadata& metadata) {
  Writer(path, tensors).write(metadata);
}

}  // namespace fxjit
