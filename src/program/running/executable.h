// Executable: a Program with its driver, kernels and weights, ready to run.
// Immutable and shared: any number of threads may call run() at the same time.
// A repeated call allocates nothing and takes no lock: the state of a call is
// kept in a few slots and handed from call to call, working memory is that of
// the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "fxjit/thread_pool.h"
#include "src/program/driver/schedule.h"
#include "src/program/steps/program.h"
#include "src/program/steps/step_code.h"
#include "src/support/memory/spare_slots.h"
#include "src/support/memory/working_memory.h"

namespace fxjit::program {

class Executable;
class PrimitiveCode;

// The times of all steps of one or more calls, for reports.
struct StepTimes {
  int64_t calls = 0;
  std::vector<double> nanoseconds;  // One per step.
  // For steps that call programs (by the step's number): the times of these
  // programs, in their order.
  std::map<int32_t, std::vector<StepTimes>> bodies;

  // One row for each step. The steps of branches and bodies follow the step
  // that calls them.
  struct Row {
    std::string body;  // "true", "body.true"; empty outside of bodies.
    const Step* step = nullptr;
    const StepPlan* plan = nullptr;
    const ExternCode* external = nullptr;  // Null: generated.
    double calls = 0;
    double nanoseconds = 0;
  };
  std::vector<Row> rows(const Executable& executable) const;
  // Adds the times of a later call that took the same steps.
  void add(const StepTimes& more);
  // Divides all times, which turns sums into averages.
  void divide(int by);
  double mean_calls() const;
  int divided_by = 1;
};

class Executable {
 public:
  struct Parts {
    Program program;
    std::vector<Tensor> constants;  // One per Program::constants.
    std::vector<StepCode> kernels;  // One per step.
    std::vector<StepPlan> plans;    // One per step.
    Schedule schedule;
    DriverFn driver = nullptr;               // Of the schedule's form.
    std::vector<const void*> packed;         // One per packed weight.
    std::shared_ptr<const void> keep_alive;  // Code and weights.
    // Whether calls treat denormal numbers as zeros.
    bool flushes_to_zero = false;
    int max_threads = 1;
    support::ThreadPool* pool = nullptr;  // Needed above one thread.
  };

  explicit Executable(Parts parts);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const Program& program() const { return parts_.program; }
  const std::vector<Tensor>& constants() const { return parts_.constants; }
  const std::vector<StepPlan>& plans() const { return parts_.plans; }
  // The extern code of a step; null for a step with a generated kernel.
  const ExternCode* external(size_t step) const {
    return parts_.kernels[step].external.get();
  }
  int max_threads() const { return parts_.max_threads; }
  const DriverForm& driver() const { return parts_.schedule.driver; }

  // Several calls of one thread, one after the other, with the same working
  // memory.
  class Session;

  // Runs all steps. `inputs` and `outputs` are first elements, in the order of
  // the program's input and output buffers; shapes were checked by the caller.
  // Throws ValueFailure for values that a step refuses, RuntimeError when an
  // extern step fails. Adds to `times` when given.
  void run(std::span<void* const> inputs, std::span<void* const> outputs,
           StepTimes* times = nullptr) const;

  // Bytes of working memory (arena and scratch of all threads). It is that of
  // one call times the most calls that ran at the same time.
  size_t working_bytes() const {
    const auto contexts = static_cast<size_t>(contexts_.load());
    return std::max<size_t>(1, contexts) * call_bytes();
  }

 private:
  struct Context;
  friend int32_t fxjit_run_step(const DriverFrame* frame, DriverState* state,
                                int32_t step);

  void fill_frame();
  std::byte* base_of(const OperandRef& ref, const Context& context) const;
  size_t call_bytes() const { return arena_bytes_ + scratch_bytes_; }
  std::unique_ptr<Context> make_context() const;
  void place(std::byte* memory, Context& context) const;
  void add_call(size_t launch, Context& context) const;
  void place_primitive(size_t number, Context& context) const;
  void drive(const DriverIo& io, Context& context) const;
  bool run_step(int32_t step, Context& context) const;
  void run_tasks(const Launch& launch, const StepCall& call) const;
  void run_timed(const Launch& launch, StepCall& call, StepTimes& times) const;
  void undo_writes(Context& context) const;

  // The most states of calls that are kept. Calls beyond this many at a time
  // allocate theirs anew.
  static constexpr int kKeptContexts = 16;

  Parts parts_;
  std::vector<DriverStep> steps_;
  std::vector<int32_t> writers_;  // Launches that write inputs.
  DriverFrame frame_;
  size_t arena_bytes_ = 0;
  size_t thread_scratch_ = 0;
  size_t scratch_bytes_ = 0;
  const std::shared_ptr<support::WorkingMemory> memory_ =
      support::WorkingMemory::shared();
  mutable std::atomic<int> contexts_ = 0;  // Kept ones and those of calls.
  mutable support::SpareSlots<Context, kKeptContexts> kept_;
};

class Executable::Session {
 public:
  explicit Session(const Executable& executable);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // As Executable::run, for a caller that has opened a request of the thread
  // pool itself.
  void run(std::span<void* const> inputs, std::span<void* const> outputs,
           StepTimes* times = nullptr);

 private:
  const Executable& executable_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<support::AlignedBlock> memory_;  // Null if none is needed.
};

}  // namespace fxjit::program
