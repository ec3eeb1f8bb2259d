#include "jit/emit/kernel_function.h"

#include <llvm/IR/Metadata.h>

#include <cstddef>

namespace fxjit::jit {
namespace {

void set_call_attributes(llvm::Argument& call) {
  call.setName("call");
  for (auto kind : {llvm::Attribute::NoAlias, llvm::Attribute::NoCapture,
                    llvm::Attribute::ReadOnly, llvm::Attribute::NonNull}) {
    call.addAttr(kind);
  }
}

Value* load_pointer(VectorBuilder& b, Value* base, size_t offset) {
  return load_constant(b, b.ptr(), base, offset);
}

llvm::Function* make_exported(llvm::Module& module, std::string_view name,
                              llvm::ArrayRef<llvm::Type*> arguments,
                              CpuLevel level) {
  auto* type = llvm::FunctionType::get(
      llvm::Type::getVoidTy(module.getContext()), arguments,
      /*isVarArg=*/false);
  auto* function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                             llvm::StringRef(name.data(), name.size()), module);
  set_kernel_attributes(*function, level);
  set_call_attributes(*function->getArg(0));
  return function;
}

}  // namespace

void set_kernel_attributes(llvm::Function& function, CpuLevel level) {
  function.setDoesNotThrow();
  if (level == CpuLevel::avx512) {
    function.addFnAttr("prefer-vector-width", "512");
  }
}

llvm::Function* make_kernel_function(llvm::Module& module,
                                     std::string_view name, CpuLevel level) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Function* function = make_exported(
      module, name, {llvm::PointerType::get(context, 0), i64, i64}, level);
  function->getArg(1)->setName("begin");
  function->getArg(2)->setName("end");
  return function;
}

llvm::Function* make_task_function(llvm::Module& module, std::string_view name,
                                   CpuLevel level) {
  return make_exported(module, name,
                       {llvm::PointerType::get(module.getContext(), 0)}, level);
}

Value* load_constant(VectorBuilder& b, llvm::Type* type, Value* base,
                     size_t offset) {
  Value* address = b.offset_bytes(base, int64_t(offset));
  auto* load = llvm::cast<llvm::LoadInst>(b.load_raw(type, address));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(b.context(), {}));
  return load;
}

Value* KernelArgs::operand(size_t index) const {
  Value* operands =
      load_pointer(b_, b_.arg(0), offsetof(program::StepCall, operands));
  return load_pointer(b_, operands, index * sizeof(void*));
}

Value* KernelArgs::scratch() const {
  return load_pointer(b_, b_.arg(0), offsetof(program::StepCall, scratch));
}

Value* KernelArgs::data() const {
  return load_pointer(b_, b_.arg(0), offsetof(program::StepCall, data));
}

void KernelArgs::fail(int32_t status) const {
  Value* place =
      load_pointer(b_, b_.arg(0), offsetof(program::StepCall, status));
  b_.ir()
      .CreateAlignedStore(b_.i32(status), place, llvm::Align(4))
      ->setAtomic(llvm::AtomicOrdering::Monotonic);
}

}  // namespace fxjit::jit
