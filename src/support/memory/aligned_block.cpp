#include "src/support/memory/aligned_block.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "fxjit/error.h"
#include "src/support/disk/text_file.h"
#include "src/support/rounding.h"

namespace fxjit::support {
namespace {

constexpr size_t kMaxBytes = SIZE_MAX / 4;  // No address space is larger.

[[noreturn]] void throw_no_memory(size_t bytes) {
  throw RuntimeError("[memory] allocation: expected " + std::to_string(bytes) +
                     " bytes, got none from the system");
}

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

std::byte* map_or_throw(size_t bytes, size_t wanted) {
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) throw_no_memory(wanted);
  return static_cast<std::byte*>(start);
}

// A tail that fills most of a huge page may cost the rest of it; a short one
// keeps to ordinary pages, which also holds blocks below one huge page small.
size_t large_mapping_bytes(size_t bytes) {
  size_t unit = AlignedBlock::kLargeAlignment;
  size_t whole = round_up(bytes, unit);
  return whole - bytes <= unit / 8 ? whole : round_up(bytes, page_bytes());
}

// Maps `bytes` at a multiple of kLargeAlignment by mapping more and giving the
// ends back.
std::byte* map_aligned(size_t bytes, size_t wanted) {
  size_t unit = AlignedBlock::kLargeAlignment;
  std::byte* start = map_or_throw(bytes + unit, wanted);
  auto address = reinterpret_cast<uintptr_t>(start);
  size_t before = round_up(address, unit) - address;
  if (before > 0) munmap(start, before);
  if (unit > before) munmap(start + before + bytes, unit - before);
  return start + before;
}

size_t parse_hex(const char* begin, const char* end) {
  size_t value = 0;
  std::from_chars(begin, end, value, 16);
  return value;
}

}  // namespace

AlignedBlock::AlignedBlock(size_t bytes) : size_(bytes) {
  if (bytes > kMaxBytes) throw_no_memory(bytes);
  if (bytes >= kLargeBytes) {
    map(large_mapping_bytes(bytes));
    return;
  }
  size_t rounded = round_up(std::max<size_t>(bytes, 1), kAlignment);
  data_ = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (data_ == nullptr) throw_no_memory(bytes);
}

void AlignedBlock::map(size_t bytes) {
  mapped_bytes_ = bytes;
  mapping_ = data_ = map_aligned(bytes, size_);
  madvise(mapping_, bytes, MADV_HUGEPAGE);  // May be refused.
}

AlignedBlock AlignedBlock::in_huge_pages(size_t bytes) {
  if (bytes < kWorthHugePage || bytes >= kLargeAlignment)
    return AlignedBlock(bytes);
  AlignedBlock block;
  block.size_ = bytes;
  block.map(kLargeAlignment);
  return block;
}

AlignedBlock AlignedBlock::guarded(size_t bytes) {
  if (bytes > kMaxBytes) throw_no_memory(bytes);
  size_t page = page_bytes();
  size_t rounded = round_up(bytes, kAlignment);
  size_t usable = round_up(rounded, page);
  AlignedBlock block;
  block.mapping_ = map_or_throw(usable + page, bytes);
  block.mapped_bytes_ = usable + page;
  block.data_ = block.mapping_ + (usable - rounded);
  block.size_ = bytes;
  if (mprotect(block.mapping_ + usable, page, PROT_NONE) != 0)
    throw_no_memory(bytes);
  return block;
}

AlignedBlock::~AlignedBlock() {
  if (mapping_ != nullptr)
    munmap(mapping_, mapped_bytes_);
  else
    std::free(data_);
}

AlignedBlock::AlignedBlock(AlignedBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)) {}

AlignedBlock& AlignedBlock::operator=(AlignedBlock&& other) noexcept {
  AlignedBlock taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(mapping_, taken.mapping_);
  std::swap(mapped_bytes_, taken.mapped_bytes_);
  return *this;
}

size_t AlignedBlock::huge_pages_granted() const {
  if (mapping_ == nullptr) return 0;
  auto begin = reinterpret_cast<size_t>(mapping_);
  return count_huge_pages(read_text_file("/proc/self/smaps"), begin,
                          begin + mapped_bytes_);
}

size_t count_huge_pages(const std::string& smaps, size_t begin, size_t end) {
  constexpr size_t kHugeKib = AlignedBlock::kLargeAlignment / 1024;
  std::istringstream lines(smaps);
  std::string line;
  size_t pages = 0;
  bool overlaps = false;
  while (std::getline(lines, line)) {
    // A mapping opens with "begin-end perms ...", its facts are "Key: value".
    size_t dash = line.find('-');
    size_t space = line.find(' ');
    if (dash < space && line.find(':') > space) {
      const char* text = line.data();
      overlaps = parse_hex(text, text + dash) < end &&
                 parse_hex(text + dash + 1, text + space) > begin;
    } else if (overlaps && line.starts_with("AnonHugePages:")) {
      size_t digits = line.find_first_of("0123456789");
      if (digits == std::string::npos) continue;
      size_t kib = 0;
      std::from_chars(line.data() + digits, line.data() + line.size(), kib);
      pages += kib / kHugeKib;
    }
  }
  return std::min(pages, (end - begin) / AlignedBlock::kLargeAlignment);
}

std::string parse_huge_page_state(const std::string& text) {
  size_t open = text.find('[');
  size_t close = text.find(']', open);
  if (close == std::string::npos) return "unavailable";
  return text.substr(open + 1, close - open - 1);
}

std::string transparent_huge_page_state() {
  return parse_huge_page_state(
      read_text_file("/sys/kernel/mm/transparent_hugepage/enabled"));
}

}  // namespace fxjit::support
