// The inputs that a program writes. Their memory must not overlap with anything
// else that the program reads; calls in which it does are interpreted.
#pragma once

#include <span>
#include <vector>

#include "src/compile/tensor_bytes.h"
#include "src/program/steps/program.h"

namespace fxjit {

// Immutable and thread-safe.
class WrittenInputs {
 public:
  WrittenInputs() = default;
  WrittenInputs(const program::Program& program,
                const std::vector<Tensor>& constants);

  // Whether each written input is writable and overlaps with no other input and
  // no constant. Takes the time of sorting the inputs, and none for programs
  // that write none.
  bool are_apart(std::span<const Tensor* const> inputs) const;

 private:
  bool meets_constant(const Bytes& bytes) const;

  std::vector<bool> written_;     // By input; empty where none is.
  std::vector<Bytes> constants_;  // In order; those that overlap are joined.
};

}  // namespace fxjit
