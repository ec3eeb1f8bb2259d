#include "src/program/running/executable.h"

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "fxjit/error.h"
#include "src/program/driver/primitive_code.h"
#include "src/support/machine/cache_line.h"
#include "src/support/machine/flush_to_zero.h"
#include "src/support/memory/aligned_block.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::round_up;

constexpr size_t kCacheLine = support::kCacheLine;
// Each thread's status is in a cache line of its own.
constexpr size_t kStatusStride = kCacheLine / sizeof(int32_t);

}  // namespace

// The state of one call at a time.
struct Executable::Context : DriverState {
  explicit Context(std::atomic<int>& contexts) : count(contexts) {
    count.fetch_add(1, std::memory_order_relaxed);
  }
  ~Context() { count.fetch_sub(1, std::memory_order_relaxed); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // For the next call.
  void begin(StepTimes* times_of_call) {
    times = times_of_call;
    observed = times != nullptr;
    writes = 0;
    for (size_t i = 0; i < status.size(); i += kStatusStride) status[i] = kOk;
  }
  int32_t worst_status() const {
    int32_t worst = kOk;
    for (size_t i = 0; i < status.size(); i += kStatusStride)
      worst = std::max(worst, status[i]);
    return worst;
  }

  std::atomic<int>& count;
  std::byte* memory = nullptr;  // Where operands and scratch were placed.
  std::vector<void*> all_operands;
  std::vector<StepCall> all_calls;
  std::vector<PrimitiveCall> all_primitives;
  std::vector<std::unique_ptr<BoundPrimitive>> bound;  // One per launch.
  std::vector<int32_t> status;  // Per thread, so that none is shared.
  StepTimes* times = nullptr;
  size_t writes = 0;  // Writers that have run.
  std::exception_ptr error;
};

Executable::Executable(Parts parts) : parts_(std::move(parts)) {
  const Program& program = parts_.program;
  FXJIT_CHECK(parts_.kernels.size() == program.steps.size() &&
                  parts_.plans.size() == program.steps.size(),
              "one kernel and plan per step");
  arena_bytes_ = round_up(static_cast<size_t>(program.arena_bytes), kCacheLine);
  for (const StepPlan& plan : parts_.plans)
    thread_scratch_ =
        std::max(thread_scratch_, round_up(plan.scratch_bytes, kCacheLine));
  scratch_bytes_ =
      thread_scratch_ * static_cast<size_t>(std::max(1, parts_.max_threads));
  fill_frame();
  memory_->expect(call_bytes());
}

Executable::~Executable() { memory_->forget(call_bytes()); }

void Executable::fill_frame() {
  const std::vector<Launch>& launches = parts_.schedule.launches;
  for (size_t i = 0; i < launches.size(); ++i) {
    const auto step = static_cast<size_t>(launches[i].step);
    steps_.push_back({parts_.kernels[step].kernel, launches[i].tasks});
    if (external(step) && external(step)->writes_inputs())
      writers_.push_back(static_cast<int32_t>(i));
  }
  frame_ = {this, steps_.data(), parts_.schedule.call_offsets.data()};
}

// Null where calls bring their own, and where nothing is read.
std::byte* Executable::base_of(const OperandRef& ref,
                               const Context& context) const {
  if (ref.buffer < 0) return nullptr;
  const Buffer& buffer = parts_.program.buffers[ref.buffer];
  switch (buffer.home) {
    case Home::arena:
      return context.memory + buffer.offset;
    case Home::constant:
      return static_cast<std::byte*>(
          parts_.constants[static_cast<size_t>(buffer.index)].data());
    case Home::packed:
      return static_cast<std::byte*>(
          const_cast<void*>(parts_.packed[buffer.index]));
    case Home::input:
    case Home::output:
      break;
  }
  return nullptr;
}

std::unique_ptr<Executable::Context> Executable::make_context() const {
  auto context = std::make_unique<Context>(contexts_);
  context->status.resize(static_cast<size_t>(parts_.max_threads) *
                         kStatusStride);
  context->all_operands.resize(parts_.schedule.operands.size());
  context->operands = context->all_operands.data();
  for (size_t i = 0; i < parts_.schedule.launches.size(); ++i)
    add_call(i, *context);
  context->calls = context->all_calls.data();
  context->primitives = context->all_primitives.data();
  return context;
}

void Executable::add_call(size_t number, Context& context) const {
  const Launch& launch = parts_.schedule.launches[number];
  const StepCode& code = parts_.kernels[static_cast<size_t>(launch.step)];
  StepCall& call = context.all_calls.emplace_back();
  call.operands = context.operands + launch.first_operand;
  call.status = context.status.data();
  call.data = code.data.get();
  if (code.external) call.part = code.kernel;
  context.all_primitives.emplace_back();
  auto& bound = context.bound.emplace_back();
  if (parts_.schedule.driver.steps[number] != StepBy::primitive) return;
  bound = primitive_code(code.external.get())->bind();
  context.all_primitives.back() = bound->call();
}

// Tells the state where the working memory of the calls to come lies.
void Executable::place(std::byte* memory, Context& context) const {
  context.memory = memory;
  const Schedule& schedule = parts_.schedule;
  for (size_t i = 0; i < schedule.operands.size(); ++i) {
    std::byte* const base = base_of(schedule.operands[i], context);
    context.all_operands[i] =
        base ? base + schedule.operands[i].byte_offset : nullptr;
  }
  for (StepCall& call : context.all_calls)
    call.scratch = scratch_bytes_ ? memory + arena_bytes_ : nullptr;
  for (size_t i = 0; i < context.bound.size(); ++i)
    if (context.bound[i]) place_primitive(i, context);
}

// Operands of the caller's are set by the driver.
void Executable::place_primitive(size_t number, Context& context) const {
  using Kind = PrimitiveArgument::Kind;
  const auto step = static_cast<size_t>(parts_.schedule.launches[number].step);
  const StepCall& call = context.all_calls[number];
  size_t next = 0;
  for (const PrimitiveArgument& argument :
       primitive_code(external(step))->arguments())
    context.bound[number]->set(
        next++, argument.kind == Kind::operand ? call.operands[argument.operand]
                : argument.kind == Kind::constant
                    ? const_cast<void*>(argument.constant)
                    : call.scratch);
}

void Executable::run(std::span<void* const> inputs,
                     std::span<void* const> outputs, StepTimes* times) const {
  std::optional<support::ThreadPool::RequestScope> request;
  if (parts_.max_threads > 1) request.emplace(*parts_.pool);
  Session(*this).run(inputs, outputs, times);
}

Executable::Session::Session(const Executable& executable)
    : executable_(executable), context_(executable.kept_.take()) {
  const size_t bytes = executable.call_bytes();
  if (bytes) memory_ = executable.memory_->take(bytes);
  std::byte* const memory = memory_ ? memory_->data() : nullptr;
  const bool fresh = !context_;
  if (fresh) context_ = executable.make_context();
  if (fresh || context_->memory != memory) executable.place(memory, *context_);
}

Executable::Session::~Session() {
  executable_.kept_.give(std::move(context_));
  if (memory_) executable_.memory_->give(std::move(memory_));
}

void Executable::Session::run(std::span<void* const> inputs,
                              std::span<void* const> outputs,
                              StepTimes* times) {
  context_->begin(times);
  executable_.drive({inputs.data(), outputs.data()}, *context_);
  if (context_->error) {
    executable_.undo_writes(*context_);
    std::rethrow_exception(std::exchange(context_->error, nullptr));
  }
  if (times) ++times->calls;
  const int32_t status = context_->worst_status();
  if (status == kOk) return;
  executable_.undo_writes(*context_);
  // Either way the interpreter computes the call: oneDNN fails, for one, while
  // the process ends.
  throw ValueFailure(status == kIndexOutOfRange
                         ? "index out of range in self"
                         : "a step of the compiled program failed");
}

// What failed is in the context.
void Executable::drive(const DriverIo& io, Context& context) const {
  std::optional<support::FlushToZero> flush;
  if (parts_.flushes_to_zero) flush.emplace();
  parts_.driver(&frame_, &io, &context);
}

// The interpreter computes a call that fails, from the inputs that were given:
// nothing is written to them any more.
bool Executable::run_step(int32_t step, Context& context) const {
  const Launch& launch = parts_.schedule.launches[static_cast<size_t>(step)];
  const ExternCode* const routine = external(static_cast<size_t>(launch.step));
  const bool writes = routine && routine->writes_inputs();
  if (writes && context.worst_status() != kOk) return false;
  StepCall& call = context.calls[step];
  call.bodies = nullptr;
  if (context.times)
    run_timed(launch, call, *context.times);
  else
    run_tasks(launch, call);
  if (writes) ++context.writes;
  return true;
}

void Executable::run_timed(const Launch& launch, StepCall& call,
                           StepTimes& times) const {
  using Clock = std::chrono::steady_clock;
  const auto step = static_cast<size_t>(launch.step);
  if (external(step) && !external(step)->bodies().empty())
    call.bodies = &times.bodies[launch.step];
  const auto start = Clock::now();
  run_tasks(launch, call);
  times.nanoseconds[step] +=
      std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

void Executable::run_tasks(const Launch& launch, const StepCall& call) const {
  const StepCode& code = parts_.kernels[static_cast<size_t>(launch.step)];
  const auto run = [&](const StepCall& mine, int64_t begin, int64_t end) {
    if (code.external)
      code.external->run(mine, begin, end);
    else
      code.kernel(&mine, begin, end);
  };
  // Code that may throw has a single task.
  if (launch.threads == 1) return run(call, 0, launch.tasks);
  const auto on_thread = [&](int64_t begin, int64_t end, int thread) {
    StepCall mine = call;
    mine.scratch += thread_scratch_ * static_cast<size_t>(thread);
    mine.status += kStatusStride * static_cast<size_t>(thread);
    std::optional<support::FlushToZero> flush;
    if (parts_.flushes_to_zero) flush.emplace();
    run(mine, begin, end);
  };
  parts_.pool->parallel_for(launch.tasks, on_thread, launch.threads,
                            launch.chunk);
}

void Executable::undo_writes(Context& context) const {
  while (context.writes > 0) {
    const int32_t step = writers_[--context.writes];
    const Launch& launch = parts_.schedule.launches[static_cast<size_t>(step)];
    StepCall call{};
    call.operands = context.calls[step].operands;
    external(static_cast<size_t>(launch.step))->undo(call);
  }
}

int32_t fxjit_run_step(const DriverFrame* frame, DriverState* state,
                       int32_t step) {
  auto& context = *static_cast<Executable::Context*>(state);
  try {
    return frame->executable->run_step(step, context) ? 0 : 1;
  } catch (const abi::__forced_unwind&) {
    throw;  // The thread is being ended, which nothing may stop.
  } catch (...) {
    context.error = std::current_exception();
    return 1;
  }
}

}  // namespace fxjit::program
