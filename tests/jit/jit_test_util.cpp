#include "tests/jit/jit_test_util.h"

#include <string>

#include "jit/engine/ir_module.h"
#include "tests/jit/build_ir.h"

namespace fxjit::jit::testing {
namespace {

llvm::Type* type_of(ArgKind kind, llvm::LLVMContext& context) {
  switch (kind) {
    case ArgKind::pointer:
      return llvm::PointerType::get(context, 0);
    case ArgKind::i32:
      return llvm::Type::getInt32Ty(context);
    case ArgKind::i64:
      return llvm::Type::getInt64Ty(context);
    case ArgKind::f32:
      return llvm::Type::getFloatTy(context);
    case ArgKind::f64:
      return llvm::Type::getDoubleTy(context);
  }
  return nullptr;
}

llvm::Function* make_function(llvm::Module& module,
                              std::span<const ArgKind> args) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types;
  for (ArgKind kind : args) types.push_back(type_of(kind, context));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types,
                                       /*isVarArg=*/false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                          "kernel", module);
  for (llvm::Argument& argument : function->args()) {
    if (!argument.getType()->isPointerTy()) continue;
    argument.addAttr(llvm::Attribute::NoAlias);
  }
  return function;
}

}  // namespace

std::shared_ptr<CompiledCode> compile_kernel(CpuLevel level,
                                             std::span<const ArgKind> args,
                                             const KernelBody& body) {
  IrModule ir = make_ir_module("kernel");
  llvm::Function* function = make_function(*ir.module, args);
  VectorBuilder builder(*function, level);
  Values values;
  for (llvm::Argument& argument : function->args()) {
    values.push_back(&argument);
  }
  body(builder, values);
  builder.ret();

  EngineOptions options;
  options.cpu_level = level;
  return build(Compiler(options), std::move(ir));
}

std::string level_name(const ::testing::TestParamInfo<CpuLevel>& info) {
  return std::string(cpu_level_name(info.param));
}

}  // namespace fxjit::jit::testing
