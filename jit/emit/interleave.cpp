#include "jit/emit/interleave.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <vector>

namespace fxjit::jit {
namespace {

using llvm::Instruction;

// Cycles from operands to result.
constexpr int kArithmetic = 4;
constexpr int kLoad = 7;
constexpr int kDivision = 20;
constexpr int kAddress = 1;

// Vectors that may be alive at once where several are made side by side, in
// registers or near by; the rest of AVX-512's 32 holds the body's constants.
constexpr int kMostLive = 20;

int latency(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::Load:
      return kLoad;
    case Instruction::FDiv:
      return kDivision;
    case Instruction::BitCast:
      return 0;
    case Instruction::GetElementPtr:
      return kAddress;
    default:
      return instruction.getType()->isVectorTy() ? kArithmetic : kAddress;
  }
}

// Whether the instruction's result takes a vector register. Loads from tables
// do not: they become memory operands, or stay in a register for the whole
// loop.
bool takes_register(const Instruction& instruction) {
  if (!instruction.getType()->isVectorTy()) return false;
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return load == nullptr ||
         !llvm::isa<llvm::GlobalVariable>(
             load->getPointerOperand()->stripInBoundsOffsets());
}

bool is_prefetch(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
}

std::vector<Instruction*> movable(llvm::BasicBlock& block,
                                  Instruction* before) {
  std::vector<Instruction*> run;
  auto at =
      before == nullptr ? block.begin() : std::next(before->getIterator());
  for (; at != block.end() && !at->isTerminator(); ++at) {
    if (llvm::isa<llvm::PHINode>(*at)) continue;
    if (at->mayWriteToMemory() && !is_prefetch(*at)) break;
    run.push_back(&*at);
  }
  return run;
}

using Positions = llvm::DenseMap<const Instruction*, size_t>;

Positions positions_of(const std::vector<Instruction*>& order) {
  Positions positions;
  for (size_t i = 0; i < order.size(); ++i) positions[order[i]] = i;
  return positions;
}

// For each instruction, the cycles from its start to the end of the last one
// that depends on it.
std::vector<int> heights(const std::vector<Instruction*>& run) {
  const Positions positions = positions_of(run);
  std::vector<int> height(run.size(), 0);
  for (size_t i = run.size(); i-- > 0;) {
    height[i] += latency(*run[i]);
    for (llvm::Value* operand : run[i]->operands()) {
      const auto found = positions.find(llvm::dyn_cast<Instruction>(operand));
      if (found == positions.end()) continue;
      height[found->second] = std::max(height[found->second], height[i]);
    }
  }
  return height;
}

int most_live(const std::vector<Instruction*>& order) {
  const Positions positions = positions_of(order);
  std::vector<int> change(order.size() + 1, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    if (!takes_register(*order[i])) continue;
    size_t end = i;
    for (const llvm::User* user : order[i]->users()) {
      const auto found = positions.find(llvm::cast<Instruction>(user));
      end = std::max(
          end, found == positions.end() ? order.size() - 1 : found->second);
    }
    ++change[i];
    --change[end];
  }
  int live = 0;
  int most = 0;
  for (int step : change) most = std::max(most, live += step);
  return most;
}

}  // namespace

void interleave_chains(llvm::BasicBlock& block, llvm::Instruction* before,
                       int max_live) {
  const std::vector<Instruction*> run = movable(block, before);
  const std::vector<int> height = heights(run);
  std::vector<size_t> rank(run.size());
  for (size_t i = 0; i < rank.size(); ++i) rank[i] = i;
  // No instruction moves before its operands: an operand has a greater height
  // or, if its result takes no time, an equal height and an earlier place,
  // which a stable sort keeps.
  std::stable_sort(rank.begin(), rank.end(),
                   [&](size_t a, size_t b) { return height[a] > height[b]; });
  std::vector<Instruction*> order;
  for (size_t i : rank) order.push_back(run[i]);
  if (run.empty() || most_live(order) > max_live) return;
  for (size_t i = 1; i < order.size(); ++i) order[i]->moveAfter(order[i - 1]);
}

SideBySide::SideBySide(VectorBuilder& b)
    : b_(b),
      block_(b.ir().GetInsertBlock()),
      before_(block_->empty() ? nullptr : &block_->back()) {}

void SideBySide::arrange() const {
  if (block_ == b_.ir().GetInsertBlock())
    interleave_chains(*block_, before_, kMostLive);
}

}  // namespace fxjit::jit
