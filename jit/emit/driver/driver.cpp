#include <llvm/IR/Module.h>

#include "jit/emit/skeletons.h"
#include "src/program/driver/frame.h"

namespace fxjit::jit {
namespace {

using program::CallOperand;
using program::DriverForm;
using program::DriverFrame;
using program::DriverIo;
using program::DriverState;
using program::DriverStep;

// Straight code that is compiled without optimisation: what steps share is
// loaded once by hand, and a block ends only where a step may fail.
class Driver {
 public:
  Driver(VectorBuilder& b, const DriverForm& form)
      : b_(b), ir_(b.ir()), form_(form), stopped_(block("stopped")) {}

  void emit() {
    set_operands();
    llvm::BasicBlock* const steps = block("steps");
    llvm::BasicBlock* const observed = block("observed");
    Value* const is_observed =
        load(b_.i32(), state(), offsetof(DriverState, observed), "is_observed");
    ir_.CreateCondBr(ir_.CreateICmpNE(is_observed, b_.i32(0)), observed, steps);
    begin(steps);
    run_steps();
    begin(observed);
    run_observed();
    begin(stopped_);
    ir_.CreateRet(b_.i32(1));
  }

 private:
  Value* frame() { return b_.arg(0); }
  Value* io() { return b_.arg(1); }
  Value* state() { return b_.arg(2); }

  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.context(), name);
  }
  // Blocks stand in the order in which they are filled.
  void begin(llvm::BasicBlock* block) {
    block->insertInto(&b_.function());
    ir_.SetInsertPoint(block);
  }

  Value* load(llvm::Type* type, Value* base, size_t bytes, const char* name) {
    return ir_.CreateLoad(type, b_.offset_bytes(base, int64_t(bytes)), name);
  }

  // Puts the addresses of the caller's tensors where steps look for them.
  void set_operands() {
    if (form_.operands.empty()) return;
    Value* const slots =
        load(b_.ptr(), state(), offsetof(DriverState, operands), "operands");
    Value* const offsets =
        load(b_.ptr(), frame(), offsetof(DriverFrame, offsets), "offsets");
    const CallOperand* before = nullptr;
    Value* tensor = nullptr;
    for (size_t i = 0; i < form_.operands.size(); ++i) {
      const CallOperand& operand = form_.operands[i];
      if (!before || before->output != operand.output ||
          before->index != operand.index)
        tensor = first_element(operand);
      before = &operand;
      Value* const bytes =
          load(b_.i64(), offsets, i * sizeof(int64_t), "offset");
      ir_.CreateStore(
          b_.offset_bytes(tensor, bytes),
          b_.offset_bytes(slots, int64_t(operand.slot) * sizeof(void*)));
    }
  }

  Value* first_element(const CallOperand& operand) {
    Value* const tensors =
        operand.output
            ? load(b_.ptr(), io(), offsetof(DriverIo, outputs), "outputs")
            : load(b_.ptr(), io(), offsetof(DriverIo, inputs), "inputs");
    return load(b_.ptr(), tensors, size_t(operand.index) * sizeof(void*),
                operand.output ? "output" : "input");
  }

  void run_steps() {
    Value* const steps =
        load(b_.ptr(), frame(), offsetof(DriverFrame, steps), "steps");
    Value* const calls =
        load(b_.ptr(), state(), offsetof(DriverState, calls), "calls");
    for (size_t i = 0; i < form_.steps.size(); ++i) switch (form_.steps[i]) {
        case program::StepBy::kernel:
          call_kernel(steps, calls, i);
          break;
        case program::StepBy::primitive:
          call_primitive(i);
          break;
        case program::StepBy::runtime:
          run_step(b_.i32(int32_t(i)));
          break;
      }
    ir_.CreateRet(b_.i32(0));
  }

  void call_kernel(Value* steps, Value* calls, size_t i) {
    const size_t step = i * sizeof(DriverStep);
    Value* const kernel =
        load(b_.ptr(), steps, step + offsetof(DriverStep, kernel), "kernel");
    Value* const tasks =
        load(b_.i64(), steps, step + offsetof(DriverStep, tasks), "tasks");
    auto* const type = llvm::FunctionType::get(
        ir_.getVoidTy(), {b_.ptr(), b_.i64(), b_.i64()}, false);
    Value* const call =
        b_.offset_bytes(calls, int64_t(i * sizeof(program::StepCall)));
    ir_.CreateCall(type, kernel, {call, b_.i64(0), tasks});
  }

  // The runtime does again what oneDNN fails at, and reports it.
  void call_primitive(size_t i) {
    llvm::BasicBlock* const entered = block("entered");
    llvm::BasicBlock* const failed = block("failed");
    llvm::BasicBlock* const next = block("next");
    Value* const threads = call_library("fxjit_enter_onednn", {}, "threads");
    ir_.CreateCondBr(ir_.CreateICmpEQ(threads, b_.i32(0)), failed, entered);
    begin(entered);
    Value* const status = execute(i);
    llvm::FunctionCallee leave = b_.module().getOrInsertFunction(
        "fxjit_leave_onednn", ir_.getVoidTy(), b_.i32());
    ir_.CreateCall(leave, {threads});
    ir_.CreateCondBr(ir_.CreateICmpNE(status, b_.i32(0)), failed, next);
    begin(failed);
    run_step(b_.i32(int32_t(i)));
    ir_.CreateBr(next);
    begin(next);
  }

  // Its status.
  Value* execute(size_t i) {
    using program::PrimitiveCall;
    Value* const call =
        b_.offset_bytes(load(b_.ptr(), state(),
                             offsetof(DriverState, primitives), "primitives"),
                        int64_t(i * sizeof(PrimitiveCall)));
    Value* status = b_.i32(0);
    for (const program::CallArgument& argument : form_.arguments)
      if (size_t(argument.step) == i)
        status = ir_.CreateOr(status, set_memory(call, argument));
    // Without a primitive oneDNN refuses the call: so on wrong addresses.
    Value* const primitive = ir_.CreateSelect(
        ir_.CreateICmpEQ(status, b_.i32(0)),
        load(b_.ptr(), call, offsetof(PrimitiveCall, primitive), "primitive"),
        llvm::ConstantPointerNull::get(ir_.getPtrTy()));
    return call_library(
        "dnnl_primitive_execute",
        {primitive,
         load(b_.ptr(), call, offsetof(PrimitiveCall, stream), "stream"),
         load(b_.i32(), call, offsetof(PrimitiveCall, count), "count"),
         load(b_.ptr(), call, offsetof(PrimitiveCall, arguments), "arguments")},
        "status");
  }

  Value* set_memory(Value* call, const program::CallArgument& argument) {
    Value* const memories = load(
        b_.ptr(), call, offsetof(program::PrimitiveCall, memories), "memories");
    Value* const operands =
        load(b_.ptr(), state(), offsetof(DriverState, operands), "operands");
    return call_library(
        "dnnl_memory_set_data_handle",
        {load(b_.ptr(), memories, size_t(argument.argument) * sizeof(void*),
              "memory"),
         load(b_.ptr(), operands, size_t(argument.slot) * sizeof(void*),
              "operand")},
        "set");
  }

  // A function of the library that returns its status.
  Value* call_library(const char* name, const Values& arguments,
                      const char* result) {
    std::vector<llvm::Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    llvm::FunctionCallee function = b_.module().getOrInsertFunction(
        name, llvm::FunctionType::get(b_.i32(), types, false));
    return ir_.CreateCall(function, arguments, result);
  }

  // Leaves the driver where the step did not run to its end.
  void run_step(Value* step) {
    llvm::FunctionCallee runtime = b_.module().getOrInsertFunction(
        "fxjit_run_step", b_.i32(), b_.ptr(), b_.ptr(), b_.i32());
    Value* const stops =
        ir_.CreateCall(runtime, {frame(), state(), step}, "stops");
    llvm::BasicBlock* const next = block("next");
    ir_.CreateCondBr(ir_.CreateICmpNE(stops, b_.i32(0)), stopped_, next);
    begin(next);
  }

  // One step after the other by the runtime.
  void run_observed() {
    b_.loop(b_.i32(0), b_.i32(int32_t(form_.steps.size())), b_.i32(1),
            [&](Value* step) { run_step(step); });
    ir_.CreateRet(b_.i32(0));
  }

  VectorBuilder& b_;
  llvm::IRBuilder<>& ir_;
  const DriverForm& form_;
  llvm::BasicBlock* const stopped_;
};

}  // namespace

void emit(VectorBuilder& b, const DriverForm& form) { Driver(b, form).emit(); }

}  // namespace fxjit::jit
