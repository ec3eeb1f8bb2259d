// VectorBuilder: loads, stores, gathers, masks.
#include <llvm/IR/Intrinsics.h>

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {
namespace {

llvm::Align element_alignment(llvm::Type* type, int alignment) {
  if (alignment != 0) return llvm::Align(uint64_t(alignment));
  return llvm::Align(type->getScalarSizeInBits() / 8);
}

}  // namespace

Value* VectorBuilder::load_raw(llvm::Type* type, Value* pointer,
                               int alignment) {
  if (type->isPointerTy()) return ir_.CreateLoad(type, pointer);
  return ir_.CreateAlignedLoad(type, pointer,
                               element_alignment(type, alignment));
}

void VectorBuilder::store_raw(Value* value, Value* pointer, int alignment) {
  ir_.CreateAlignedStore(value, pointer,
                         element_alignment(value->getType(), alignment));
}

Value* VectorBuilder::load(DType dtype, Value* pointer, int lanes,
                           int alignment) {
  llvm::Type* type = memory_type(dtype);
  if (lanes != 1) type = vec(type, lanes);
  return from_memory(dtype, load_raw(type, pointer, alignment));
}

// LLVM turns masked accesses that a level lacks into one branch per lane, so
// that no level touches a lane that is off.
Value* VectorBuilder::load(DType dtype, Value* pointer, Value* mask) {
  if (mask == nullptr) return load(dtype, pointer);
  llvm::Type* type = vec(memory_type(dtype), lane_count(mask));
  Value* loaded =
      ir_.CreateMaskedLoad(type, pointer, element_alignment(type, 0), mask,
                           llvm::Constant::getNullValue(type));
  return from_memory(dtype, loaded);
}

void VectorBuilder::store(DType dtype, Value* value, Value* pointer,
                          Value* mask) {
  Value* stored = to_memory(dtype, value);
  if (mask == nullptr) return store_raw(stored, pointer);
  ir_.CreateMaskedStore(stored, pointer,
                        element_alignment(stored->getType(), 0), mask);
}

Value* VectorBuilder::load_broadcast(DType dtype, Value* pointer, int lanes) {
  return splat(load_scalar(dtype, pointer), lanes);
}

Value* VectorBuilder::gather(DType dtype, Value* base, Value* indices,
                             Value* mask) {
  llvm::Type* element = memory_type(dtype);
  llvm::Type* type = vec(element, lane_count(indices));
  Value* pointers = ir_.CreateGEP(element, base, indices);
  Value* loaded =
      ir_.CreateMaskedGather(type, pointers, element_alignment(type, 0), mask,
                             llvm::Constant::getNullValue(type));
  return from_memory(dtype, loaded);
}

void VectorBuilder::scatter(DType dtype, Value* value, Value* base,
                            Value* indices, Value* mask) {
  Value* stored = to_memory(dtype, value);
  Value* pointers = ir_.CreateGEP(memory_type(dtype), base, indices);
  ir_.CreateMaskedScatter(stored, pointers,
                          element_alignment(stored->getType(), 0), mask);
}

Value* VectorBuilder::stack_slot(llvm::Type* type) {
  llvm::BasicBlock& entry = function_.getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  llvm::AllocaInst* slot = at_entry.CreateAlloca(type);
  slot->setAlignment(llvm::Align(64));
  return slot;
}

void VectorBuilder::prefetch(Value* pointer, int cache_level) {
  // The intrinsic counts locality the other way: 3 is L1.
  ir_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {ptr()},
      {pointer, ir_.getInt32(0), ir_.getInt32(uint32_t(4 - cache_level)),
       ir_.getInt32(1)});
}

void VectorBuilder::prefetch_to_write(Value* pointer) {
  ir_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {ptr()},
      {pointer, ir_.getInt32(1), ir_.getInt32(3), ir_.getInt32(1)});
}

Value* VectorBuilder::tail_mask(Value* count, int lanes) {
  if (lanes == 0) lanes = this->lanes();
  // Narrow lanes make the comparison one instruction; counts are cut to fit.
  Value* most = llvm::ConstantInt::get(count->getType(), uint64_t(lanes));
  Value* bounded =
      ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, most);
  Value* narrow = ir_.CreateZExtOrTrunc(bounded, i32());
  return ir_.CreateICmpULT(iota(i32(), lanes), splat(narrow, lanes));
}

}  // namespace fxjit::jit
