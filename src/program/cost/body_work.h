// What bodies and walks over memory take, for the plans of steps.
#pragma once

#include <cstdint>

#include "fxjit/cpu_level.h"
#include "fxjit/dims.h"
#include "fxjit/scalar_body.h"
#include "src/program/steps/loop_form.h"

namespace fxjit::program {

// Vector multiply-adds of f32 that take the time of `prim` on as many elements
// at the least: half of one for what may be part of a multiply-add. Decisions
// about code go by prim_cost, which is rougher.
double limit_cost(Prim prim, CpuLevel level);

// In units of prim_cost().
double body_cost(const ScalarBody& body);

// Operations at the least, two of a multiply-add.
double operations(const ScalarInstr& instr, CpuLevel level);
double body_operations(const ScalarBody& body, CpuLevel level);

// How many elements an operand of these strides has.
double extent(const Dims& sizes, const Dims& strides);
// Each byte of every operand counts once; picked rows count each time.
double touched_bytes(const Loops& loops);

// Tasks that are worth handing to another thread: work of `enough`, where each
// task has `each`.
int64_t grain_of(double enough, double each);
// The same for tasks of `elements` elements by a body of such a cost.
int64_t grain_of_elements(int64_t elements, double cost);
// Enough multiply-adds of a contraction: about 5 us of one core.
inline constexpr double kGrainProducts = 250e3;

}  // namespace fxjit::program
