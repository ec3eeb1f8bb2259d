#include "src/program/driver/schedule.h"

#include <algorithm>
#include <tuple>

#include "src/program/driver/primitive_code.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// What takes one core some ten microseconds or more.
constexpr double kShortFlops = 4e6, kShortBytes = 1e6;

// How many runs of tasks a thread takes one after the other. Several let fast
// threads take more, which a core that shares its units with another machine's
// work, or a thread that wakes late, would hold up otherwise. Each should last
// longer than it takes to claim and, in part, to begin: a thread reads a run's
// weights anew. Routines say how many tasks are worth dividing so.
int64_t runs_per_thread(const StepPlan& plan, bool routine, int64_t per_thread,
                        int threads) {
  constexpr int64_t kMostRuns = 4, kManyTasks = 32;
  if (routine) return per_thread < kManyTasks ? 1 : kMostRuns;
  const double runs =
      std::max(plan.flops / kShortFlops, plan.bytes / kShortBytes) / threads;
  return std::clamp<int64_t>(static_cast<int64_t>(runs), 1, kMostRuns);
}

// How many tasks a thread takes at a time: neighbours, whose weights lie side
// by side. A short step gives each thread one run, so that it finds in its
// caches what it wrote in the step before. Routines have cut their work for
// the threads themselves.
int64_t chunk_of(const StepPlan& plan, bool routine, int threads) {
  const int64_t per_thread = support::ceil_div(plan.tasks, int64_t{threads});
  const int64_t run = support::ceil_div(
      per_thread, runs_per_thread(plan, routine, per_thread, threads));
  return support::round_up(std::max(plan.grain, run), plan.together);
}

class Scheduler {
 public:
  Scheduler(const Program& program, int max_threads)
      : program_(program), max_threads_(max_threads) {}

  void add(size_t step, const StepPlan& plan, const ExternCode* external) {
    if (plan.tasks == 0) return;
    const int64_t chunk = chunk_of(plan, external != nullptr, max_threads_);
    const bool parallel = plan.tasks > chunk && max_threads_ > 1;
    made_.launches.push_back({static_cast<int32_t>(step),
                              static_cast<int32_t>(made_.operands.size()),
                              plan.tasks, chunk, parallel ? max_threads_ : 1});
    const PrimitiveCode* const primitive =
        parallel ? nullptr : primitive_code(external);
    made_.driver.steps.push_back(primitive              ? StepBy::primitive
                                 : parallel || external ? StepBy::runtime
                                                        : StepBy::kernel);
    if (primitive) add_arguments(step, *primitive);
    const Step& described = program_.steps[step];
    for (size_t i = 0; i < described.operands.size(); ++i)
      add_operand(external && !external->reads(i) ? OperandRef()
                                                  : described.operands[i]);
  }

  Schedule finish() {
    std::ranges::sort(of_calls_, {}, [](const OfCall& each) {
      const CallOperand& operand = each.operand;
      return std::tuple(operand.output, operand.index, operand.slot);
    });
    for (const OfCall& each : of_calls_) {
      made_.driver.operands.push_back(each.operand);
      made_.call_offsets.push_back(each.byte_offset);
    }
    return std::move(made_);
  }

 private:
  struct OfCall {
    CallOperand operand;
    int64_t byte_offset;
  };

  bool is_of_call(const OperandRef& ref) const {
    if (ref.buffer < 0) return false;
    const Home home = program_.buffers[static_cast<size_t>(ref.buffer)].home;
    return home == Home::input || home == Home::output;
  }

  void add_arguments(size_t step, const PrimitiveCode& primitive) {
    const auto launch = static_cast<int32_t>(made_.launches.size()) - 1;
    const std::vector<PrimitiveArgument> arguments = primitive.arguments();
    for (size_t i = 0; i < arguments.size(); ++i) {
      const int32_t operand = arguments[i].operand;
      if (operand >= 0 &&
          is_of_call(
              program_.steps[step].operands[static_cast<size_t>(operand)]))
        made_.driver.arguments.push_back(
            {launch, static_cast<int32_t>(i),
             made_.launches.back().first_operand + operand});
    }
  }

  void add_operand(const OperandRef& ref) {
    const auto slot = static_cast<int32_t>(made_.operands.size());
    made_.operands.push_back(ref);
    if (!is_of_call(ref)) return;
    const Buffer& buffer = program_.buffers[static_cast<size_t>(ref.buffer)];
    of_calls_.push_back(
        {{slot, buffer.index, buffer.home == Home::output}, ref.byte_offset});
  }

  const Program& program_;
  const int max_threads_;
  Schedule made_;
  std::vector<OfCall> of_calls_;
};

}  // namespace

Schedule make_schedule(
    const Program& program, std::span<const StepPlan> plans,
    std::span<const std::shared_ptr<const ExternCode>> externals,
    int max_threads) {
  Scheduler scheduler(program, max_threads);
  for (size_t i = 0; i < plans.size(); ++i)
    scheduler.add(i, plans[i], externals[i].get());
  return scheduler.finish();
}

}  // namespace fxjit::program
