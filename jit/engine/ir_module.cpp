#include "jit/engine/ir_module.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "fxjit/error.h"
#include "jit/engine/compiler_llvm.h"

namespace fxjit::jit {

IrModule::IrModule(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
IrModule::IrModule(IrModule&&) noexcept = default;
IrModule& IrModule::operator=(IrModule&& other) noexcept {
  impl_ = std::move(other.impl_);
  return *this;
}
IrModule::~IrModule() = default;

std::string IrModule::name() const { return impl_->module->getName().str(); }

std::string IrModule::text() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  impl_->module->print(stream, nullptr);
  return text;
}

IrModule parse_ir(std::string_view text, std::string_view name) {
  auto impl = std::make_unique<IrModule::Impl>();
  impl->context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  const std::string owned(text);  // The parser wants a final zero.
  impl->module = llvm::parseAssembly(
      llvm::MemoryBufferRef(owned, llvm::StringRef(name.data(), name.size())),
      diagnostic, *impl->context);
  if (impl->module == nullptr) {
    throw UserError("[jit] " + std::string(name) + ":" +
                    std::to_string(diagnostic.getLineNo()) + ": " +
                    diagnostic.getMessage().str());
  }
  impl->module->setModuleIdentifier(llvm::StringRef(name.data(), name.size()));
  return IrModule(std::move(impl));
}

}  // namespace fxjit::jit
