// What a program takes beside code, weights and working memory: the memory of a
// module's programs is bounded (CompileOptions::memory_cap), and programs of
// small shapes consist of little else.
#pragma once

#include <cstddef>

#include <vector>

#include "fxjit/tensor.h"
#include "src/program/steps/program.h"

namespace fxjit::program {

// Bytes of steps, buffers, constants that nothing but the program holds, and
// oneDNN's primitives; an estimate that is rather too high. Of bodies what
// describes them: their executables hold the rest.
size_t described_bytes(const Program& program,
                       const std::vector<Tensor>& constants);

}  // namespace fxjit::program
