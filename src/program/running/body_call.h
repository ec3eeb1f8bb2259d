// Calls of a program by a step of another program, as branches and loops make
// them: where its inputs come from, and how its results get to where the step
// wants them. Used by control_code.cpp.
#pragma once

#include <cstddef>
#include <vector>

#include "src/program/running/executable.h"
#include "src/support/memory/small_array.h"

namespace fxjit::program {

// Alignment, in bytes, of each buffer in the memory of a step.
inline constexpr size_t kScratchAlignment = 64;

// What is the same in all calls of one program. The step wants each result in
// its own memory, with the dtype, shape and strides of a meta tensor in
// `wanted`. The program writes it there if it can; otherwise it is copied.
class BodyPlan {
 public:
  BodyPlan(const Executable& program, const ValueList& wanted);

  const Executable& program() const { return *program_; }
  // Bytes of scratch for results that have to be copied.
  size_t scratch_bytes() const { return scratch_bytes_; }
  // The program's input that result `i` is, unchanged; -1 for another value.
  int32_t input_of(size_t i) const { return outputs_[i].same_input; }
  // For a program whose result is a flag that is known when it is planned, that
  // flag; null for tensors.
  const Value& known() const { return known_; }

 private:
  friend class BodyCall;
  struct Output {
    int32_t buffer = -1;  // Which output of the program; -1: none computed.
    int32_t same_input = -1;
    bool straight = false;  // The program writes to the step's memory.
    Tensor from;            // Where in its memory, else.
    Tensor wanted;
    const void* constant = nullptr;
    int32_t input = -1;
    int64_t byte_offset = 0;
    size_t bytes = 0;  // Not 0: a copy of as many bytes.
  };
  struct Block {
    int32_t straight = -1;  // The output that this block is written to.
    size_t scratch = 0;
  };
  void add_output(const Program::Output& output, const Tensor& wanted);

  const Executable* program_;
  Value known_;
  std::vector<Output> outputs_;
  std::vector<Block> blocks_;
  size_t scratch_bytes_ = 0;
  bool copies_ = false;
};

// Calls the program, once or many times, during one run of the step.
class BodyCall {
 public:
  BodyCall(const BodyPlan& plan, std::byte* scratch);

  using Pointers = support::SmallArray<void*, 12>;
  Pointers& inputs() { return inputs_; }
  // Where each result lies; one for each result.
  Pointers& results() { return results_; }
  void run(StepTimes* times);

 private:
  void copy(const BodyPlan::Output& output, void* to) const;

  const BodyPlan& plan_;
  std::byte* const scratch_;
  Executable::Session session_;
  Pointers inputs_, results_, blocks_;
};

}  // namespace fxjit::program
