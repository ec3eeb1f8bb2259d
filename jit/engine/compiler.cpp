#include "jit/engine/compiler.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "fxjit/error.h"
#include "fxjit/log.h"
#include "jit/engine/codegen.h"
#include "jit/engine/compiler_llvm.h"
#include "jit/engine/dump.h"
#include "jit/engine/linker.h"
#include "jit/engine/llvm_error.h"
#include "jit/engine/optimise.h"
#include "jit/engine/target.h"
#include "src/support/run_tasks.h"

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

struct Compiled {
  std::string object;
  CompileTimings timings;
};

Compiled compile_module(llvm::Module& module, CodeGenerator& generator,
                        const EngineOptions& options) {
  const bool dump = !options.dump_folder.empty();
  llvm::TargetMachine& machine = generator.machine();
  Compiled result;
  auto start = Clock::now();
  prepare_module(module, machine, options);
  if (dump) dump_ir(module, options.dump_folder, ".before.ll");
  verify(module);
  optimise(module, machine, options);
  if (dump) dump_ir(module, options.dump_folder, ".after.ll");
  if (dump) dump_assembly(module, generator, options.dump_folder);
  result.timings.optimise_us = microseconds_since(start);
  start = Clock::now();
  result.object = generator.object(module);
  result.timings.codegen_us = microseconds_since(start);
  return result;
}

// Consumes `ir`. The generator must be leaked after an LlvmFatalError, as `ir`
// then is.
Compiled compile_one(IrModule ir, CodeGenerator& generator,
                     const EngineOptions& options) {
  std::string errors;
  context_of(ir).setDiagnosticHandlerCallBack(collect_diagnostic, &errors);
  try {
    const FatalErrorScope scope;
    Compiled result = compile_module(module_of(ir), generator, options);
    if (errors.empty()) return result;
  } catch (const LlvmFatalError&) {
    (void)ir.impl().module.release();
    (void)ir.impl().context.release();
    throw;
  }
  throw InternalError("[jit] module " + ir.name() +
                      " does not compile: " + errors);
}

std::string name_of(Sanitizer sanitizer) {
  switch (sanitizer) {
    case Sanitizer::none:
      return "none";
    case Sanitizer::address:
      return "address";
    case Sanitizer::thread:
      return "thread";
  }
  throw InternalError("[jit] unknown sanitizer");
}

}  // namespace

// The code generators that no thread uses now.
class Compiler::Generators {
 public:
  std::unique_ptr<CodeGenerator> take(const EngineOptions& options) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!idle_.empty()) {
        auto generator = std::move(idle_.back());
        idle_.pop_back();
        return generator;
      }
    }
    return std::make_unique<CodeGenerator>(options);
  }

  void give_back(std::unique_ptr<CodeGenerator> generator) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(generator));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<CodeGenerator>> idle_;
};

Compiler::Compiler(EngineOptions options)
    : options_(std::move(options)),
      linker_(Linker::create(options_)),
      generators_(std::make_unique<Generators>()) {}

Compiler::~Compiler() = default;

ObjectBundle Compiler::compile(std::vector<IrModule> modules,
                               int max_threads) const {
  std::vector<Compiled> results(modules.size());
  support::run_tasks(modules.size(), max_threads, [&](size_t i) {
    auto generator = generators_->take(options_);
    try {
      results[i] = compile_one(std::move(modules[i]), *generator, options_);
    } catch (const LlvmFatalError&) {
      (void)generator.release();
      throw;
    }
    generators_->give_back(std::move(generator));
  });
  ObjectBundle bundle;
  for (Compiled& result : results) {
    bundle.objects.push_back(std::move(result.object));
    bundle.timings.optimise_us += result.timings.optimise_us;
    bundle.timings.codegen_us += result.timings.codegen_us;
  }
  return bundle;
}

std::shared_ptr<CompiledCode> Compiler::link(const ObjectBundle& bundle,
                                             const SymbolTable& symbols) const {
  return linker_->link(bundle, symbols);
}

std::shared_ptr<CompiledCode> Compiler::build(std::vector<IrModule> modules,
                                              const SymbolTable& symbols,
                                              int max_threads) const {
  return link(compile(std::move(modules), max_threads), symbols);
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
  key += options_.unroll ? " unroll=1" : " unroll=0";
  key += traced ? " frames=1" : " frames=0";
  key += " sanitizer=" + name_of(options_.sanitizer);
  return key;
}

}  // namespace fxjit::jit
