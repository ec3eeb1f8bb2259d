// The entries of a zip archive that lies in memory, as its central directory
// lists them. Only entries that are stored, not compressed, can be read: their
// bytes are used where they are. Nothing is trusted: every offset and size is
// checked against the archive, and memory stays near the size of the directory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fxjit::io {

struct ZipEntry {
  std::string name;     // Relative, without "..", unique.
  // Where the content begins in the archive, and how many bytes of the archive
  // it takes: fewer than it has itself if it is compressed.
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint16_t compression = 0;  // The format's number of the method; 0: none.
};

class ZipReader {
 public:
  // `path` stands in messages. UserError naming it, the entry and the field
  // where the bytes are no zip archive, damaged, or use what is not supported:
  // encryption, several disks, names that leave the archive.
  ZipReader(std::span<const std::byte> archive, std::string path);

  // Ordered by where their content lies in the archive.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Null when absent.
  const ZipEntry* find(std::string_view name) const;
  // The bytes of an entry, as views of the archive. UserError for a compressed
  // entry.
  std::span<const std::byte> content(const ZipEntry& entry) const;
  std::string_view text(const ZipEntry& entry) const;

 private:
  struct Directory {
    uint64_t entries, bytes, offset;
  };

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(const std::string& entry,
                         const std::string& what) const;
  template <typename T>
  T number(uint64_t at) const;
  uint64_t find_end() const;
  Directory find_directory() const;
  Directory find_directory64(uint64_t locator) const;
  void read_directory(const Directory& directory);
  uint64_t read_entry(uint64_t at, const Directory& directory);
  void read_zip64(ZipEntry& entry, uint64_t at, uint64_t bytes,
                  uint64_t& stored, uint64_t& header) const;
  void check_name(const std::string& name) const;
  uint64_t content_offset(const ZipEntry& entry, uint64_t header,
                          const Directory& directory) const;
  void check_overlaps();

  std::span<const std::byte> archive_;
  std::string path_;
  std::vector<ZipEntry> entries_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace fxjit::io
