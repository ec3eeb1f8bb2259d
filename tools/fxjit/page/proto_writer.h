// Messages of protocol buffers, field by field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fxjit::command {

class ProtoWriter {
 public:
  ProtoWriter& number(uint32_t field, int64_t value);
  ProtoWriter& real(uint32_t field, float value);
  // Text, bytes, or a message within.
  ProtoWriter& text(uint32_t field, std::string_view bytes);
  ProtoWriter& message(uint32_t field, const ProtoWriter& inner) {
    return text(field, inner.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value);
  std::string bytes_;
};

}  // namespace fxjit::command
