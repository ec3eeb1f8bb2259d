#include "examples/minilm/vocabulary.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include "fxjit/error.h"

namespace minilm {
namespace {

constexpr std::string_view kInsideMark = "##";
// The largest published vocabularies are some 5 MB.
constexpr std::uintmax_t kMaxFileBytes = 64u << 20;

// FNV-1a: extends byte by byte, so all prefixes of a text cost one pass.
constexpr std::uint64_t kEmptyHash = 0xCBF29CE484222325u;

constexpr std::uint64_t extend(std::uint64_t hash, char byte) {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
}

constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = kEmptyHash;
  for (const char byte : text) hash = extend(hash, byte);
  return hash;
}

constexpr std::uint32_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  const auto fail = [&path](const std::string& why) {
    throw fxjit::UserError("[vocabulary] " + path.string() + ": " + why);
  };
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) fail("cannot be read: " + error.message());
  if (bytes > kMaxFileBytes) {
    fail("expected a vocabulary of at most 64 MiB, got " +
         std::to_string(bytes) + " bytes");
  }
  std::string lines(static_cast<std::size_t>(bytes), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(lines.data(), static_cast<std::streamsize>(lines.size()));
  if (!file) fail("cannot be read");
  return Vocabulary(std::move(lines));
}

Vocabulary::Vocabulary(std::string lines) : lines_(std::move(lines)) {
  std::size_t begin = 0;
  while (begin < lines_.size()) {
    const std::size_t end = std::min(lines_.find('\n', begin), lines_.size());
    add_line(begin, end);
    begin = end + 1;
  }
  build_slots();
}

void Vocabulary::add_line(std::size_t begin, std::size_t end) {
  if (end > begin && lines_[end - 1] == '\r') --end;
  if (end > std::numeric_limits<std::uint32_t>::max()) {
    throw fxjit::UserError("[vocabulary] expected less than 4 GiB of text");
  }
  entries_.push_back({static_cast<std::uint32_t>(begin),
                      static_cast<std::uint32_t>(end - begin)});
  longest_bytes_ = std::max(longest_bytes_, end - begin);
}

void Vocabulary::build_slots() {
  slots_.resize(std::bit_ceil(entries_.size() * 2 + 1));
  for (std::size_t id = 0; id < entries_.size(); ++id) {
    const std::string_view entry = text(static_cast<std::int64_t>(id));
    const std::uint64_t hash = hash_of(entry);
    std::size_t index = slot_index(hash);
    while (slots_[index].id != kNone && text(slots_[index].id) != entry) {
      index = (index + 1) & (slots_.size() - 1);
    }
    slots_[index] = {tag_of(hash), static_cast<std::int32_t>(id)};
  }
}

std::size_t Vocabulary::slot_index(std::uint64_t hash) const {
  // FNV's low bits depend on few input bits; fold the high half in.
  return (hash ^ (hash >> 29)) & (slots_.size() - 1);
}

std::string_view Vocabulary::text(std::int64_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= entries_.size()) return "";
  const Entry entry = entries_[static_cast<std::size_t>(id)];
  return std::string_view(lines_).substr(entry.begin, entry.bytes);
}

// The entry that is `prefix` followed by `rest`, whose joint hash is `hash`.
std::int32_t Vocabulary::lookup(std::uint64_t hash, std::string_view prefix,
                                std::string_view rest) const {
  if (slots_.empty()) return kNone;
  std::size_t index = slot_index(hash);
  for (; slots_[index].id != kNone; index = (index + 1) & (slots_.size() - 1)) {
    if (slots_[index].tag != tag_of(hash)) continue;
    const std::string_view entry = text(slots_[index].id);
    if (entry.starts_with(prefix) && entry.substr(prefix.size()) == rest) {
      return slots_[index].id;
    }
  }
  return kNone;
}

std::int32_t Vocabulary::find(std::string_view entry) const {
  return lookup(hash_of(entry), "", entry);
}

Vocabulary::Match Vocabulary::longest_prefix(std::string_view text,
                                             bool inside_word) const {
  const std::string_view mark = inside_word ? kInsideMark : "";
  std::uint64_t hash = hash_of(mark);
  Match longest;
  const std::size_t end = std::min(text.size(), longest_bytes_);
  for (std::size_t i = 0; i < end; ++i) {
    hash = extend(hash, text[i]);
    const std::int32_t id = lookup(hash, mark, text.substr(0, i + 1));
    if (id != kNone) longest = {id, i + 1};
  }
  return longest;
}

}  // namespace minilm
