// Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#include "src/io/zip_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "fxjit/error.h"
#include "src/io/zip_records.h"

namespace fxjit::io {
namespace {

constexpr uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr uint32_t kLocator64 = 0x07064b50;
constexpr uint64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22,
                   kEnd64Bytes = 56, kLocatorBytes = 20;
constexpr uint64_t kMaxComment = 0xffff;
// A field with all bits set: its value is in the ZIP64 record.
constexpr uint32_t kIn64 = 0xffffffff;
constexpr uint16_t kExtra64 = 1;
constexpr uint16_t kEncrypted = 1;

bool leaves_archive(std::string_view name) {
  if (name.starts_with('/')) return true;
  for (size_t start = 0; start <= name.size();) {
    const size_t end = std::min(name.find('/', start), name.size());
    const std::string_view part = name.substr(start, end - start);
    if (part == ".." || part == ".") return true;
    start = end + 1;
  }
  return false;
}

}  // namespace

ZipReader::ZipReader(std::span<const std::byte> archive, std::string path)
    : archive_(archive), path_(std::move(path)) {
  read_directory(find_directory());
  check_overlaps();
  for (size_t i = 0; i < entries_.size(); ++i)
    if (!by_name_.emplace(entries_[i].name, i).second)
      fail(entries_[i].name, "name: there are two entries of this name");
}

void ZipReader::fail(const std::string& what) const {
  throw UserError("[zip] " + path_ + ": " + what);
}

void ZipReader::fail(const std::string& entry, const std::string& what) const {
  fail("entry \"" + entry + "\": " + what);
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

std::span<const std::byte> ZipReader::content(const ZipEntry& entry) const {
  if (entry.compression != 0)
    fail(entry.name, "method: expected a stored entry, got compression " +
                         std::to_string(entry.compression));
  return archive_.subspan(entry.offset, entry.bytes);
}

std::string_view ZipReader::text(const ZipEntry& entry) const {
  const auto bytes = content(entry);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A little-endian number; the caller has checked that it is inside.
template <typename T>
T ZipReader::number(uint64_t at) const {
  T value;
  std::memcpy(&value, archive_.data() + at, sizeof(T));
  return value;
}

// The record at the end, in front of a comment that reaches the end exactly.
uint64_t ZipReader::find_end() const {
  const uint64_t size = archive_.size();
  for (uint64_t comment = 0;
       comment <= kMaxComment && kEndBytes + comment <= size; ++comment) {
    const uint64_t at = size - kEndBytes - comment;
    if (number<uint32_t>(at) == kDirectoryEnd &&
        number<uint16_t>(at + 20) == comment)
      return at;
  }
  fail("the end of a zip archive is missing: truncated or not a zip archive");
}

ZipReader::Directory ZipReader::find_directory() const {
  const uint64_t end = find_end();
  Directory directory{number<uint16_t>(end + 10), number<uint32_t>(end + 12),
                      number<uint32_t>(end + 16)};
  uint64_t limit = end;
  if (end >= kLocatorBytes &&
      number<uint32_t>(end - kLocatorBytes) == kLocator64) {
    limit = end - kLocatorBytes;
    directory = find_directory64(limit);
  } else if (number<uint16_t>(end + 4) != 0 || number<uint16_t>(end + 6) != 0) {
    fail("directory: archives of several disks are not supported");
  } else if (number<uint16_t>(end + 8) != directory.entries) {
    fail("directory: two different numbers of entries");
  }
  if (directory.offset > limit || directory.bytes > limit - directory.offset)
    fail("directory: " + std::to_string(directory.bytes) + " bytes at " +
         std::to_string(directory.offset) + " do not fit an archive of " +
         std::to_string(archive_.size()));
  if (directory.entries > directory.bytes / kEntryBytes)
    fail("directory: " + std::to_string(directory.entries) +
         " entries do not fit its " + std::to_string(directory.bytes) +
         " bytes");
  return directory;
}

ZipReader::Directory ZipReader::find_directory64(uint64_t locator) const {
  const auto at = number<uint64_t>(locator + 8);
  if (number<uint32_t>(locator + 4) != 0 || number<uint32_t>(locator + 16) > 1)
    fail("directory: archives of several disks are not supported");
  if (at > locator || locator - at < kEnd64Bytes ||
      number<uint32_t>(at) != kDirectoryEnd64)
    fail("directory: no ZIP64 record at " + std::to_string(at));
  return {number<uint64_t>(at + 32), number<uint64_t>(at + 40),
          number<uint64_t>(at + 48)};
}

void ZipReader::read_directory(const Directory& directory) {
  const uint64_t end = directory.offset + directory.bytes;
  uint64_t at = directory.offset;
  entries_.reserve(directory.entries);
  for (uint64_t i = 0; i < directory.entries; ++i) {
    if (end - at < kEntryBytes || number<uint32_t>(at) != kDirectoryEntry)
      fail("directory: entry " + std::to_string(i) + " is damaged");
    at = read_entry(at, directory);
  }
  if (at != end)
    fail("directory: " + std::to_string(end - at) +
         " bytes behind the last entry");
}

// Returns where the next entry begins.
uint64_t ZipReader::read_entry(uint64_t at, const Directory& directory) {
  const uint64_t name_bytes = number<uint16_t>(at + 28);
  const uint64_t extra_bytes = number<uint16_t>(at + 30);
  const uint64_t comment_bytes = number<uint16_t>(at + 32);
  const uint64_t end = directory.offset + directory.bytes;
  const uint64_t name_at = at + kEntryBytes;
  if (end - name_at < name_bytes + extra_bytes + comment_bytes)
    fail("directory: a name or extra field reaches behind its end");
  ZipEntry entry;
  entry.name.assign(reinterpret_cast<const char*>(archive_.data()) + name_at,
                    name_bytes);
  check_name(entry.name);
  if (number<uint16_t>(at + 8) & kEncrypted)
    fail(entry.name, "flags: encrypted entries are not supported");
  entry.compression = number<uint16_t>(at + 10);
  uint64_t stored = number<uint32_t>(at + 20);
  entry.bytes = number<uint32_t>(at + 24);
  uint64_t header = number<uint32_t>(at + 42);
  read_zip64(entry, name_at + name_bytes, extra_bytes, stored, header);
  if (entry.compression != 0)
    entry.bytes = stored;
  else if (stored != entry.bytes)
    fail(entry.name, "sizes: a stored entry of " + std::to_string(stored) +
                         " bytes cannot have " + std::to_string(entry.bytes));
  entry.offset = content_offset(entry, header, directory);
  entries_.push_back(std::move(entry));
  return name_at + name_bytes + extra_bytes + comment_bytes;
}

// The ZIP64 extra field holds, in this order, those of the fields that are all
// ones in the entry.
void ZipReader::read_zip64(ZipEntry& entry, uint64_t at, uint64_t bytes,
                           uint64_t& stored, uint64_t& header) const {
  const uint64_t end = at + bytes;
  std::optional<std::pair<uint64_t, uint64_t>> field;
  while (end - at >= 4 && !field) {
    const uint64_t length = number<uint16_t>(at + 2);
    if (length > end - at - 4) fail(entry.name, "extra field: too long");
    if (number<uint16_t>(at) == kExtra64) field = {at + 4, at + 4 + length};
    at += 4 + length;
  }
  for (uint64_t* value : {&entry.bytes, &stored, &header}) {
    if (*value != kIn64) continue;
    if (!field || field->second - field->first < 8)
      fail(entry.name, "extra field: a 64-bit size is missing");
    *value = number<uint64_t>(field->first);
    field->first += 8;
  }
}

void ZipReader::check_name(const std::string& name) const {
  if (name.empty() || leaves_archive(name) ||
      name.find_first_of(std::string_view("\\\0", 2)) != name.npos)
    fail(name.substr(0, name.find('\0')),
         "name: expected a relative path inside the archive");
}

// Where the content begins: behind a local header of its own length.
uint64_t ZipReader::content_offset(const ZipEntry& entry, uint64_t header,
                                   const Directory& directory) const {
  if (header > directory.offset || directory.offset - header < kLocalBytes ||
      number<uint32_t>(header) != kLocalHeader)
    fail(entry.name, "offset: no entry at " + std::to_string(header));
  const uint64_t name_bytes = number<uint16_t>(header + 26);
  const uint64_t before =
      kLocalBytes + name_bytes + number<uint16_t>(header + 28);
  const uint64_t left = directory.offset - header;
  if (before > left || entry.bytes > left - before)
    fail(entry.name, "size: " + std::to_string(entry.bytes) +
                         " bytes reach behind the archive's entries");
  if (name_bytes != entry.name.size() ||
      std::memcmp(archive_.data() + header + kLocalBytes, entry.name.data(),
                  name_bytes) != 0)
    fail(entry.name, "name: the entry itself has another");
  return header + before;
}

// Also the headers between them: content may not stand in a header.
void ZipReader::check_overlaps() {
  std::sort(entries_.begin(), entries_.end(),
            [](const ZipEntry& a, const ZipEntry& b) {
              return std::pair(a.offset, a.bytes) <
                     std::pair(b.offset, b.bytes);
            });
  for (size_t i = 1; i < entries_.size(); ++i) {
    const ZipEntry& previous = entries_[i - 1];
    const uint64_t least = previous.offset + previous.bytes + kLocalBytes +
                           entries_[i].name.size();
    if (entries_[i].offset < least)
      fail(entries_[i].name, "offset: overlaps with \"" + previous.name + "\"");
  }
}

}  // namespace fxjit::io
