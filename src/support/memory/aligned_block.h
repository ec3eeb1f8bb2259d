// Owning blocks of raw bytes for tensors, arenas and packed weights. Small ones
// come from the heap, large ones from mmap with huge pages asked for. Called by
// everything that stores elements; knows nothing of dtypes.
#pragma once

#include <cstddef>
#include <memory>
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

  // A block for memory that is read again and again, such as packed weights.
  // From kWorthHugePage bytes on, its last, partly used huge page is a whole
  // one as well, which saves address translations.
  static AlignedBlock in_huge_pages(size_t bytes);

  std::byte* data() const { return data_.get(); }
  // Usable bytes: what was asked for.
  size_t size() const { return data_ ? size_ : 0; }
  bool is_large() const { return data_.get_deleter().mapped_bytes > 0; }

 private:
  struct Free {
    size_t mapped_bytes;  // 0 for heap blocks.
    void operator()(std::byte* data) const;
  };
  void map(size_t bytes);

  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

// The kernel's mode for transparent huge pages, "always", "madvise" or "never";
// "unavailable" when it has none. For --version and reports.
std::string transparent_huge_page_state();
// The word in brackets in the text of .../transparent_hugepage/enabled.
std::string parse_huge_page_state(const std::string& text);

}  // namespace fxjit::support
