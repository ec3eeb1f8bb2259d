// Relocatable objects of one program, as compiled: what the disk cache and
// ahead-of-time packages store. Holds no addresses and no process state.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/engine/compiled_code.h"

namespace fxjit::jit {

struct ObjectBundle {
  std::vector<std::string> objects;  // Bytes of one ELF file each.
  CompileTimings timings;            // Not serialised.

  // Bytes that parse_bundle reads back.
  std::string serialise() const;
};

// Empty when `bytes` are not a bundle.
std::optional<ObjectBundle> parse_bundle(std::span<const std::byte> bytes);

}  // namespace fxjit::jit
