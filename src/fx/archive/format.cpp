#include "src/fx/archive/format.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "fxjit/error.h"
#include "fxjit/fx/archive.h"
#include "src/support/disk/checksum.h"

namespace fxjit::fx::archive {
namespace {

// As written, without signs or zeros in front; nothing for what is none.
std::optional<int> known_version(const std::string& text) {
  for (int version = 1; version <= kArchiveVersion; ++version)
    if (text == std::to_string(version)) return version;
  return std::nullopt;
}

}  // namespace

std::string checksum(const NamedTensors& tensors) {
  std::vector<const NamedTensors::value_type*> sorted;
  for (const auto& entry : tensors) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->first < b->first; });
  std::deque<std::string> heads;  // Which stay where they are.
  std::vector<std::span<const std::byte>> pieces;
  for (const auto* entry : sorted) {
    const Tensor& tensor = entry->second;
    heads.push_back(entry->first + " " + tensor.describe() + "\n");
    pieces.push_back(std::as_bytes(std::span(heads.back())));
    pieces.push_back(
        {static_cast<const std::byte*>(tensor.data()),
         static_cast<size_t>(tensor.numel()) * tensor.item_size()});
  }
  return support::checksum(pieces);
}

int check_metadata(const FileMetadata& metadata, const NamedTensors& tensors,
                   bool verify) {
  auto entry = [&](const char* key) {
    const auto found = metadata.find(key);
    if (found == metadata.end())
      throw UserError(std::string("[load] metadata: ") + key +
                      ": missing: not a file written by fx::save");
    return found->second;
  };
  if (const std::string format = entry(kFormatKey); format != kFormat)
    throw UserError(std::string("[load] format: expected ") + kFormat +
                    ", got " + format);
  const std::string version_text = entry(kVersionKey);
  const std::optional<int> version = known_version(version_text);
  if (!version)
    throw UserError("[load] format_version: expected 1 to " +
                    std::to_string(kArchiveVersion) + ", got " + version_text);
  const std::string sum = entry(kChecksumKey);
  if (metadata.size() != 3)
    throw UserError(
        "[load] metadata: it has entries that this version does "
        "not know");
  if (!verify) return *version;
  if (const std::string got = checksum(tensors); got != sum)
    throw UserError("[load] checksum: expected " + sum + ", got " + got +
                    ": the file is damaged");
  return *version;
}

}  // namespace fxjit::fx::archive
