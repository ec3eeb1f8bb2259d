// Memory against pages that fault on any access, to the byte: an access of one
// element too far ends the test program, whether or not a sanitizer watches the
// code that makes it. For the tests of everything that computes in memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>

namespace fxjit::support {

class GuardedBytes {
 public:
  // Which end lies against a page that faults; behind the other one there may
  // be the rest of a page, full of zeros, and then such a page, too.
  enum class Tight { end, begin };

  explicit GuardedBytes(size_t size, Tight tight = Tight::end) : size_(size) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t used = (size + page - 1) / page * page;
    mapped_ = used + 2 * page;
    void* mapping =
        mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(mapping);
    if (used > 0 && mprotect(base_ + page, used, PROT_READ | PROT_WRITE) != 0) {
      munmap(base_, mapped_);
      throw std::bad_alloc();
    }
    data_ = base_ + page + (tight == Tight::end ? used - size : 0);
  }
  // A copy of `bytes`.
  explicit GuardedBytes(std::span<const std::byte> bytes,
                        Tight tight = Tight::end)
      : GuardedBytes(bytes.size(), tight) {
    if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
  }
  ~GuardedBytes() { munmap(base_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  size_t mapped_ = 0;
  std::byte* base_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace fxjit::support
