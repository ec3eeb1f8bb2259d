#include "src/io/zip_writer.h"

#include <array>
#include <limits>

#include "fxjit/error.h"
#include "src/io/zip_records.h"

namespace fxjit::io {
namespace {

constexpr uint16_t kVersionNeeded = 20;
constexpr uint16_t kDate = 0x21;  // 1 January 1980: files do not differ by it.

// Numbers in little-endian order.
template <typename T>
void append(std::string& out, T number) {
  for (size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>((number >> (8 * i)) & 0xff);
}

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ (value & 1 ? 0xedb88320u : 0);
    table[i] = value;
  }
  return table;
}

uint32_t crc32(std::span<const std::byte> bytes) {
  static constexpr auto kTable = make_crc_table();
  uint32_t crc = ~uint32_t{0};
  for (const std::byte byte : bytes)
    crc = (crc >> 8) ^ kTable[(crc ^ std::to_integer<uint32_t>(byte)) & 0xff];
  return ~crc;
}

// What the local header and the directory entry have in common.
std::string common_fields(uint32_t checksum, uint32_t bytes, size_t name_size) {
  std::string out;
  append(out, kVersionNeeded);
  append(out, uint16_t{0});  // Flags.
  append(out, uint16_t{0});  // Stored.
  append(out, uint16_t{0});  // Time.
  append(out, kDate);
  append(out, checksum);
  append(out, bytes);  // Compressed.
  append(out, bytes);
  append(out, static_cast<uint16_t>(name_size));
  append(out, uint16_t{0});  // Extra field.
  return out;
}

}  // namespace

ZipWriter::ZipWriter(const std::filesystem::path& path)
    : path_(path), file_(path, std::ios::binary | std::ios::trunc) {
  if (!file_) fail("cannot be opened for writing");
}

void ZipWriter::fail(const std::string& what) const {
  throw RuntimeError("[zip " + path_.string() + "] file: " + what);
}

void ZipWriter::write(const std::string& text) {
  file_.write(text.data(), static_cast<std::streamsize>(text.size()));
  offset_ += text.size();
}

void ZipWriter::add(std::string_view name, std::span<const std::byte> content) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  if (offset_ + content.size() > kMost - 1024)
    fail("expected at most 4 GiB, got more");
  const auto bytes = static_cast<uint32_t>(content.size());
  const Entry entry{std::string(name), crc32(content), bytes,
                    static_cast<uint32_t>(offset_)};
  std::string header;
  append(header, kLocalHeader);
  write(header + common_fields(entry.checksum, bytes, name.size()) +
        entry.name);
  file_.write(reinterpret_cast<const char*>(content.data()),
              static_cast<std::streamsize>(content.size()));
  offset_ += content.size();
  entries_.push_back(entry);
}

void ZipWriter::finish() {
  const auto start = static_cast<uint32_t>(offset_);
  for (const Entry& entry : entries_) {
    std::string header;
    append(header, kDirectoryEntry);
    append(header, kVersionNeeded);
    header += common_fields(entry.checksum, entry.bytes, entry.name.size());
    append(header, uint16_t{0});  // Comment.
    append(header, uint16_t{0});  // Disk.
    append(header, uint16_t{0});  // Internal attributes.
    append(header, uint32_t{0});  // External attributes.
    append(header, entry.offset);
    write(header + entry.name);
  }
  std::string end;
  append(end, kDirectoryEnd);
  append(end, uint16_t{0});  // This disk, the directory's disk.
  append(end, uint16_t{0});
  append(end, static_cast<uint16_t>(entries_.size()));
  append(end, static_cast<uint16_t>(entries_.size()));
  append(end, static_cast<uint32_t>(offset_ - start));
  append(end, start);
  append(end, uint16_t{0});  // Comment.
  write(end);
  file_.close();
  if (!file_) fail("could not be written in full");
}

}  // namespace fxjit::io
