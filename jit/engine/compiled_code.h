// Machine code linked into this process. Made by jit::Compiler and shared by
// the Executables that call it; the code is unmapped with its last owner.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace fxjit::jit {

// Where the time of one compilation went, in microseconds of wall time.
struct CompileTimings {
  double emit_us = 0;      // The caller's builder, LLVM IR construction.
  double optimise_us = 0;  // Verification and IR passes.
  double codegen_us = 0;   // Instruction selection to object bytes.
  double link_us = 0;      // Object bytes to callable code.
};

// A relocatable object, as compiled: what the disk cache and kernel packs
// store. Holds no addresses and no process state.
struct CompiledObject {
  std::string bytes;  // Of an ELF file.
  CompileTimings timings{};
};

// How the code came to be.
enum class CodeOrigin { compiled, disk };

// Immutable; lookup is safe from any thread. Shared because Executables of
// several shapes, and the code cache, hold the same code.
class CompiledCode {
 public:
  using Symbols = std::map<std::string, void*, std::less<>>;

  // Only the linker makes one; `pages` stay mapped while they are held.
  CompiledCode(std::shared_ptr<void> pages, Symbols symbols, size_t code_bytes,
               CompileTimings timings);
  CompiledCode(const CompiledCode&) = delete;
  CompiledCode& operator=(const CompiledCode&) = delete;

  // Address of an exported function or constant. Throws InternalError naming
  // the symbol when there is none.
  void* lookup(std::string_view symbol) const;

  template <typename Function>
  Function* function(std::string_view symbol) const {
    return reinterpret_cast<Function*>(lookup(symbol));
  }

  const Symbols& symbols() const { return symbols_; }
  // Bytes of the pages held: code, constants and tables.
  size_t code_bytes() const { return code_bytes_; }
  const CompileTimings& timings() const { return timings_; }
  CodeOrigin origin() const { return origin_; }

 private:
  friend class CodeCache;  // Completes timings and origin before publishing.

  std::shared_ptr<void> pages_;
  Symbols symbols_;
  size_t code_bytes_;
  CompileTimings timings_;
  CodeOrigin origin_ = CodeOrigin::compiled;
};

}  // namespace fxjit::jit
