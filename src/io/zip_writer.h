// A zip archive of stored (uncompressed) entries, written from front to back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fxjit::io {

class ZipWriter {
 public:
  // RuntimeError when the file cannot be opened.
  explicit ZipWriter(const std::filesystem::path& path);

  void add(std::string_view name, std::span<const std::byte> content);
  void add(std::string_view name, std::string_view content) {
    add(name, std::as_bytes(std::span(content)));
  }
  // Writes the directory; RuntimeError when anything could not be written.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint32_t checksum;
    uint32_t bytes;
    uint32_t offset;
  };

  void write(const std::string& text);
  [[noreturn]] void fail(const std::string& what) const;

  std::filesystem::path path_;
  std::ofstream file_;
  uint64_t offset_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace fxjit::io
