// Steps that no skeleton computes, as code: their specifications become
// routines, primitives of oneDNN, eager functions and calls of other programs.
#pragma once

#include <memory>
#include <vector>

#include "fxjit/tensor.h"
#include "src/fx/control_flow/functions.h"
#include "src/program/running/executable.h"
#include "src/weights/packer.h"

namespace fxjit::bind {

// What the steps of one program are made with.
struct Surroundings {
  const program::Program& program;
  const std::vector<Tensor>& constants;
  // By place in Program::bodies.
  const std::vector<std::shared_ptr<const program::Executable>>& bodies;
  const fx::LoopLimits& limits;
  weights::Packer& packer;
};

// Null where the library has no fast code for a LibraryProduct.
std::shared_ptr<const program::ExternCode> make_external(
    const program::Step& step, const Surroundings& around);

}  // namespace fxjit::bind
