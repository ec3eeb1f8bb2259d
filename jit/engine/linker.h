// Links objects into the process with ORC and JITLink, and unmaps them again.
// Made by the compiler, kept alive by each CompiledCode.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/engine/compiled_code.h"
#include "jit/engine/engine_options.h"

namespace fxjit::jit {

// Thread-safe. Every link makes one library of its own, which sees the
// symbols of its object and runtime_symbol()s, nothing else.
class Linker : public std::enable_shared_from_this<Linker> {
 public:
  static std::shared_ptr<Linker> create(const EngineOptions& options);
  ~Linker();

  std::shared_ptr<CompiledCode> link(const CompiledObject& object);
  // Unmaps what `library` holds; called by CompiledCode only.
  void remove(void* library);

 private:
  struct Session;
  explicit Linker(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

}  // namespace fxjit::jit
