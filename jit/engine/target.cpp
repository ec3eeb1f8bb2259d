#include "jit/engine/target.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include "fxjit/error.h"
#include "jit/engine/compiler.h"
#include "jit/engine/ir_module.h"

namespace fxjit::jit {
namespace {

const llvm::Target& host_target() {
  static const llvm::Target* const target = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    std::string ignored;
    return llvm::TargetRegistry::lookupTarget(llvm::sys::getProcessTriple(),
                                              ignored);
  }();
  if (target == nullptr) {
    throw InternalError("[jit] LLVM has no back end for " +
                        llvm::sys::getProcessTriple());
  }
  return *target;
}

}  // namespace

Processor processor_of(CpuLevel level) {
  switch (level) {
    case CpuLevel::sse41:
      return {"x86-64", "+sse4.1"};
    case CpuLevel::avx2:
      return {"x86-64-v3", ""};
    case CpuLevel::avx512:
      return {"x86-64-v4", ""};
  }
  throw InternalError("[jit] unknown CPU level");
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(
    const EngineOptions& options, Effort effort) {
  const bool quick = effort == Effort::fast_compile;
  const llvm::Target& target = host_target();
  const Processor processor = processor_of(options.cpu_level);
  std::unique_ptr<llvm::TargetMachine> machine(target.createTargetMachine(
      llvm::sys::getProcessTriple(), processor.name, processor.features,
      llvm::TargetOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small,
      quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default,
      /*JIT=*/true));
  if (machine == nullptr) {
    throw InternalError("[jit] LLVM cannot generate code for " +
                        std::string(processor.name));
  }
  machine->setO0WantsFastISel(true);
  return machine;
}

void prepare_module(llvm::Module& module, const llvm::TargetMachine& machine,
                    const EngineOptions& options) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  const std::string tune = options.tune_for_host ? host_cpu_name() : "";
  const bool traced = options.gdb_support || options.perf_support ||
                      options.sanitizer != Sanitizer::none;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.setDoesNotThrow();  // Exceptions never cross generated code.
    if (!tune.empty()) function.addFnAttr("tune-cpu", tune);
    if (traced) {
      function.addFnAttr("frame-pointer", "all");
      function.setUWTableKind(llvm::UWTableKind::Async);
    }
  }
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

std::string host_cpu_name() {
  static const std::string name = llvm::sys::getHostCPUName().str();
  return name;
}

IrModule make_ir_module(std::string_view name) {
  // Depends on neither level nor tuning.
  static const std::string layout = make_target_machine(EngineOptions{})
                                        ->createDataLayout()
                                        .getStringRepresentation();
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>(
      llvm::StringRef(name.data(), name.size()), *context);
  module->setTargetTriple(llvm::sys::getProcessTriple());
  module->setDataLayout(layout);
  return {std::move(context), std::move(module)};
}

}  // namespace fxjit::jit
