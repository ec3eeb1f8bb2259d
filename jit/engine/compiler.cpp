#include "jit/engine/compiler.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>

#include "fxjit/error.h"
#include "fxjit/log.h"
#include "jit/engine/codegen.h"
#include "jit/engine/compiler_llvm.h"
#include "jit/engine/dump.h"
#include "jit/engine/linker.h"
#include "jit/engine/llvm_error.h"
#include "jit/engine/optimise.h"
#include "jit/engine/target.h"

namespace fxjit::jit {
namespace {

using Clock = std::chrono::steady_clock;

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

Compiled compile_module(llvm::Module& module, llvm::TargetMachine& machine,
                        const EngineOptions& options) {
  const bool dump = !options.dump_folder.empty();
  Compiled result;
  auto start = Clock::now();
  prepare_module(module, machine, options);
  if (dump) dump_ir(module, options.dump_folder, ".before.ll");
  verify(module);
  optimise(module, machine, options);
  if (dump) dump_ir(module, options.dump_folder, ".after.ll");
  if (dump) dump_assembly(module, machine, options.dump_folder);
  result.timings.optimise_us = microseconds_since(start);
  start = Clock::now();
  result.object = generate(module, machine, CodegenOutput::object);
  result.timings.codegen_us = microseconds_since(start);
  return result;
}

Compiled compile_one(IrModule ir, const EngineOptions& options) {
  auto machine = make_target_machine(options);
  std::string errors;
  context_of(ir).setDiagnosticHandlerCallBack(collect_diagnostic, &errors);
  try {
    const FatalErrorScope scope;
    Compiled result = compile_module(module_of(ir), *machine, options);
    if (errors.empty()) return result;
  } catch (const LlvmFatalError&) {
    (void)ir.impl().module.release();
    (void)ir.impl().context.release();
    (void)machine.release();
    throw;
  }
  throw InternalError("[jit] module " + ir.name() +
                      " does not compile: " + errors);
}

// Objects in the order of their modules, whichever thread made them.
class ParallelCompilation {
 public:
  ParallelCompilation(std::vector<IrModule> modules,
                      const EngineOptions& options)
      : modules_(std::move(modules)),
        options_(options),
        results_(modules_.size()),
        failures_(modules_.size()) {}

  ObjectBundle run(int max_threads) {
    const auto threads =
        std::min<size_t>(std::max(max_threads, 1), modules_.size());
    std::vector<std::jthread> helpers;
    try {
      for (size_t i = 1; i < threads; ++i) {
        helpers.emplace_back([this] { work(); });
      }
    } catch (const std::system_error&) {
      // The system gives no more threads: those here do it all.
    }
    work();
    helpers.clear();
    return collect();
  }

 private:
  void work() {
    for (size_t i = next_++; i < modules_.size(); i = next_++) {
      try {
        results_[i] = compile_one(std::move(modules_[i]), options_);
      } catch (...) {
        failures_[i] = std::current_exception();
      }
    }
  }

  ObjectBundle collect() {
    for (const std::exception_ptr& failure : failures_) {
      if (failure) std::rethrow_exception(failure);
    }
    ObjectBundle bundle;
    for (Compiled& result : results_) {
      bundle.objects.push_back(std::move(result.object));
      bundle.timings.optimise_us += result.timings.optimise_us;
      bundle.timings.codegen_us += result.timings.codegen_us;
    }
    return bundle;
  }

  std::vector<IrModule> modules_;
  const EngineOptions& options_;
  std::vector<Compiled> results_;
  std::vector<std::exception_ptr> failures_;
  std::atomic<size_t> next_ = 0;
};

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

Compiler::Compiler(EngineOptions options)
    : options_(std::move(options)), linker_(Linker::create(options_)) {}

Compiler::~Compiler() = default;

ObjectBundle Compiler::compile(std::vector<IrModule> modules,
                               int max_threads) const {
  return ParallelCompilation(std::move(modules), options_).run(max_threads);
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
  const bool traced = options_.gdb_support || options_.perf_support;
  std::string key = "llvm=" + llvm_version();
  const Processor processor = processor_of(options_.cpu_level);
  key += " cpu=" + (std::string(processor.name) + processor.features);
  key += " tune=" + (options_.tune_for_host ? host_cpu_name() : "generic");
  key += options_.unroll ? " unroll=1" : " unroll=0";
  key += traced ? " frames=1" : " frames=0";
  key += " sanitizer=" + name_of(options_.sanitizer);
  return key;
}

}  // namespace fxjit::jit
