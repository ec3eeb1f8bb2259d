#include "jit/engine/compiler.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <memory>
#include <utility>

#include "fxjit/error.h"
#include "fxjit/log.h"
#include "jit/engine/codegen.h"
#include "jit/engine/ir_module.h"
#include "jit/engine/linker.h"
#include "jit/engine/llvm_error.h"
#include "jit/engine/optimise.h"
#include "jit/engine/target.h"
#include "src/support/memory/spare_slots.h"

namespace fxjit::jit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kGenericTuning = "generic";

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start)
      .count();
}

// LLVM's own handler prints errors and ends the process.
void collect_diagnostic(const llvm::DiagnosticInfo* info, void* errors) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  if (info->getSeverity() == llvm::DS_Error) {
    *static_cast<std::string*>(errors) += text + "; ";
  } else {
    log(LogLevel::debug, "[jit] " + text);
  }
}

CompiledObject object_of(llvm::Module& module, CodeGenerator& generator,
                         const EngineOptions& options) {
  CompiledObject object;
  auto start = Clock::now();
  optimise(module, generator, options);
  object.timings.optimise_us = microseconds_since(start);
  start = Clock::now();
  object.bytes = generator.object(module);
  object.timings.codegen_us = microseconds_since(start);
  return object;
}

CodeText text_of(llvm::Module& module, CodeGenerator& generator,
                 const EngineOptions& options) {
  optimise(module, generator, options);
  CodeText text;
  llvm::raw_string_ostream stream(text.ir);
  module.print(stream, nullptr);
  text.assembly = generator.assembly(module);
  return text;
}

// What `work` makes of the module, which it consumes. The generator must be
// leaked after an LlvmFatalError, as `ir` then is.
template <typename Work>
auto guarded(IrModule ir, const Work& work) {
  std::string errors;
  ir.context->setDiagnosticHandlerCallBack(collect_diagnostic, &errors);
  try {
    const FatalErrorScope scope;
    auto result = work(*ir.module);
    if (errors.empty()) return result;
  } catch (const LlvmFatalError&) {
    (void)ir.module.release();
    (void)ir.context.release();
    throw;
  }
  throw InternalError("[jit] module " + ir.module->getName().str() +
                      " does not compile: " + errors);
}

constexpr const char* kSanitizerNames[] = {"none", "address", "thread"};

}  // namespace

class Compiler::Generators {
 public:
  // What `work` makes of the module with a generator of its own.
  template <typename Work>
  auto apply(const EngineOptions& options, IrModule ir, const Work& work) {
    Idle& idle = ir.effort == Effort::fast_code ? idle_ : quick_;
    auto generator = idle.take();
    if (!generator)
      generator = std::make_unique<CodeGenerator>(options, ir.effort);
    try {
      auto result = guarded(std::move(ir), [&](llvm::Module& module) {
        return work(module, *generator);
      });
      idle.give(std::move(generator));
      return result;
    } catch (const LlvmFatalError&) {
      (void)generator.release();
      throw;
    }
  }

 private:
  using Idle = support::SpareSlots<CodeGenerator, 64>;
  Idle idle_, quick_;
};

Compiler::Compiler(EngineOptions options)
    : options_(std::move(options)),
      linker_(std::make_shared<Linker>(options_)),
      generators_(std::make_unique<Generators>()) {}

Compiler::~Compiler() = default;

CompiledObject Compiler::compile(IrModule module) const {
  return generators_->apply(
      options_, std::move(module),
      [&](llvm::Module& llvm_module, CodeGenerator& generator) {
        return object_of(llvm_module, generator, options_);
      });
}

CodeText Compiler::text(IrModule module) const {
  return generators_->apply(
      options_, std::move(module),
      [&](llvm::Module& llvm_module, CodeGenerator& generator) {
        return text_of(llvm_module, generator, options_);
      });
}

std::shared_ptr<CompiledCode> Compiler::link(
    const CompiledObject& object) const {
  return linker_->link(object);
}

std::string Compiler::code_key() const {
  return code_key(options_.tune_for_host ? host_cpu_name() : kGenericTuning);
}

std::string Compiler::portable_code_key() const {
  return code_key(kGenericTuning);
}

std::string Compiler::code_key(const std::string& tuning) const {
  const bool traced = options_.gdb_support || options_.perf_support;
  std::string key = "llvm=" + llvm_version();
  const Processor processor = processor_of(options_.cpu_level);
  key += " cpu=" + (std::string(processor.name) + processor.features);
  key += " tune=" + tuning;
  key += traced ? " frames=1" : " frames=0";
  key += " sanitizer=";
  return key + kSanitizerNames[static_cast<size_t>(options_.sanitizer)];
}

}  // namespace fxjit::jit
