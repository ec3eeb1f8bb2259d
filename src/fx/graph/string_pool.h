// Interned strings with stable addresses: the names and targets of a graph.
// Nothing is ever removed; all is freed with the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace fxjit::fx {

class StringPool {
 public:
  StringPool() = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  // The pool's copy of `text`.
  std::string_view intern(std::string_view text);
  // As above, and tells whether it was not there before.
  std::string_view intern(std::string_view text, bool* added);
  bool contains(std::string_view text) const;

 private:
  struct Slot {
    const char* data = nullptr;
    uint32_t size = 0;
    uint32_t hash = 0;
  };
  static constexpr size_t kBlockBytes = size_t{16} << 10;

  size_t find_slot(std::string_view text, uint32_t hash) const;
  void grow();
  const char* store(std::string_view text);

  std::vector<Slot> slots_;  // Open addressing, a power of two.
  size_t count_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t free_bytes_ = 0;
};

}  // namespace fxjit::fx
