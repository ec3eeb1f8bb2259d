// The order that interleave_chains gives to straight-line code.
#include "jit/emit/interleave.h"

#include <gtest/gtest.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>

#include <memory>
#include <string>
#include <vector>

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {
namespace TEST_FILE {

class Interleave : public ::testing::Test {
 protected:
  Interleave() : module_("test", context_) {
    llvm::Type* pointer = llvm::PointerType::get(context_, 0);
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_),
                                         {pointer, pointer}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                       "f", module_);
    b_ = std::make_unique<VectorBuilder>(*function_, CpuLevel::avx512);
  }

  // A chain of `length` products behind a load from argument `index`.
  Value* chain(int index, int length, const std::string& name) {
    Value* x = b_->load(DType::f32, b_->arg(index));
    for (int i = 0; i < length; ++i) {
      x = b_->mul(x, x);
      x->setName(name + std::to_string(i));
    }
    return x;
  }

  // Of the chains' products in their order: "a0 b0 a1".
  std::string order() {
    std::string text;
    for (const llvm::Instruction& instruction : function_->front()) {
      if (!instruction.hasName()) continue;
      text += (text.empty() ? "" : " ") + instruction.getName().str();
    }
    return text;
  }

  void finish() {
    b_->ret();
    EXPECT_FALSE(llvm::verifyModule(module_));
  }

  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::Function* function_ = nullptr;
  std::unique_ptr<VectorBuilder> b_;
};

TEST_F(Interleave, PutsChainsSideBySide) {
  Value* a = chain(0, 3, "a");
  Value* b = chain(1, 3, "b");
  b_->add(a, b)->setName("sum");
  EXPECT_EQ(order(), "a0 a1 a2 b0 b1 b2 sum");
  interleave_chains(function_->front(), nullptr, 8);
  EXPECT_EQ(order(), "a0 b0 a1 b1 a2 b2 sum");
  finish();
}

TEST_F(Interleave, StartsTheLongestChainFirst) {
  Value* a = chain(0, 1, "a");
  Value* b = chain(1, 3, "b");
  b_->add(a, b)->setName("sum");
  interleave_chains(function_->front(), nullptr, 8);
  EXPECT_EQ(order(), "b0 b1 a0 b2 sum");
  finish();
}

TEST_F(Interleave, KeepsTheOrderWhereItWouldNeedTooManyRegisters) {
  Value* a = chain(0, 3, "a");
  Value* b = chain(1, 3, "b");
  b_->add(a, b)->setName("sum");
  interleave_chains(function_->front(), nullptr, 1);
  EXPECT_EQ(order(), "a0 a1 a2 b0 b1 b2 sum");
  finish();
}

TEST_F(Interleave, StopsAtTheFirstStore) {
  Value* a = chain(0, 2, "a");
  b_->store(DType::f32, a, b_->arg(0));
  Value* b = chain(1, 2, "b");
  b_->store(DType::f32, b, b_->arg(1));
  interleave_chains(function_->front(), nullptr, 8);
  EXPECT_EQ(order(), "a0 a1 b0 b1");
  finish();
}

TEST_F(Interleave, LeavesWhatStandsBeforeTheStartAlone) {
  Value* a = chain(0, 3, "a");
  Value* b = chain(1, 3, "b");
  interleave_chains(function_->front(), llvm::cast<llvm::Instruction>(a), 8);
  b_->add(a, b)->setName("sum");
  EXPECT_EQ(order(), "a0 a1 a2 b0 b1 b2 sum");
  finish();
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
