// Linker plugins that show generated code to perf and gdb. Used by the linker
// only.
#pragma once

#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <memory>

namespace fxjit::jit {

// Appends "address size name" of each function to /tmp/perf-<pid>.map, where
// perf looks for them, and writes it with its code to /tmp/jit-<pid>.dump, from
// which `perf inject --jit` makes objects that `perf annotate` can show. An
// unwritable file is reported once and then ignored.
std::shared_ptr<llvm::orc::ObjectLinkingLayer::Plugin> make_perf_plugin();

// Announces each object to the debugger through the GDB JIT interface, and
// withdraws it when its code is unmapped.
std::shared_ptr<llvm::orc::ObjectLinkingLayer::Plugin> make_gdb_plugin();

}  // namespace fxjit::jit
