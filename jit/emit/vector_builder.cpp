#include "jit/emit/vector_builder.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include <string>

#include "src/support/machine/processor.h"
#include "src/tensor/visit.h"

namespace fxjit::jit {
namespace {

constexpr int kTableAlignment = 64;

llvm::BasicBlock* block_to_append(llvm::Function& function) {
  if (!function.empty()) return &function.back();
  return llvm::BasicBlock::Create(function.getContext(), "entry", &function);
}

}  // namespace

VectorBuilder::VectorBuilder(llvm::Function& function, CpuLevel level)
    : function_(function),
      level_(level),
      long_tables_(level == CpuLevel::avx512 && support::host_is_intel()),
      ir_(block_to_append(function)) {
  // Some hosts' tuning would halve the vectors that we ask for.
  if (level == CpuLevel::avx512) {
    function.addFnAttr("prefer-vector-width", "512");
  }
}

llvm::VectorType* VectorBuilder::vec(llvm::Type* element, int lanes) {
  return llvm::FixedVectorType::get(
      element, unsigned(lanes == 0 ? this->lanes() : lanes));
}

llvm::Type* VectorBuilder::memory_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return f32();
    case DType::f64:
      return f64();
    case DType::f16:
    case DType::bf16:
    case DType::i16:
      return i16();
    case DType::i8:
    case DType::u8:
    case DType::boolean:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return i8();
    case DType::i32:
      return i32();
    case DType::i64:
      return i64();
    case DType::c64:
    case DType::c128:
      refuse_complex(dtype);
  }
  return nullptr;
}

llvm::Type* VectorBuilder::register_type(DType dtype) {
  if (compute_dtype(dtype) == DType::f32) return f32();
  if (dtype == DType::boolean) return i1();
  return memory_type(dtype);
}

int VectorBuilder::lane_count(const Value* value) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return type == nullptr ? 1 : int(type->getNumElements());
}

llvm::Type* VectorBuilder::with_shape_of(Value* shape, llvm::Type* element) {
  if (!shape->getType()->isVectorTy()) return element;
  return vec(element, lane_count(shape));
}

Value* VectorBuilder::number(llvm::Type* type, double value) {
  if (type->isFPOrFPVectorTy()) return llvm::ConstantFP::get(type, value);
  return integer(type, int64_t(value));
}

Value* VectorBuilder::integer(llvm::Type* type, int64_t value) {
  if (type->isFPOrFPVectorTy()) {
    return llvm::ConstantFP::get(type, double(value));
  }
  return llvm::ConstantInt::get(type, uint64_t(value), /*IsSigned=*/true);
}

Value* VectorBuilder::splat(Value* scalar, int lanes) {
  return ir_.CreateVectorSplat(unsigned(lanes == 0 ? this->lanes() : lanes),
                               scalar);
}

Value* VectorBuilder::iota(llvm::Type* integer_element, int lanes) {
  std::vector<llvm::Constant*> numbers;
  for (int i = 0; i < (lanes == 0 ? this->lanes() : lanes); ++i) {
    numbers.push_back(llvm::ConstantInt::get(integer_element, uint64_t(i)));
  }
  return llvm::ConstantVector::get(numbers);
}

Value* VectorBuilder::f32_table(std::string_view name,
                                llvm::ArrayRef<float> data) {
  const std::string full = "fxjit.table." + std::string(name);
  if (auto* found = module().getGlobalVariable(full, true)) return found;
  auto* content = llvm::ConstantDataArray::get(context(), data);
  auto* table = llvm::cast<llvm::GlobalVariable>(
      module().getOrInsertGlobal(full, content->getType()));
  table->setInitializer(content);
  table->setConstant(true);
  table->setLinkage(llvm::GlobalValue::PrivateLinkage);
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  table->setAlignment(llvm::Align(kTableAlignment));
  return table;
}

Value* VectorBuilder::offset_bytes(Value* base, Value* bytes) {
  return ir_.CreateGEP(i8(), base, bytes);
}

Value* VectorBuilder::offset_bytes(Value* base, int64_t bytes) {
  return bytes == 0 ? base : offset_bytes(base, i64(bytes));
}

Value* VectorBuilder::offset(Value* base, llvm::Type* element,
                             Value* elements) {
  return ir_.CreateGEP(element, base, elements);
}

Value* VectorBuilder::offset(Value* base, llvm::Type* element,
                             int64_t elements) {
  return elements == 0 ? base : offset(base, element, i64(elements));
}

}  // namespace fxjit::jit
