// Results of a call in memory of the caller's: checks, and what a program may
// compute straight into it.
#pragma once

#include <span>

#include "fxjit/value.h"
#include "src/program/steps/program.h"

namespace fxjit {

// UserError for tensors that no result can be written to: without data, read
// only, with elements that share a place, or overlapping one another.
void check_bound_outputs(std::span<const Tensor> bound);

// UserError unless there is one for each output, of its dtype and sizes.
void check_bound_outputs(std::span<const Tensor> bound,
                         const program::Program& program);

// Whether a program may write `output`, which has all of `buffer`, straight to
// `bound` while it reads `inputs`.
bool can_write_straight(const Tensor& bound,
                        const program::Program::Output& output,
                        const program::Buffer& buffer,
                        std::span<const Value> inputs);

// `result` with `bound` as its tensors, copied to where they are not there
// already. UserError, and nothing copied, unless counts, dtypes and sizes
// agree.
Value copy_to_bound(const Value& result, std::span<const Tensor> bound);

}  // namespace fxjit
