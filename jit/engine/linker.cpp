#include "jit/engine/linker.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectFileInterface.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "fxjit/error.h"
#include "fxjit/log.h"
#include "jit/engine/debug_plugins.h"
#include "jit/engine/llvm_error.h"
#include "jit/engine/runtime_symbols.h"
#include "src/support/memory/executable_memory.h"

namespace fxjit::jit {

using llvm::jitlink::JITLinkDylib;
using llvm::jitlink::LinkGraph;

// Counts the pages that live as long as the code; the mapping itself, writable
// first and then protected segment by segment, is LLVM's.
class CountingMemoryManager : public llvm::jitlink::InProcessMemoryManager {
 public:
  explicit CountingMemoryManager(uint64_t page_bytes)
      : InProcessMemoryManager(page_bytes), page_bytes_(page_bytes) {}

  void allocate(const JITLinkDylib* library, LinkGraph& graph,
                OnAllocatedFunction on_allocated) override {
    llvm::jitlink::BasicLayout layout(graph);
    auto sizes = layout.getContiguousPageBasedLayoutSizes(page_bytes_);
    if (!sizes) return on_allocated(sizes.takeError());
    bytes_ += sizes->StandardSegs;
    InProcessMemoryManager::allocate(library, graph, std::move(on_allocated));
  }

  // Bytes allocated since the last call.
  size_t take_bytes() { return std::exchange(bytes_, 0); }

 private:
  uint64_t page_bytes_;
  size_t bytes_ = 0;
};

namespace {

llvm::MemoryBufferRef buffer_of(const std::string& object) {
  return llvm::MemoryBufferRef(object, "fxjit object");
}

// Defines what an object calls outside of itself.
class RuntimeSymbols : public llvm::orc::DefinitionGenerator {
 public:
  using Symbols = std::span<const std::pair<const char*, void*>>;
  // Those of runtime_symbol() and `others`. Names that there are none of are
  // added to `missing`.
  RuntimeSymbols(Symbols others, std::string& missing)
      : others_(others), missing_(missing) {}

  llvm::Error tryToGenerate(llvm::orc::LookupState&, llvm::orc::LookupKind,
                            llvm::orc::JITDylib& library,
                            llvm::orc::JITDylibLookupFlags,
                            const llvm::orc::SymbolLookupSet& names) override {
    llvm::orc::SymbolMap found;
    for (const auto& [name, flags] : names) {
      if (void* address = address_of_symbol((*name).str()))
        found[name] = {
            llvm::orc::ExecutorAddr::fromPtr(address),
            llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
      else
        missing_ += " " + (*name).str();
    }
    return library.define(llvm::orc::absoluteSymbols(std::move(found)));
  }

 private:
  void* address_of_symbol(const std::string& name) const {
    for (const auto& [known, address] : others_)
      if (name == known) return address;
    return runtime_symbol(name);
  }

  const Symbols others_;
  std::string& missing_;
};

}  // namespace

Linker::Linker(const EngineOptions& options)
    : execution_(take(llvm::orc::SelfExecutorProcessControl::Create(
                          nullptr, nullptr, nullptr),
                      "starting ORC")),
      memory_(std::make_unique<CountingMemoryManager>(
          static_cast<uint64_t>(sysconf(_SC_PAGESIZE)))),
      layer_(execution_, *memory_),
      symbols_(options.symbols) {
  execution_.setErrorReporter([this](llvm::Error error) {
    errors_ += (errors_.empty() ? "" : "; ") + llvm::toString(std::move(error));
  });
  if (options.perf_support) layer_.addPlugin(make_perf_plugin());
  if (options.gdb_support) layer_.addPlugin(make_gdb_plugin());
}

Linker::~Linker() {
  if (llvm::Error error = execution_.endSession()) {
    log(LogLevel::warning, "[jit] " + llvm::toString(std::move(error)));
  }
}

llvm::orc::SymbolLookupSet Linker::add_object(llvm::orc::JITDylib& library,
                                              const std::string& object) {
  auto interface =
      take(llvm::orc::getObjectFileInterface(execution_, buffer_of(object)),
           "reading an object");
  llvm::orc::SymbolLookupSet names;
  for (const auto& [name, flags] : interface.SymbolFlags) names.add(name);
  // The bytes outlive the link, which is complete when `link` returns.
  throw_if(layer_.add(library.getDefaultResourceTracker(),
                      llvm::MemoryBuffer::getMemBuffer(
                          buffer_of(object), /*RequiresNullTerminator=*/false),
                      std::move(interface)),
           "adding an object");
  return names;
}

CompiledCode::Symbols Linker::resolve(llvm::orc::JITDylib& library,
                                      llvm::orc::SymbolLookupSet names) {
  auto found =
      take(execution_.lookup(
               {{&library, llvm::orc::JITDylibLookupFlags::MatchAllSymbols}},
               std::move(names)),
           "linking");
  CompiledCode::Symbols symbols;
  for (const auto& [name, definition] : found) {
    symbols.emplace((*name).str(), definition.getAddress().toPtr<void*>());
  }
  return symbols;
}

CompiledCode::Symbols Linker::link(llvm::orc::JITDylib& library,
                                   const std::string& object) {
  errors_.clear();
  missing_.clear();
  library.addGenerator(std::make_unique<RuntimeSymbols>(symbols_, missing_));
  try {
    return resolve(library, add_object(library, object));
  } catch (const InternalError& error) {
    if (!support::executable_memory_allowed()) {
      throw RuntimeError("[jit] executable memory is denied on this host");
    }
    if (!missing_.empty())
      throw InternalError(
          "[jit] unknown symbols in generated code: expected names of the "
          "symbol table, got" +
          missing_);
    if (errors_.empty()) throw;
    throw InternalError(error.message() + ": " + errors_);
  }
}

std::shared_ptr<CompiledCode> Linker::link(const CompiledObject& object) {
  auto& library =
      execution_.createBareJITDylib("fxjit." + std::to_string(links_++));
  // Removes the library of a link that fails, once it may lock again.
  const std::shared_ptr<llvm::orc::JITDylib> held(
      &library,
      [self = shared_from_this()](auto* unused) { self->remove(*unused); });
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto start = std::chrono::steady_clock::now();
  memory_->take_bytes();
  CompiledCode::Symbols found = link(library, object.bytes);
  CompileTimings timings = object.timings;
  timings.link_us = std::chrono::duration<double, std::micro>(
                        std::chrono::steady_clock::now() - start)
                        .count();
  return std::make_shared<CompiledCode>(held, std::move(found),
                                        memory_->take_bytes(), timings);
}

void Linker::remove(llvm::orc::JITDylib& library) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (llvm::Error error = execution_.removeJITDylib(library)) {
    log(LogLevel::warning, "[jit] " + llvm::toString(std::move(error)));
  }
  // Names stay interned otherwise, for the life of the process.
  execution_.getSymbolStringPool()->clearDeadEntries();
}

}  // namespace fxjit::jit
