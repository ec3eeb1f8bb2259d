// What a driver reads and calls while it runs. Generated code knows these
// structures by the offsets of their fields.
#pragma once

#include <cstdint>

#include "src/program/steps/step_code.h"

namespace fxjit::program {

// A step that the driver runs by calling its kernel.
struct DriverStep {
  KernelFn kernel = nullptr;
  int64_t tasks = 0;
};

// The numbers of a program, the same in all calls.
struct DriverFrame {
  const Executable* executable = nullptr;
  const DriverStep* steps = nullptr;  // One per step of the driver.
  // By DriverForm::operands, in bytes from the first element of the tensor.
  const int64_t* offsets = nullptr;
};

// The caller's tensors: their first elements.
struct DriverIo {
  void* const* inputs;
  void* const* outputs;
};

// A call of a primitive of oneDNN: its handles.
struct PrimitiveCall {
  void* primitive = nullptr;
  void* stream = nullptr;
  void* arguments = nullptr;  // dnnl_exec_arg_t.
  int32_t count = 0;
  void* const* memories = nullptr;  // By argument.
};

// The working memory of one call at a time. Operands in the arena and constant
// ones are in place before the driver runs; it sets those of the caller's.
struct DriverState {
  void** operands = nullptr;
  StepCall* calls = nullptr;  // One per step of the driver, for one thread.
  // One per step of the driver, empty for those that are none.
  PrimitiveCall* primitives = nullptr;
  // Not 0: every step is run by fxjit_run_step, which takes its time.
  int32_t observed = 0;
};

// Runs the steps. Not 0: fxjit_run_step returned that, and no later step ran.
using DriverFn = int32_t (*)(const DriverFrame* frame, const DriverIo* io,
                             DriverState* state);

// Runs step `step` of the driver: on several threads, by a routine, or with a
// clock around it. Exceptions do not pass through generated code: what the step
// throws is kept in the state. Not 0: it threw, or an earlier step failed and
// this one must not write any more; the driver returns at once.
extern "C" int32_t fxjit_run_step(const DriverFrame* frame, DriverState* state,
                                  int32_t step);

}  // namespace fxjit::program
