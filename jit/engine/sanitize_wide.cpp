#include "jit/engine/sanitize_wide.h"

#include <dlfcn.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace fxjit::jit {
namespace {

constexpr uint64_t kWidestPlainBytes = 16;
constexpr const char* kReadLanes = "fxjit_tsan_read_lanes";
constexpr const char* kWriteLanes = "fxjit_tsan_write_lanes";
constexpr const char* kReadEach = "fxjit_tsan_read_each";
constexpr const char* kWriteEach = "fxjit_tsan_write_each";

using RangeFunction = void (*)(void* address, unsigned long bytes);

// Reports each run of enabled lanes of a masked access as one range.
void report_lanes(RangeFunction range, char* address, uint64_t mask,
                  uint64_t lane_bytes) {
  while (mask != 0) {
    const int first = __builtin_ctzll(mask);
    mask >>= first;
    address += first * lane_bytes;
    const int run = mask == ~uint64_t{0} ? 64 : __builtin_ctzll(~mask);
    range(address, run * lane_bytes);
    mask = run == 64 ? 0 : mask >> run;
    address += run * lane_bytes;
  }
}

// Reports the enabled lanes of a gather or scatter one by one.
void report_each(RangeFunction range, char* const* addresses, uint64_t mask,
                 uint64_t lane_bytes) {
  for (; mask != 0; mask &= mask - 1)
    range(addresses[__builtin_ctzll(mask)], lane_bytes);
}

RangeFunction range_function(const char* name) {
  return reinterpret_cast<RangeFunction>(dlsym(RTLD_DEFAULT, name));
}

void read_lanes(char* address, uint64_t mask, uint64_t lane_bytes) {
  static const RangeFunction range = range_function("__tsan_read_range");
  if (range != nullptr) report_lanes(range, address, mask, lane_bytes);
}

void write_lanes(char* address, uint64_t mask, uint64_t lane_bytes) {
  static const RangeFunction range = range_function("__tsan_write_range");
  if (range != nullptr) report_lanes(range, address, mask, lane_bytes);
}

void read_each(char* const* addresses, uint64_t mask, uint64_t lane_bytes) {
  static const RangeFunction range = range_function("__tsan_read_range");
  if (range != nullptr) report_each(range, addresses, mask, lane_bytes);
}

void write_each(char* const* addresses, uint64_t mask, uint64_t lane_bytes) {
  static const RangeFunction range = range_function("__tsan_write_range");
  if (range != nullptr) report_each(range, addresses, mask, lane_bytes);
}

struct Access {
  llvm::Instruction* instruction;
  llvm::Value* address;  // A vector of them: each lane has its own.
  llvm::Type* type;
  llvm::Value* mask;  // Null: every lane.
  bool writes;
};

// The access of `instruction` that LLVM's pass would not report, if any.
std::optional<Access> missed_access(llvm::Instruction& instruction,
                                    const llvm::DataLayout& layout) {
  const auto wide = [&](llvm::Type* type) {
    return layout.getTypeStoreSize(type).getFixedValue() > kWidestPlainBytes;
  };
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (!wide(load->getType())) return std::nullopt;
    return Access{load, load->getPointerOperand(), load->getType(), nullptr,
                  false};
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    llvm::Type* type = store->getValueOperand()->getType();
    if (!wide(type)) return std::nullopt;
    return Access{store, store->getPointerOperand(), type, nullptr, true};
  }
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr) return std::nullopt;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather:
      return Access{call, call->getArgOperand(0), call->getType(),
                    call->getArgOperand(2), false};
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter:
      return Access{call, call->getArgOperand(1),
                    call->getArgOperand(0)->getType(), call->getArgOperand(3),
                    true};
    default:
      return std::nullopt;
  }
}

// Memory of the function that holds the addresses of a gather or scatter.
llvm::Value* in_memory(llvm::IRBuilder<>& build, llvm::Value* addresses) {
  llvm::BasicBlock& entry =
      build.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> first(&entry, entry.begin());
  llvm::Value* slot = first.CreateAlloca(addresses->getType());
  build.CreateStore(addresses, slot);
  return slot;
}

void report_before(const Access& access, const llvm::DataLayout& layout) {
  llvm::IRBuilder<> build(access.instruction);
  llvm::Module& module = *access.instruction->getModule();
  llvm::Type* const pointer = build.getPtrTy();
  llvm::Type* const word = build.getInt64Ty();
  if (access.mask == nullptr) {
    const auto range = module.getOrInsertFunction(
        access.writes ? "__tsan_write_range" : "__tsan_read_range",
        build.getVoidTy(), pointer, word);
    const uint64_t bytes = layout.getTypeStoreSize(access.type).getFixedValue();
    build.CreateCall(range, {access.address, build.getInt64(bytes)});
    return;
  }
  auto* type = llvm::cast<llvm::FixedVectorType>(access.type);
  const bool each = access.address->getType()->isVectorTy();
  const auto lanes = module.getOrInsertFunction(
      each ? (access.writes ? kWriteEach : kReadEach)
           : (access.writes ? kWriteLanes : kReadLanes),
      build.getVoidTy(), pointer, word, word);
  llvm::Value* bits = build.CreateZExt(
      build.CreateBitCast(access.mask, build.getIntNTy(type->getNumElements())),
      word);
  const uint64_t lane_bytes =
      layout.getTypeStoreSize(type->getElementType()).getFixedValue();
  build.CreateCall(
      lanes, {each ? in_memory(build, access.address) : access.address, bits,
              build.getInt64(lane_bytes)});
}

}  // namespace

llvm::PreservedAnalyses WideAccessPass::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager&) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<Access> missed;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto access = missed_access(instruction, layout)) {
      missed.push_back(*access);
    }
  }
  for (const Access& access : missed) report_before(access, layout);
  return missed.empty() ? llvm::PreservedAnalyses::all()
                        : llvm::PreservedAnalyses::none();
}

void* wide_access_symbol(std::string_view name) {
  if (name == kReadLanes) return reinterpret_cast<void*>(&read_lanes);
  if (name == kWriteLanes) return reinterpret_cast<void*>(&write_lanes);
  if (name == kReadEach) return reinterpret_cast<void*>(&read_each);
  if (name == kWriteEach) return reinterpret_cast<void*>(&write_each);
  return nullptr;
}

}  // namespace fxjit::jit
