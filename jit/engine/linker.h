// Links objects into the process with ORC and JITLink, and unmaps them again.
// Made by the compiler, kept alive by each CompiledCode.
#pragma once

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "jit/engine/compiled_code.h"
#include "jit/engine/engine_options.h"

namespace fxjit::jit {

class CountingMemoryManager;

// Thread-safe. Every link makes one library of its own, which sees the
// symbols of its object and runtime_symbol()s, nothing else.
class Linker : public std::enable_shared_from_this<Linker> {
 public:
  explicit Linker(const EngineOptions& options);
  ~Linker();

  std::shared_ptr<CompiledCode> link(const CompiledObject& object);

 private:
  CompiledCode::Symbols link(llvm::orc::JITDylib& library,
                             const std::string& object);
  // Adds the object and returns the names it exports.
  llvm::orc::SymbolLookupSet add_object(llvm::orc::JITDylib& library,
                                        const std::string& object);
  CompiledCode::Symbols resolve(llvm::orc::JITDylib& library,
                                llvm::orc::SymbolLookupSet names);
  void remove(llvm::orc::JITDylib& library);

  // One link at a time: ORC may let any linking thread do any other's work,
  // and a link is short. Guards all that follows.
  std::mutex mutex_;
  llvm::orc::ExecutionSession execution_;
  std::unique_ptr<CountingMemoryManager> memory_;
  llvm::orc::ObjectLinkingLayer layer_;
  std::atomic<uint64_t> links_ = 0;
  // What ORC reported during the current link, and names that it did not find.
  std::string errors_, missing_;
  const std::span<const std::pair<const char*, void*>> symbols_;
};

}  // namespace fxjit::jit
