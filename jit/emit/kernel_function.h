// The LLVM function that a step's kernel is: its signature, attributes and the
// fields of its StepCall. For all code skeletons of jit/emit/ and whoever
// assembles modules from them.
#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "jit/emit/vector_builder.h"
#include "src/program/driver/frame.h"
#include "src/program/steps/step_code.h"

namespace fxjit::jit {

// An exported, empty function of the type of program::TileFn and
// program::AttentionFn, void name(const Call* call); with a range, of
// program::KernelFn's: void name(const StepCall* call, i64 begin, i64 end).
llvm::Function* make_function(llvm::Module& module, std::string_view name,
                              bool has_range);
// Of program::DriverFn's: i32 name(ptr frame, ptr io, ptr state).
llvm::Function* make_driver_function(llvm::Module& module,
                                     std::string_view name);

// One that can be called as an Fn.
template <typename Fn>
llvm::Function* make_function(llvm::Module& module, std::string_view name) {
  if constexpr (std::is_same_v<Fn, program::DriverFn>)
    return make_driver_function(module, name);
  else
    return make_function(module, name, std::is_same_v<Fn, program::KernelFn>);
}

// A field of a structure that does not change while the kernel runs.
Value* load_constant(VectorBuilder& b, llvm::Type* type, Value* base,
                     size_t offset);

// A field of the call that a kernel is given.
Value* call_pointer(VectorBuilder& b, size_t field);
Value* call_number(VectorBuilder& b, size_t field);

// Reads of program::StepCall at the builder's position, within a function
// that has a range.
class KernelArgs {
 public:
  explicit KernelArgs(VectorBuilder& b) : b_(b) {}

  Value* begin() const { return b_.arg(1); }
  Value* end() const { return b_.arg(2); }
  // First element of the step's operand number `index`.
  Value* operand(size_t index) const;
  Value* scratch() const {
    return call_pointer(b_, offsetof(program::StepCall, scratch));
  }
  // What the step's code was given with it.
  Value* data() const {
    return call_pointer(b_, offsetof(program::StepCall, data));
  }
  // Sets the call's status; threads may race to store the same.
  void fail(int32_t status) const;

 private:
  VectorBuilder& b_;
};

}  // namespace fxjit::jit
