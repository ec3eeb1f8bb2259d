// By what a step of a compiled program is computed.
#pragma once

#include <cstdint>
#include <string_view>

namespace fxjit {

enum class ComputedBy : uint8_t {
  generated,    // Machine code made for it.
  library,      // A primitive of oneDNN.
  routine,      // A loop of C++ that is part of the library.
  eager,        // The op's eager function, inside the compiled program.
  interpreter,  // The interpreter, between compiled parts of the graph.
};

// All but `eager` and `interpreter`, which are slow and reported with a reason.
constexpr bool is_native(ComputedBy by) {
  return by != ComputedBy::eager && by != ComputedBy::interpreter;
}

constexpr std::string_view computed_by_name(ComputedBy by) {
  switch (by) {
    case ComputedBy::generated: return "generated";
    case ComputedBy::library: return "library";
    case ComputedBy::routine: return "routine";
    case ComputedBy::eager: return "eager";
    case ComputedBy::interpreter: return "interpreter";
  }
  return "";
}

}  // namespace fxjit
