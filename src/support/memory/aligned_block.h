// Owning blocks of raw bytes for tensors, arenas and packed weights. Small ones
// come from the heap, large ones from mmap with huge pages asked for. Called by
// everything that stores elements; knows nothing of dtypes.
#pragma once

#include <cstddef>
#include <string>

namespace fxjit::support {

class AlignedBlock {
 public:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kLargeAlignment = size_t{2} << 20;  // A huge page.
  static constexpr size_t kLargeBytes = size_t{1} << 20;
  static constexpr size_t kWorthHugePage = size_t{512} << 10;

  AlignedBlock() = default;  // No bytes, null data.

  // At least `bytes` bytes: aligned to 64 and of undefined content below
  // kLargeBytes, else aligned to 2 MiB and zero. Throws RuntimeError when the
  // size is absurd or the memory is not there.
  explicit AlignedBlock(size_t bytes);

  // For memory that is read over and over, as packed weights are: from
  // kWorthHugePage bytes on, what does not fill a huge page takes the whole
  // one, which spares address translations.
  static AlignedBlock in_huge_pages(size_t bytes);

  // The same aligned to 64 bytes, its end within 63 bytes of a page that
  // faults on any access: overruns by code that no sanitizer instruments are
  // caught. Costs a system call and two pages; for tests and checked builds.
  static AlignedBlock guarded(size_t bytes);

  ~AlignedBlock();
  AlignedBlock(AlignedBlock&& other) noexcept;
  AlignedBlock& operator=(AlignedBlock&& other) noexcept;

  std::byte* data() const { return data_; }
  // Usable bytes: what was asked for.
  size_t size() const { return size_; }
  bool is_large() const { return mapped_bytes_ != 0; }

  // How many huge pages the kernel backs the block with at this moment; 0 for
  // heap blocks and pages not touched yet. Reads /proc: for reports only. An
  // upper bound where the kernel has joined neighbouring mappings.
  size_t huge_pages_granted() const;

 private:
  void map(size_t bytes);

  std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::byte* mapping_ = nullptr;  // Null for heap blocks.
  size_t mapped_bytes_ = 0;
};

// Huge pages among the mappings of `smaps` (text of /proc/self/smaps) that
// overlap [begin, end), at most as many as fit in.
size_t count_huge_pages(const std::string& smaps, size_t begin, size_t end);

// The kernel's mode for transparent huge pages, "always", "madvise" or "never";
// "unavailable" when it has none. For --version and reports.
std::string transparent_huge_page_state();
// The word in brackets in the text of .../transparent_hugepage/enabled.
std::string parse_huge_page_state(const std::string& text);

}  // namespace fxjit::support
