// All that can be said of a compiled call: its steps with their work, the
// memory they share, the machine code they run, and why steps were not fused.
// It is what `fxjit inspect --html` draws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/report.h"
#include "fxjit/tensor.h"

namespace fxjit {

// A piece of memory that steps read and write.
struct BufferInspection {
  enum class Home : uint8_t {
    arena,     // Working memory of the call, shared by buffers of other steps.
    constant,  // A parameter, or a tensor computed when the model was compiled.
    packed,    // Weights in the layout that a kernel streams.
    input,
    output,
  };
  Home home = Home::arena;
  // The input's or the parameter's name; weights packed together are joined by
  // commas. Empty for tensors that have no name.
  std::string name;
  Tensor val;         // A meta tensor, of inputs and constants; else undefined.
  int64_t bytes = 0;  // Of packed weights, before packing.
  int64_t offset = 0;             // In the arena.
  int32_t first = -1, last = -1;  // Steps that use it; -1: none does.
};

// One operand of a step.
struct OperandInspection {
  int32_t buffer = -1;  // Of the step's program; -1: nothing is read.
  bool written = false;
  // Why the step that computed it does not compute this step's work as well, as
  // a clause; empty where there is nothing to say.
  std::string apart;
};

// One step of a compiled program.
struct StepInspection {
  StepReport report;
  StepProfile profile;
  // "rows", "columns", "tile", "attention", "winograd", "routine"; behind a
  // program "between", a call whose result's size is data, or "interpreter".
  std::string skeleton;
  // Sizes of the loops by name, such as {"depth", "384"}.
  std::vector<std::pair<std::string, std::string>> sizes;
  std::vector<OperandInspection> operands;
  std::vector<int32_t> kernels;  // Into Inspection::kernels.
};

// Generated code, shared by equal steps. Empty where no code was asked for.
struct KernelInspection {
  std::string symbol;
  std::string ir;  // LLVM's, after optimisation.
  std::string assembly;
};

// One compiled program: of a whole graph, or of one part of it.
struct ProgramInspection {
  std::string inputs;  // As in ProgramReport.
  std::string begin;
  std::vector<BufferInspection> buffers;
  std::vector<StepInspection> steps;  // In the order in which they run.
  // Results of the call or, of a part, what later parts read.
  struct Output {
    int32_t buffer = -1;
    Tensor val;        // A meta tensor.
    std::string name;  // The node's, of a part.
  };
  std::vector<Output> outputs;
  int64_t arena_bytes = 0;
  // Runs the steps: it calls their kernels one after the other. Programs of one
  // structure share it.
  KernelInspection driver;
};

// What inspect() returns. All of it is a copy; nothing refers to the module.
struct Inspection {
  std::vector<ProgramInspection> programs;  // Parts, in the order of the call.
  std::vector<KernelInspection> kernels;
  Profile profile;  // Its steps are those of all programs, one after the other.
  int threads = 1;
  // What one core does at best, as measured: 10^9 f32 operations a second, and
  // 10^9 bytes a second from data that fits in as many bytes.
  double gflops = 0;
  std::array<std::pair<size_t, double>, 4> bandwidths{};
  // Which sizes of inputs have names, for the module's calls so far.
  std::vector<KindReport> kinds;
};

struct InspectionOptions {
  int calls = 20;    // To take the times of.
  bool code = true;  // Emit every kernel again to show its code.
};

// Runs the compiled program for these inputs and describes it. UserError when
// the module was not compiled, or these inputs stay with the interpreter.
Inspection inspect(fx::GraphModule& module, std::span<const Value> inputs,
                   const InspectionOptions& options = {});

}  // namespace fxjit
