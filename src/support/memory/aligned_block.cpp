#include "src/support/memory/aligned_block.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "fxjit/error.h"
#include "src/support/disk/text_file.h"
#include "src/support/rounding.h"

namespace fxjit::support {
namespace {

constexpr size_t kAddressSpace = SIZE_MAX / 4;  // No address space is larger.

[[noreturn]] void throw_no_memory(size_t bytes) {
  throw RuntimeError("[memory] allocation: expected " + std::to_string(bytes) +
                     " bytes, got none from the system");
}

// A tail that fills most of a huge page may cost the rest of it; a short one
// keeps to ordinary pages, which also holds blocks below one huge page small.
size_t large_mapping_bytes(size_t bytes) {
  size_t unit = AlignedBlock::kLargeAlignment;
  size_t whole = round_up(bytes, unit);
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return whole - bytes <= unit / 8 ? whole : round_up(bytes, page);
}

// Maps `bytes` at a multiple of kLargeAlignment by mapping more and giving the
// ends back.
std::byte* map_aligned(size_t bytes, size_t wanted) {
  size_t unit = AlignedBlock::kLargeAlignment;
  void* mapping = mmap(nullptr, bytes + unit, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw_no_memory(wanted);
  auto* start = static_cast<std::byte*>(mapping);
  auto address = reinterpret_cast<uintptr_t>(start);
  size_t before = round_up(address, unit) - address;
  if (before > 0) munmap(start, before);
  if (unit > before) munmap(start + before + bytes, unit - before);
  return start + before;
}

}  // namespace

AlignedBlock::AlignedBlock(size_t bytes) : size_(bytes) {
  if (bytes > kAddressSpace) throw_no_memory(bytes);
  if (bytes >= kLargeBytes) {
    map(large_mapping_bytes(bytes));
    return;
  }
  size_t rounded = round_up(std::max<size_t>(bytes, 1), kAlignment);
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (data_ == nullptr) throw_no_memory(bytes);
}

void AlignedBlock::map(size_t bytes) {
  data_ = {map_aligned(bytes, size_), Free{bytes}};
  madvise(data_.get(), bytes, MADV_HUGEPAGE);  // May be refused.
}

AlignedBlock AlignedBlock::in_huge_pages(size_t bytes) {
  if (bytes < kWorthHugePage || bytes >= kLargeAlignment)
    return AlignedBlock(bytes);
  AlignedBlock block;
  block.size_ = bytes;
  block.map(kLargeAlignment);
  return block;
}

void AlignedBlock::Free::operator()(std::byte* data) const {
  if (mapped_bytes > 0)
    munmap(data, mapped_bytes);
  else
    std::free(data);
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
