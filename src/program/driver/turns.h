// Steps that take turns, place by place of their images: each reads what the
// one before has just written while it is in the second-level cache, which the
// whole of it would leave. Used by the planner, which keeps their memory apart,
// and by the schedule. Pure analysis of a program.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/program/steps/program.h"

namespace fxjit::program {

// `count` steps from `first` on. Each reads the result of the one before as its
// first operand and nothing else that is written here, in the order of places.
struct Chain {
  int32_t first = 0;
  int32_t count = 0;

  friend bool operator==(const Chain&, const Chain&) = default;
};

// Those of a program that is run by one thread, from the first step to the
// last.
std::vector<Chain> chains_of(const Program& program);

// A call of a kernel: tasks [begin, end) of a step, counted within the chain.
struct Turn {
  int32_t step = 0;
  int64_t begin = 0, end = 0;

  friend bool operator==(const Turn&, const Turn&) = default;
};

// All tasks of a chain's steps, each after those that it depends on.
std::vector<Turn> turns_of(std::span<const Step> steps);

}  // namespace fxjit::program
