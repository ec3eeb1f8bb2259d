// Drivers: which kernels they call, on what, and what of it is in their code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/engine/compiler.h"
#include "jit/engine/ir_module.h"
#include "src/program/driver/schedule.h"
#include "src/program/steps/program.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::DriverForm;
using program::StepBy;
using program::StepCall;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

IrModule driver_of(const DriverForm& form) {
  IrModule ir = make_ir_module("driver");
  ir.effort = Effort::fast_compile;
  VectorBuilder b(*make_function<program::DriverFn>(*ir.module, "driver"),
                  host_cpu_level());
  emit(b, form);
  return ir;
}

struct Seen {
  int kernel;
  int64_t begin, end;
  std::vector<void*> operands;
};
std::vector<Seen>* seen = nullptr;

template <int kNumber, size_t kOperands>
void kernel(const StepCall* call, int64_t begin, int64_t end) {
  seen->push_back(
      {kNumber, begin, end, {call->operands, call->operands + kOperands}});
}

// Two steps: the first reads the second input and writes what the other reads,
// the other writes the output, from its fourth byte on.
class DriverTest : public ::testing::Test {
 protected:
  DriverTest() {
    form_.steps = {StepBy::kernel, StepBy::kernel};
    form_.operands = {{0, 1, false}, {3, 0, true}};
    calls_[0].operands = operands_.data();
    calls_[1].operands = operands_.data() + 2;
    seen = &seen_;
  }

  int32_t run(program::DriverFn driver) {
    const program::DriverFrame frame{nullptr, steps_.data(), offsets_.data()};
    void* const inputs[] = {&bytes_[0], &bytes_[8]};
    void* const outputs[] = {&bytes_[16]};
    const program::DriverIo io{inputs, outputs};
    program::DriverState state{operands_.data(), calls_.data(),
                               primitives_.data(), 0};
    return driver(&frame, &io, &state);
  }

  Compiler compiler_{EngineOptions{}};
  DriverForm form_;
  std::array<char, 32> bytes_{};
  std::array<void*, 4> operands_{nullptr, &bytes_[24], &bytes_[24], nullptr};
  std::array<StepCall, 2> calls_{};
  std::array<program::PrimitiveCall, 2> primitives_{};
  std::array<program::DriverStep, 2> steps_{
      {{kernel<0, 2>, 5}, {kernel<1, 2>, 7}}};
  std::array<int64_t, 2> offsets_{0, 4};
  std::vector<Seen> seen_;
};

TEST_F(DriverTest, CallsKernelsInOrderOnAllTheirTasks) {
  const auto code = compiler_.link(compiler_.compile(driver_of(form_)));
  const auto driver =
      code->function<std::remove_pointer_t<program::DriverFn>>("driver");
  EXPECT_EQ(run(driver), 0);
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].kernel, 0);
  EXPECT_EQ(seen_[0].begin, 0);
  EXPECT_EQ(seen_[0].end, 5);
  EXPECT_THAT(seen_[0].operands, ElementsAre(&bytes_[8], &bytes_[24]));
  EXPECT_EQ(seen_[1].kernel, 1);
  EXPECT_EQ(seen_[1].end, 7);
  EXPECT_THAT(seen_[1].operands, ElementsAre(&bytes_[24], &bytes_[20]));
}

// One piece of code, other kernels, tasks and places.
TEST_F(DriverTest, ProgramsOfOneStructureShareIt) {
  const auto code = compiler_.link(compiler_.compile(driver_of(form_)));
  const auto driver =
      code->function<std::remove_pointer_t<program::DriverFn>>("driver");
  EXPECT_EQ(run(driver), 0);
  steps_ = {{{kernel<2, 2>, 1}, {kernel<3, 2>, 9}}};
  offsets_ = {2, 0};
  EXPECT_EQ(run(driver), 0);
  ASSERT_EQ(seen_.size(), 4u);
  EXPECT_EQ(seen_[2].kernel, 2);
  EXPECT_THAT(seen_[2].operands, ElementsAre(&bytes_[10], &bytes_[24]));
  EXPECT_EQ(seen_[3].end, 9);
  EXPECT_THAT(seen_[3].operands, ElementsAre(&bytes_[24], &bytes_[16]));
}

// What stands for oneDNN here.
struct Library {
  std::vector<std::pair<void*, void*>> set;
  std::vector<std::array<void*, 3>> executed;  // Primitive, stream, arguments.
  int32_t count = 0;
  int inside = 0, left = 0;
};
Library library;

int32_t enter() {
  ++library.inside;
  return 8;
}
void leave(int32_t threads) {
  --library.inside;
  library.left = threads;
}
int32_t set_data_handle(void* memory, void* address) {
  EXPECT_EQ(library.inside, 1);
  library.set.emplace_back(memory, address);
  return 0;
}
int32_t execute(void* primitive, void* stream, int32_t count, void* arguments) {
  EXPECT_EQ(library.inside, 1);
  library.executed.push_back({primitive, stream, arguments});
  library.count = count;
  return 0;
}

// A kernel, then a primitive whose second argument is the output.
TEST_F(DriverTest, CallsPrimitivesThroughTheirLibrary) {
  library = {};
  const std::pair<const char*, void*> symbols[] = {
      {"fxjit_enter_onednn", reinterpret_cast<void*>(&enter)},
      {"fxjit_leave_onednn", reinterpret_cast<void*>(&leave)},
      {"dnnl_memory_set_data_handle",
       reinterpret_cast<void*>(&set_data_handle)},
      {"dnnl_primitive_execute", reinterpret_cast<void*>(&execute)}};
  EngineOptions options;
  options.symbols = symbols;
  const Compiler compiler(options);
  form_.steps[1] = StepBy::primitive;
  form_.arguments = {{1, 1, 3}};
  const auto code = compiler.link(compiler.compile(driver_of(form_)));
  char handles[5];
  void* const memories[] = {&handles[3], &handles[4]};
  primitives_[1] = {&handles[0], &handles[1], &handles[2], 2, memories};
  EXPECT_EQ(
      run(code->function<std::remove_pointer_t<program::DriverFn>>("driver")),
      0);
  EXPECT_EQ(seen_.size(), 1u);
  using Set = std::pair<void*, void*>;
  EXPECT_THAT(library.set, ElementsAre(Set(&handles[4], &bytes_[20])));
  ASSERT_EQ(library.executed.size(), 1u);
  EXPECT_THAT(library.executed[0],
              ElementsAre(&handles[0], &handles[1], &handles[2]));
  EXPECT_EQ(library.count, 2);
  EXPECT_EQ(library.inside, 0);
  EXPECT_EQ(library.left, 8);
}

// From the block of that name to the next return.
std::string block_of(const std::string& ir, const std::string& name) {
  const size_t at = ir.find("\n" + name + ":");
  return at == std::string::npos ? ""
                                 : ir.substr(at, ir.find("ret i32", at) - at);
}

TEST_F(DriverTest, TheRuntimeServesOnlyWhatNeedsIt) {
  const std::string direct = compiler_.text(driver_of(form_)).ir;
  EXPECT_THAT(block_of(direct, "steps"), HasSubstr("call void %kernel"));
  EXPECT_THAT(block_of(direct, "steps"), Not(HasSubstr("fxjit_run_step")));
  EXPECT_THAT(block_of(direct, "observed"), HasSubstr("@fxjit_run_step"));
  form_.steps[1] = StepBy::runtime;
  const std::string mixed = compiler_.text(driver_of(form_)).ir;
  EXPECT_THAT(block_of(mixed, "steps"), HasSubstr("call void %kernel"));
  EXPECT_THAT(block_of(mixed, "steps"),
              HasSubstr("call i32 @fxjit_run_step(ptr %frame, ptr %state, "
                        "i32 1)"));
}

// Unoptimised code is instrumented as other code is.
TEST_F(DriverTest, SanitizersSeeItsAccesses) {
  EngineOptions options;
  options.sanitizer = Sanitizer::address;
  EXPECT_THAT(Compiler(options).text(driver_of(form_)).ir,
              HasSubstr("__asan_"));
  options.sanitizer = Sanitizer::thread;
  EXPECT_THAT(Compiler(options).text(driver_of(form_)).ir,
              HasSubstr("__tsan_"));
}

TEST(DriverForms, KeysTellStructuresApart) {
  const DriverForm one{{StepBy::kernel}, {{0, 0, false}, {1, 0, true}}};
  DriverForm other = one;
  EXPECT_EQ(form_key(one), form_key(other));
  other.steps[0] = StepBy::runtime;
  EXPECT_NE(form_key(one), form_key(other));
  other = one;
  other.operands[0].slot = 2;
  EXPECT_NE(form_key(one), form_key(other));
  other = one;
  other.operands[0].output = true;
  EXPECT_NE(form_key(one), form_key(other));
  other = one;
  other.steps.push_back(StepBy::kernel);
  EXPECT_NE(form_key(one), form_key(other));
}

// A row step of 64 numbers, from the input to the output.
program::Program copies(int count) {
  program::Program made;
  made.buffers = {{program::Home::input, 256, 0, 0},
                  {program::Home::output, 256, 0, 0}};
  for (int i = 0; i < count; ++i)
    made.steps.push_back({program::StepBody(program::RowStep()),
                          {{0, 0}, {1, 16}},
                          "copy",
                          {}});
  return made;
}

TEST(DriverForms, StepsOfOneThreadAreCalledDirectly) {
  const program::Program program = copies(3);
  const std::vector<program::StepPlan> plans = {
      {.tasks = 1}, {.tasks = 64, .grain = 8}, {.tasks = 0}};
  const std::vector<std::shared_ptr<const program::ExternCode>> none(3);
  const auto one = program::make_schedule(program, plans, none, 1);
  EXPECT_THAT(one.driver.steps, ElementsAre(StepBy::kernel, StepBy::kernel));
  const auto two = program::make_schedule(program, plans, none, 2);
  EXPECT_THAT(two.driver.steps, ElementsAre(StepBy::kernel, StepBy::runtime));
  // Both steps with tasks read the input and write the output.
  using program::CallOperand;
  EXPECT_THAT(one.driver.operands,
              ElementsAre(CallOperand{0, 0, false}, CallOperand{2, 0, false},
                          CallOperand{1, 0, true}, CallOperand{3, 0, true}));
  EXPECT_THAT(one.call_offsets, ElementsAre(0, 0, 16, 16));
}

// Fast threads can take more of a long step, however few its tasks are.
TEST(DriverForms, LongStepsAreTakenInSeveralRuns) {
  const program::Program program = copies(4);
  const std::vector<program::StepPlan> plans = {
      {.tasks = 26, .flops = 1e8},
      {.tasks = 26, .bytes = 1e7},
      {.tasks = 26, .flops = 1e6, .bytes = 1e5},
      {.tasks = 26, .grain = 6, .together = 4, .flops = 1e8}};
  const std::vector<std::shared_ptr<const program::ExternCode>> none(4);
  const auto made = program::make_schedule(program, plans, none, 2);
  std::vector<int64_t> chunks;
  for (const program::Launch& launch : made.launches)
    chunks.push_back(launch.chunk);
  EXPECT_THAT(chunks, ElementsAre(4, 4, 13, 8));
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
