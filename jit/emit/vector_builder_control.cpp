// VectorBuilder: loops and branches.
#include <llvm/IR/Constants.h>

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {
namespace {

// Whether lo < hi is known while emitting, so that no guard is needed.
bool surely_runs(const Value* lo, const Value* hi) {
  auto* first = llvm::dyn_cast<llvm::ConstantInt>(lo);
  auto* last = llvm::dyn_cast<llvm::ConstantInt>(hi);
  return first != nullptr && last != nullptr &&
         first->getSExtValue() < last->getSExtValue();
}

}  // namespace

// The test stands at the end, after a guard before the first iteration. LLVM
// would otherwise have to rotate the loop into that order.
Values VectorBuilder::loop(Value* lo, Value* hi, Value* step,
                           const Values& init, LoopBody body) {
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  auto* inside = llvm::BasicBlock::Create(context(), "loop", &function_);
  auto* after = llvm::BasicBlock::Create(context(), "done", &function_);
  const bool guarded = !surely_runs(lo, hi);
  if (guarded) {
    ir_.CreateCondBr(ir_.CreateICmpSLT(lo, hi), inside, after);
  } else {
    ir_.CreateBr(inside);
  }

  ir_.SetInsertPoint(inside);
  llvm::PHINode* index = ir_.CreatePHI(lo->getType(), 2);
  index->addIncoming(lo, before);
  std::vector<llvm::PHINode*> phis;
  for (Value* value : init) {
    phis.push_back(ir_.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
  }
  const Values results = body(index, Values(phis.begin(), phis.end()));

  llvm::BasicBlock* latch = ir_.GetInsertBlock();
  Value* next = ir_.CreateNSWAdd(index, step);
  index->addIncoming(next, latch);
  ir_.CreateCondBr(ir_.CreateICmpSLT(next, hi), inside, after);
  for (size_t i = 0; i < phis.size(); ++i) {
    phis[i]->addIncoming(results[i], latch);
  }

  after->moveAfter(latch);
  ir_.SetInsertPoint(after);
  Values out;
  for (size_t i = 0; i < init.size(); ++i) {
    llvm::PHINode* phi = ir_.CreatePHI(init[i]->getType(), 2);
    if (guarded) phi->addIncoming(init[i], before);
    phi->addIncoming(results[i], latch);
    out.push_back(phi);
  }
  return out;
}

void VectorBuilder::loop(Value* lo, Value* hi, Value* step,
                         llvm::function_ref<void(Value*)> body) {
  loop(lo, hi, step, Values{}, [&](Value* index, const Values&) {
    body(index);
    return Values{};
  });
}

void VectorBuilder::loop_by(Value* lo, Value* hi,
                            llvm::function_ref<Value*(Value*)> body) {
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  auto* inside = llvm::BasicBlock::Create(context(), "loop", &function_);
  auto* after = llvm::BasicBlock::Create(context(), "done", &function_);
  ir_.CreateCondBr(ir_.CreateICmpSLT(lo, hi), inside, after);
  ir_.SetInsertPoint(inside);
  llvm::PHINode* index = ir_.CreatePHI(lo->getType(), 2);
  index->addIncoming(lo, before);
  Value* next = ir_.CreateNSWAdd(index, body(index));
  llvm::BasicBlock* latch = ir_.GetInsertBlock();
  index->addIncoming(next, latch);
  ir_.CreateCondBr(ir_.CreateICmpSLT(next, hi), inside, after);
  after->moveAfter(latch);
  ir_.SetInsertPoint(after);
}

void VectorBuilder::if_then(Value* condition, llvm::function_ref<void()> body) {
  auto* inside = llvm::BasicBlock::Create(context(), "then", &function_);
  auto* after = llvm::BasicBlock::Create(context(), "end", &function_);
  ir_.CreateCondBr(condition, inside, after);
  ir_.SetInsertPoint(inside);
  body();
  ir_.CreateBr(after);
  after->moveAfter(ir_.GetInsertBlock());
  ir_.SetInsertPoint(after);
}

Values VectorBuilder::if_else(Value* condition,
                              llvm::function_ref<Values()> then,
                              llvm::function_ref<Values()> otherwise) {
  auto* yes = llvm::BasicBlock::Create(context(), "then", &function_);
  auto* no = llvm::BasicBlock::Create(context(), "else", &function_);
  auto* after = llvm::BasicBlock::Create(context(), "end", &function_);
  ir_.CreateCondBr(condition, yes, no);

  ir_.SetInsertPoint(yes);
  const Values from_yes = then();
  llvm::BasicBlock* yes_end = ir_.GetInsertBlock();
  ir_.CreateBr(after);

  ir_.SetInsertPoint(no);
  const Values from_no = otherwise();
  llvm::BasicBlock* no_end = ir_.GetInsertBlock();
  ir_.CreateBr(after);

  after->moveAfter(no_end);
  ir_.SetInsertPoint(after);
  Values out;
  for (size_t i = 0; i < from_yes.size(); ++i) {
    llvm::PHINode* phi = ir_.CreatePHI(from_yes[i]->getType(), 2);
    phi->addIncoming(from_yes[i], yes_end);
    phi->addIncoming(from_no[i], no_end);
    out.push_back(phi);
  }
  return out;
}

}  // namespace fxjit::jit
