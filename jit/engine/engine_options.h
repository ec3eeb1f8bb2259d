// What one JIT engine is built with. Filled by compile/ from the user's
// options and by tests; read by jit::Compiler. Everything that changes the
// produced bytes also enters Compiler::code_key().
#pragma once

#include <span>
#include <string>
#include <utility>

#include "fxjit/cpu_level.h"

namespace fxjit::jit {

// Which of LLVM's sanitizers instruments generated code. Anything but `none`
// needs a process that runs with the same sanitizer.
enum class Sanitizer { none, address, thread };

// The sanitizer this file is compiled with, so that the asan and tsan presets
// check generated code without being told.
constexpr Sanitizer build_sanitizer() {
#if defined(__SANITIZE_ADDRESS__)
  return Sanitizer::address;
#elif defined(__SANITIZE_THREAD__)
  return Sanitizer::thread;
#else
  return Sanitizer::none;
#endif
}

struct EngineOptions {
  // Instruction set of the generated code. A level that the host lacks still
  // compiles; the code must then not be called.
  CpuLevel cpu_level = host_cpu_level();
  // Schedule for the host's microarchitecture instead of a generic one.
  bool tune_for_host = true;
  Sanitizer sanitizer = build_sanitizer();
  // Appends each function to /tmp/perf-<pid>.map and /tmp/jit-<pid>.dump.
  bool perf_support = false;
  // Registers each object with the GDB JIT interface and keeps unwind tables.
  bool gdb_support = false;
  // Where <module>.before.ll, .after.ll and .s are written; empty: nowhere.
  std::string dump_folder;
  // What drivers call of other libraries, by name, besides runtime_symbol()s.
  std::span<const std::pair<const char*, void*>> symbols = {};
};

}  // namespace fxjit::jit
