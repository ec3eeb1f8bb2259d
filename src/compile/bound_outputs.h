// Results in tensors that the caller brings ("bound" outputs): checks of these
// tensors, and which results a program may compute straight into them.
#pragma once

#include <span>

#include "fxjit/value.h"
#include "src/program/steps/program.h"

namespace fxjit {

// Throws UserError for a tensor that no result can be written to: it has no
// data, is read-only, has elements that share a place, or overlaps another one.
void check_bound_outputs(std::span<const Tensor> bound);

// Throws UserError unless there is one tensor for each output of the program,
// with its dtype and sizes.
void check_bound_outputs(std::span<const Tensor> bound,
                         const program::Program& program);

// Whether a program with these inputs may write `output` straight to `bound`.
// The output must take all of `buffer`, the program's buffer for it.
bool can_write_straight(const Tensor& bound,
                        const program::Program::Output& output,
                        const program::Buffer& buffer,
                        std::span<const Value> inputs);

// `result` with the tensors `bound` in place of its own. Elements are copied
// unless they are there already. Throws UserError, and copies nothing, if
// counts, dtypes or sizes differ.
Value copy_to_bound(const Value& result, std::span<const Tensor> bound);

}  // namespace fxjit
