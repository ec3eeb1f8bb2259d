// The list of symbol files that a debugger reads, "JIT Compilation Interface"
// in gdb's manual. Filled by the linker's gdb plugin; no other file touches
// the descriptor.
#pragma once

#include <cstddef>
#include <cstdint>

// Fixed by the debuggers, as are the names of the two symbols in the source.
extern "C" {
struct JitCodeEntry {
  JitCodeEntry* next;
  JitCodeEntry* previous;
  const char* symbol_file;
  uint64_t symbol_file_bytes;
};
}

namespace fxjit::jit {

// Announces the symbol file (an ELF object with load addresses) that `entry`
// points at. Entry and file stay in place until withdrawn. Thread-safe.
void announce_to_debugger(JitCodeEntry& entry);
void withdraw_from_debugger(JitCodeEntry& entry);

// How many symbol files are announced now.
size_t announced_symbol_files();

}  // namespace fxjit::jit
