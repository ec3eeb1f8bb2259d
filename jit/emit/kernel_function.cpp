#include "jit/emit/kernel_function.h"

#include <llvm/IR/Metadata.h>

namespace fxjit::jit {
namespace {

void set_call_attributes(llvm::Argument& call) {
  call.setName("call");
  for (auto kind : {llvm::Attribute::NoAlias, llvm::Attribute::NoCapture,
                    llvm::Attribute::ReadOnly, llvm::Attribute::NonNull}) {
    call.addAttr(kind);
  }
}

}  // namespace

llvm::Function* make_function(llvm::Module& module, std::string_view name,
                              bool has_range) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> arguments{llvm::PointerType::get(context, 0)};
  if (has_range) arguments.resize(3, llvm::Type::getInt64Ty(context));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       arguments, /*isVarArg=*/false);
  auto* function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                             llvm::StringRef(name.data(), name.size()), module);
  set_call_attributes(*function->getArg(0));
  if (has_range) {
    function->getArg(1)->setName("begin");
    function->getArg(2)->setName("end");
  }
  return function;
}

llvm::Function* make_driver_function(llvm::Module& module,
                                     std::string_view name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const pointer = llvm::PointerType::get(context, 0);
  auto* type =
      llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                              {pointer, pointer, pointer}, /*isVarArg=*/false);
  auto* function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                             llvm::StringRef(name.data(), name.size()), module);
  for (unsigned i = 0; const char* argument : {"frame", "io", "state"})
    function->getArg(i++)->setName(argument);
  return function;
}

Value* load_constant(VectorBuilder& b, llvm::Type* type, Value* base,
                     size_t offset) {
  Value* address = b.offset_bytes(base, int64_t(offset));
  auto* load = llvm::cast<llvm::LoadInst>(b.load_raw(type, address));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(b.context(), {}));
  return load;
}

Value* call_pointer(VectorBuilder& b, size_t field) {
  return load_constant(b, b.ptr(), b.arg(0), field);
}

Value* call_number(VectorBuilder& b, size_t field) {
  return load_constant(b, b.i64(), b.arg(0), field);
}

Value* KernelArgs::operand(size_t index) const {
  Value* operands = call_pointer(b_, offsetof(program::StepCall, operands));
  return load_constant(b_, b_.ptr(), operands, index * sizeof(void*));
}

void KernelArgs::fail(int32_t status) const {
  Value* place = call_pointer(b_, offsetof(program::StepCall, status));
  b_.ir()
      .CreateAlignedStore(b_.i32(status), place, llvm::Align(4))
      ->setAtomic(llvm::AtomicOrdering::Monotonic);
}

}  // namespace fxjit::jit
