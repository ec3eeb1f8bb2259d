// Estimates of the work of bodies and loops. Plans of steps take their flops,
// bytes and grain from here.
#pragma once

#include <cstdint>

#include "fxjit/cpu_level.h"
#include "fxjit/dims.h"
#include "fxjit/scalar_body.h"
#include "src/program/steps/loop_form.h"

namespace fxjit::program {

// A lower bound of the time of `prim` on a vector, in vector multiply-adds of
// f32. An operation that may be part of a multiply-add counts half. Decisions
// about code use prim_cost(), which is rougher.
double limit_cost(Prim prim, CpuLevel level);

// The cost of a body for one element, in units of prim_cost().
double body_cost(const ScalarBody& body);

// A lower bound of the floating-point operations for one element, two for a
// multiply-add.
double operations(const ScalarInstr& instr, CpuLevel level);
double body_operations(const ScalarBody& body, CpuLevel level);

// The number of distinct elements of an operand; dims of stride 0 count once.
double extent(const Dims& sizes, const Dims& strides);
// Bytes that the loops touch. Each byte of an operand counts once, but gathered
// rows count each time.
double touched_bytes(const Loops& loops);

// How many tasks of work `each` make up the work `enough`, which is worth
// handing to another thread.
int64_t grain_of(double enough, double each);
// The same for tasks of `elements` elements, with a body of cost `cost` in
// units of prim_cost().
int64_t grain_of_elements(int64_t elements, double cost);
// Multiply-adds of a contraction that are enough for a thread: about 5 us of
// one core.
inline constexpr double kGrainProducts = 250e3;
// Bytes that are enough for a thread where few rows read them faster than they
// multiply: about 1.2 us of one core from its caches.
inline constexpr double kGrainBytes = 128 << 10;

}  // namespace fxjit::program
