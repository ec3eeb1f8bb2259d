// The 64-bit word from which the threads of one region claim chunks. Used by
// RegionSlot only; a pure value, so that its arithmetic can be tested alone.
//
//   bits 63..32 epoch | 31..24 joined | 23..12 high | 11..0 low
//
// Chunks [low, high) are unclaimed; the region is open while low < high. Every
// claim is one compare-and-swap of the whole word, so a thread that looked at
// an older epoch, or at the same one before somebody else's claim, fails.
// Threads of even index take from the low end and those of odd index from the
// high end: with two threads each keeps a contiguous half of the data, the same
// one in the next region.
#pragma once

#include <cstdint>

namespace fxjit::support {

class ClaimWord {
 public:
  static constexpr int64_t kMaxChunks = (1 << 12) - 1;
  static constexpr int kMaxThreads = (1 << 8) - 1;

  explicit constexpr ClaimWord(uint64_t bits) : bits_(bits) {}

  // A region of `chunks` of which thread 0, the caller, holds chunk 0.
  static constexpr ClaimWord opened(uint32_t epoch, int64_t chunks) {
    return ClaimWord(uint64_t{epoch} << kEpochShift | kOneJoined |
                     static_cast<uint64_t>(chunks) << kHighShift | kOneLow);
  }

  constexpr uint64_t bits() const { return bits_; }
  constexpr int64_t low() const { return bits_ & kFieldMask; }
  constexpr int64_t high() const { return bits_ >> kHighShift & kFieldMask; }
  constexpr int joined() const {
    return static_cast<int>(bits_ >> kJoinedShift & 0xff);
  }
  constexpr bool open() const { return low() < high(); }

  // What a claim by thread `index` yields and leaves. Only while open().
  constexpr int64_t next_chunk(int index) const {
    return from_high(index) ? high() - 1 : low();
  }
  constexpr ClaimWord claimed(int index) const {
    return ClaimWord(from_high(index) ? bits_ - kOneHigh : bits_ + kOneLow);
  }
  // A new thread of index joined(); only while below the limit of threads.
  constexpr ClaimWord with_joined() const {
    return ClaimWord(bits_ + kOneJoined);
  }

 private:
  static constexpr int kHighShift = 12;
  static constexpr int kJoinedShift = 24;
  static constexpr int kEpochShift = 32;
  static constexpr uint64_t kFieldMask = (1 << 12) - 1;
  static constexpr uint64_t kOneLow = 1;
  static constexpr uint64_t kOneHigh = uint64_t{1} << kHighShift;
  static constexpr uint64_t kOneJoined = uint64_t{1} << kJoinedShift;

  static constexpr bool from_high(int index) { return index & 1; }

  uint64_t bits_;
};

}  // namespace fxjit::support
