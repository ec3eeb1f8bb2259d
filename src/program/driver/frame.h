// What a driver reads and calls while it runs. Generated code knows these
// structures by the offsets of their fields, so that their order is part of the
// driver's interface.
#pragma once

#include <cstdint>

#include "src/program/steps/step_code.h"

namespace fxjit::program {

// A step that the driver runs by calling its kernel.
struct DriverStep {
  KernelFn kernel = nullptr;
  int64_t tasks = 0;
};

// The data of a program that are the same in all calls.
struct DriverFrame {
  const Executable* executable = nullptr;
  const DriverStep* steps = nullptr;  // One per step of the driver.
  // For each element of DriverForm::operands, the offset of the operand in
  // bytes from the tensor's first element.
  const int64_t* offsets = nullptr;
};

// The first elements of the caller's tensors.
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

// The working memory of one call. Addresses of operands in the arena and of
// constants are set before the driver runs; the driver sets those of the
// caller's tensors.
struct DriverState {
  void** operands = nullptr;
  StepCall* calls = nullptr;  // One per step of the driver, for one thread.
  // One per step of the driver, empty for those that are no primitives.
  PrimitiveCall* primitives = nullptr;
  // If not 0, the driver runs every step by fxjit_run_step, which measures its
  // time.
  int32_t observed = 0;
};

// Runs all steps. Returns 0, or what fxjit_run_step returned if that is not 0;
// no later step has run then.
using DriverFn = int32_t (*)(const DriverFrame* frame, const DriverIo* io,
                             DriverState* state);

// Runs step `step` of the driver on several threads, by extern code, or with
// its time measured. An exception cannot pass through generated code, so it is
// kept in `state`. Returns 0, or another number if the step has thrown, or if
// an earlier step has failed and this one would write the caller's memory. The
// driver then returns at once.
extern "C" int32_t fxjit_run_step(const DriverFrame* frame, DriverState* state,
                                  int32_t step);

}  // namespace fxjit::program
