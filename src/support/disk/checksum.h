// A 128-bit checksum of bytes that come in pieces: tells damage, not malice.
// Used by files that must be read back as they were written.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fxjit::support {

class Checksum {
 public:
  Checksum();
  ~Checksum();
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  std::string hex() const;  // 32 digits.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fxjit::support
