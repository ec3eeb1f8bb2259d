// How the steps of a program are run: on how many threads, how many tasks at a
// time, on which operands, and thereby which driver the program needs. The bind
// stage makes it before there is code; Executable follows it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/program/driver/form.h"
#include "src/program/steps/program.h"

namespace fxjit::program {

// A step that has tasks, and how they are run.
struct Launch {
  int32_t step;           // Of the program.
  int32_t first_operand;  // Into Schedule::operands.
  int64_t tasks;
  int64_t chunk;  // Tasks that a thread takes at a time.
  int threads;
};

struct Schedule {
  std::vector<Launch> launches;       // One per step of the driver.
  std::vector<OperandRef> operands;   // Without a buffer: never read.
  std::vector<int64_t> call_offsets;  // DriverFrame::offsets.
  DriverForm driver;
};

// `plans` and `externals` have one element for each step. A null external
// stands for a generated kernel.
Schedule make_schedule(
    const Program& program, std::span<const StepPlan> plans,
    std::span<const std::shared_ptr<const ExternCode>> externals,
    int max_threads);

}  // namespace fxjit::program
