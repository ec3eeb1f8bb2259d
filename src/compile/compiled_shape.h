// One compiled program of a module with what a call of it needs: the inputs it
// serves, how outputs are made, what to report. Immutable and shared.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fxjit/compile.h"
#include "src/program/executable.h"
#include "src/support/block_pool.h"

namespace fxjit {

// Shapes, dtypes and strides of the tensors, and the other values.
size_t hash_inputs(std::span<const Value> inputs);

class CompiledShape {
 public:
  struct Parts {
    ValueList signature;  // Inputs with meta tensors in place of tensors.
    std::unique_ptr<program::Executable> executable;
    Profile timings;
    size_t code_bytes = 0;
    std::string why_not;  // Not empty: the interpreter serves these inputs.
  };

  explicit CompiledShape(Parts parts) : parts_(std::move(parts)) {}

  bool serves(std::span<const Value> inputs) const;
  bool native() const { return parts_.executable != nullptr; }
  const std::string& why_not() const { return parts_.why_not; }
  const program::Executable& executable() const { return *parts_.executable; }
  const Profile& timings() const { return parts_.timings; }
  size_t bytes() const;

  Value run(std::span<const Value> inputs, support::BlockPool& blocks,
            program::StepTimes* times = nullptr) const;

  // A heading line and one line per step.
  std::string report() const;

 private:
  Parts parts_;
};

}  // namespace fxjit
