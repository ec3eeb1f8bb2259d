// The instruction that adds four products of bytes, and the body that tests put
// in its place where this machine lacks it.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <vector>

namespace fxjit::jit::testing {

inline bool is_dot(const llvm::Instruction& instruction) {
  const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getCalledFunction()->getName().contains("vpdpbusd");
}

// Sums and four products of bytes each, without and with a sign.
inline llvm::Value* portable_dot(llvm::IRBuilder<>& b, const llvm::User& call) {
  auto* const type =
      llvm::cast<llvm::FixedVectorType>(call.getOperand(0)->getType());
  const int count = static_cast<int>(type->getNumElements());
  llvm::Type* const bytes =
      llvm::FixedVectorType::get(b.getInt8Ty(), 4 * count);
  llvm::Type* const wide =
      llvm::FixedVectorType::get(b.getInt32Ty(), 4 * count);
  llvm::Value* const products = b.CreateMul(
      b.CreateZExt(b.CreateBitCast(call.getOperand(1), bytes), wide),
      b.CreateSExt(b.CreateBitCast(call.getOperand(2), bytes), wide));
  llvm::Value* sums = call.getOperand(0);
  for (int part = 0; part < 4; ++part) {
    std::vector<int> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(4 * i + part);
    sums = b.CreateAdd(sums, b.CreateShuffleVector(products, lanes));
  }
  return sums;
}

// Puts the body in place of each, and returns how many there were.
inline int replace_dots(llvm::Function& function) {
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction& each : llvm::instructions(function))
    if (is_dot(each)) found.push_back(&each);
  for (llvm::Instruction* const call : found) {
    llvm::IRBuilder<> b(call);
    call->replaceAllUsesWith(portable_dot(b, *call));
    call->eraseFromParent();
  }
  function.removeFnAttr("target-features");
  return static_cast<int>(found.size());
}

}  // namespace fxjit::jit::testing
