#include "src/program/running/executable.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "fxjit/error.h"
#include "src/support/machine/cache_line.h"
#include "src/support/machine/flush_to_zero.h"
#include "src/support/memory/aligned_block.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::round_up;

constexpr size_t kCacheLine = support::kCacheLine;

// Work of some ten microseconds, too little to even out.
bool is_short(const StepPlan& plan) {
  constexpr double kShortFlops = 4e6, kShortBytes = 1e6;
  return plan.flops < kShortFlops && plan.bytes < kShortBytes;
}

// Few tasks are cut into one run per thread, so that neighbouring tasks (whose
// weights lie side by side) stay together, and short work so that threads find
// in their caches what they wrote; many are cut into more, to even out.
// Routines have cut their work for the threads themselves.
int64_t chunk_of(const StepPlan& plan, bool routine, int threads) {
  const int64_t per_thread = (plan.tasks + threads - 1) / threads;
  constexpr int64_t kManyTasks = 32;
  constexpr int64_t kRunsPerThread = 4;
  const int64_t run = per_thread < kManyTasks || (!routine && is_short(plan))
                          ? per_thread
                          : (per_thread + kRunsPerThread - 1) / kRunsPerThread;
  return round_up(std::max(plan.grain, run), plan.together);
}

}  // namespace

// Working memory of one call at a time.
struct Executable::Context {
  explicit Context(std::atomic<int>& contexts) : count(contexts) {
    count.fetch_add(1, std::memory_order_relaxed);
  }
  ~Context() { count.fetch_sub(1, std::memory_order_relaxed); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  std::atomic<int>& count;
  support::AlignedBlock arena;
  support::AlignedBlock scratch;
  std::vector<void*> operands;
  std::vector<int32_t> status;  // Per thread, so that none is shared.
};

Executable::Executable(Parts parts) : parts_(std::move(parts)) {
  const Program& program = parts_.program;
  FXJIT_CHECK(parts_.kernels.size() == program.steps.size() &&
                  parts_.plans.size() == program.steps.size(),
              "one kernel and plan per step");
  arena_bytes_ = round_up(static_cast<size_t>(program.arena_bytes), kCacheLine);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const StepPlan& plan = parts_.plans[i];
    thread_scratch_ =
        std::max(thread_scratch_, round_up(plan.scratch_bytes, kCacheLine));
    const ExternCode* const external = parts_.kernels[i].external.get();
    const int64_t chunk =
        chunk_of(plan, external != nullptr, parts_.max_threads);
    const bool parallel = plan.tasks > chunk && parts_.max_threads > 1;
    const auto first = static_cast<int32_t>(operands_.size());
    add_operands(step, external);
    if (plan.tasks == 0) continue;
    launches_.push_back({parts_.kernels[i].kernel, parts_.kernels[i].data.get(),
                         external, first, static_cast<int32_t>(i), plan.tasks,
                         chunk, parallel ? parts_.max_threads : 1});
  }
  scratch_bytes_ =
      thread_scratch_ * static_cast<size_t>(std::max(1, parts_.max_threads));
}

void Executable::add_operands(const Step& step, const ExternCode* external) {
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const OperandRef& ref = step.operands[i];
    if (external && !external->reads(i)) {
      operands_.push_back({});
      continue;
    }
    const Buffer& buffer = parts_.program.buffers[ref.buffer];
    if (buffer.home == Home::input || buffer.home == Home::output)
      patches_.push_back({static_cast<int32_t>(operands_.size()), buffer.index,
                          ref.byte_offset, buffer.home == Home::output});
    operands_.push_back(ref);
  }
}

Executable::~Executable() = default;

// Null where calls bring their own, and where nothing is read.
std::byte* Executable::base_of(const OperandRef& ref,
                               const Context& context) const {
  if (ref.buffer < 0) return nullptr;
  const Buffer& buffer = parts_.program.buffers[ref.buffer];
  switch (buffer.home) {
    case Home::arena:
      return static_cast<std::byte*>(context.arena.data()) + buffer.offset;
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
  if (arena_bytes_) context->arena = support::AlignedBlock(arena_bytes_);
  if (scratch_bytes_) context->scratch = support::AlignedBlock(scratch_bytes_);
  context->status.resize(static_cast<size_t>(parts_.max_threads) *
                         (kCacheLine / sizeof(int32_t)));
  for (const OperandRef& ref : operands_) {
    std::byte* const base = base_of(ref, *context);
    context->operands.push_back(base ? base + ref.byte_offset : nullptr);
  }
  return context;
}

void Executable::launch(const Launch& launch, Context& context,
                        std::vector<StepTimes>* bodies) const {
  // Extern kernels may throw; they then have a single task and run here.
  const auto body = [&](int64_t begin, int64_t end, int thread) {
    StepCall call;
    call.operands = context.operands.data() + launch.first_operand;
    call.scratch = static_cast<std::byte*>(context.scratch.data()) +
                   thread_scratch_ * static_cast<size_t>(thread);
    call.status = context.status.data() +
                  static_cast<size_t>(thread) * (kCacheLine / sizeof(int32_t));
    call.data = launch.data;
    call.bodies = bodies;
    std::optional<support::FlushToZero> flush;
    if (parts_.flushes_to_zero) flush.emplace();
    if (launch.external) {
      call.part = launch.kernel;
      launch.external->run(call, begin, end);
    } else {
      launch.kernel(&call, begin, end);
    }
  };
  if (launch.threads > 1)
    parts_.pool->parallel_for(launch.tasks, body, launch.threads, launch.chunk);
  else
    body(0, launch.tasks, 0);
}

void Executable::run(std::span<void* const> inputs,
                     std::span<void* const> outputs, StepTimes* times) const {
  std::optional<support::ThreadPool::RequestScope> request;
  if (parts_.max_threads > 1) request.emplace(*parts_.pool);
  Session(*this).run(inputs, outputs, times);
}

Executable::Session::Session(const Executable& executable)
    : executable_(executable), context_(executable.kept_.take()) {
  if (!context_) context_ = executable.make_context();
}

Executable::Session::~Session() { executable_.kept_.give(std::move(context_)); }

void Executable::Session::run(std::span<void* const> inputs,
                              std::span<void* const> outputs,
                              StepTimes* times) {
  const std::vector<Launch>& launches = executable_.launches_;
  for (const Patch& patch : executable_.patches_)
    context_->operands[patch.operand] =
        static_cast<std::byte*>(patch.output ? outputs[patch.index]
                                             : inputs[patch.index]) +
        patch.byte_offset;
  std::fill(context_->status.begin(), context_->status.end(), kOk);
  size_t done = 0;
  try {
    for (; done < launches.size() &&
           executable_.may_run(launches[done], *context_);
         ++done)
      executable_.launch_timed(launches[done], *context_, times);
  } catch (...) {
    executable_.undo_writes(done, *context_);
    throw;
  }
  if (times) ++times->calls;
  const int32_t status = status_of(*context_);
  if (status == kOk) return;
  executable_.undo_writes(done, *context_);
  // Either way the interpreter computes the call: oneDNN fails, for one, while
  // the process ends.
  throw ValueFailure(status == kIndexOutOfRange
                         ? "index out of range in self"
                         : "a step of the compiled program failed");
}

void Executable::launch_timed(const Launch& next, Context& context,
                              StepTimes* times) const {
  if (!times) return launch(next, context, nullptr);
  using Clock = std::chrono::steady_clock;
  const bool calls_bodies = next.external && !next.external->bodies().empty();
  const auto start = Clock::now();
  launch(next, context, calls_bodies ? &times->bodies[next.step] : nullptr);
  times->nanoseconds[next.step] +=
      std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

int32_t Executable::status_of(const Context& context) {
  return *std::max_element(context.status.begin(), context.status.end());
}

// The interpreter computes a call that fails, from the inputs that were given.
bool Executable::may_run(const Launch& next, const Context& context) const {
  return !next.external || !next.external->writes_inputs() ||
         status_of(context) == kOk;
}

void Executable::undo_writes(size_t done, Context& context) const {
  while (done-- > 0) {
    const Launch& step = launches_[done];
    if (!step.external || !step.external->writes_inputs()) continue;
    StepCall call{};
    call.operands = context.operands.data() + step.first_operand;
    step.external->undo(call);
  }
}

}  // namespace fxjit::program
