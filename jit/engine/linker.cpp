#include "jit/engine/linker.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectFileInterface.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <utility>

#include "fxjit/error.h"
#include "fxjit/log.h"
#include "jit/engine/debug_plugins.h"
#include "jit/engine/llvm_error.h"
#include "jit/engine/runtime_symbols.h"
#include "src/support/memory/executable_memory.h"

namespace fxjit::jit {
namespace {

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

llvm::MemoryBufferRef buffer_of(const std::string& object) {
  return llvm::MemoryBufferRef(object, "fxjit object");
}

// Defines what an object calls outside of itself.
class RuntimeSymbols : public llvm::orc::DefinitionGenerator {
 public:
  // Names that there are none of are added to `missing`.
  explicit RuntimeSymbols(std::string& missing) : missing_(missing) {}

  llvm::Error tryToGenerate(llvm::orc::LookupState&, llvm::orc::LookupKind,
                            llvm::orc::JITDylib& library,
                            llvm::orc::JITDylibLookupFlags,
                            const llvm::orc::SymbolLookupSet& names) override {
    llvm::orc::SymbolMap found;
    for (const auto& [name, flags] : names) {
      if (void* address = runtime_symbol((*name).str()))
        found[name] = {
            llvm::orc::ExecutorAddr::fromPtr(address),
            llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
      else
        missing_ += " " + (*name).str();
    }
    return library.define(llvm::orc::absoluteSymbols(std::move(found)));
  }

 private:
  std::string& missing_;
};

}  // namespace

struct Linker::Session {
  Session(std::unique_ptr<llvm::orc::ExecutorProcessControl> control,
          uint64_t page_bytes)
      : execution(std::move(control)),
        memory(page_bytes),
        layer(execution, memory) {}

  // Adds the object and returns the names it exports.
  llvm::orc::SymbolLookupSet add_object(llvm::orc::JITDylib& library,
                                        const std::string& object);
  CompiledCode::Symbols resolve(llvm::orc::JITDylib& library,
                                llvm::orc::SymbolLookupSet names);
  CompiledCode::Symbols link(llvm::orc::JITDylib& library,
                             const std::string& object);
  void report(llvm::Error error);
  void remove(llvm::orc::JITDylib& library);

  llvm::orc::ExecutionSession execution;
  CountingMemoryManager memory;
  llvm::orc::ObjectLinkingLayer layer;
  // One link at a time: ORC may let any linking thread do any other's work,
  // and a link is short. Guards the session as a whole.
  std::mutex mutex;
  uint64_t links = 0;
  // What ORC reported during the current link, and names that it did not find.
  std::string errors, missing;
};

llvm::orc::SymbolLookupSet Linker::Session::add_object(
    llvm::orc::JITDylib& library, const std::string& object) {
  auto interface =
      take(llvm::orc::getObjectFileInterface(execution, buffer_of(object)),
           "reading an object");
  llvm::orc::SymbolLookupSet names;
  for (const auto& [name, flags] : interface.SymbolFlags) names.add(name);
  // The bytes outlive the link, which is complete when `link` returns.
  throw_if(layer.add(library.getDefaultResourceTracker(),
                     llvm::MemoryBuffer::getMemBuffer(
                         buffer_of(object), /*RequiresNullTerminator=*/false),
                     std::move(interface)),
           "adding an object");
  return names;
}

CompiledCode::Symbols Linker::Session::resolve(
    llvm::orc::JITDylib& library, llvm::orc::SymbolLookupSet names) {
  auto found =
      take(execution.lookup(
               {{&library, llvm::orc::JITDylibLookupFlags::MatchAllSymbols}},
               std::move(names)),
           "linking");
  CompiledCode::Symbols symbols;
  for (const auto& [name, definition] : found) {
    symbols.emplace((*name).str(), definition.getAddress().toPtr<void*>());
  }
  return symbols;
}

CompiledCode::Symbols Linker::Session::link(llvm::orc::JITDylib& library,
                                            const std::string& object) {
  errors.clear();
  missing.clear();
  library.addGenerator(std::make_unique<RuntimeSymbols>(missing));
  try {
    return resolve(library, add_object(library, object));
  } catch (const InternalError& error) {
    if (!support::executable_memory_allowed()) {
      throw RuntimeError("[jit] executable memory is denied on this host");
    }
    if (!missing.empty())
      throw InternalError(
          "[jit] unknown symbols in generated code: expected names of the "
          "symbol table, got" +
          missing);
    if (errors.empty()) throw;
    throw InternalError(error.message() + ": " + errors);
  }
}

void Linker::Session::report(llvm::Error error) {
  errors += (errors.empty() ? "" : "; ") + llvm::toString(std::move(error));
}

void Linker::Session::remove(llvm::orc::JITDylib& library) {
  if (llvm::Error error = execution.removeJITDylib(library)) {
    log(LogLevel::warning, "[jit] " + llvm::toString(std::move(error)));
  }
  // Names stay interned otherwise, for the life of the process.
  execution.getSymbolStringPool()->clearDeadEntries();
}

std::shared_ptr<Linker> Linker::create(const EngineOptions& options) {
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  auto control = take(
      llvm::orc::SelfExecutorProcessControl::Create(nullptr, nullptr, nullptr),
      "starting ORC");
  auto session = std::make_unique<Session>(std::move(control), page_bytes);
  session->execution.setErrorReporter([raw = session.get()](llvm::Error error) {
    raw->report(std::move(error));
  });
  if (options.perf_support) session->layer.addPlugin(make_perf_plugin());
  if (options.gdb_support) session->layer.addPlugin(make_gdb_plugin());
  return std::shared_ptr<Linker>(new Linker(std::move(session)));
}

Linker::Linker(std::unique_ptr<Session> session)
    : session_(std::move(session)) {}

Linker::~Linker() {
  if (llvm::Error error = session_->execution.endSession()) {
    log(LogLevel::warning, "[jit] " + llvm::toString(std::move(error)));
  }
}

std::shared_ptr<CompiledCode> Linker::link(const CompiledObject& object) {
  const std::lock_guard<std::mutex> lock(session_->mutex);
  const auto start = std::chrono::steady_clock::now();
  session_->memory.take_bytes();
  auto& library = session_->execution.createBareJITDylib(
      "fxjit." + std::to_string(session_->links++));
  CompiledCode::Symbols found;
  try {
    found = session_->link(library, object.bytes);
  } catch (...) {
    session_->remove(library);
    throw;
  }
  CompileTimings timings = object.timings;
  timings.link_us = std::chrono::duration<double, std::micro>(
                        std::chrono::steady_clock::now() - start)
                        .count();
  return std::make_shared<CompiledCode>(shared_from_this(), &library,
                                        std::move(found),
                                        session_->memory.take_bytes(), timings);
}

void Linker::remove(void* library) {
  const std::lock_guard<std::mutex> lock(session_->mutex);
  session_->remove(*static_cast<llvm::orc::JITDylib*>(library));
}

}  // namespace fxjit::jit
