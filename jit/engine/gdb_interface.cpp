#include "jit/engine/gdb_interface.h"

#include <mutex>

// Hidden, as a host process may hold LLVM's definitions of the same names; a
// debugger finds them in each file's symbol table.
extern "C" {
struct JitDescriptor {
  uint32_t version;
  uint32_t action;
  JitCodeEntry* relevant;
  JitCodeEntry* first;
};

__attribute__((visibility("hidden"),
               used)) JitDescriptor __jit_debug_descriptor = {1, 0, nullptr,
                                                              nullptr};

// The debugger breaks here and then reads the descriptor.
__attribute__((visibility("hidden"), used, noinline)) void
__jit_debug_register_code() {
  asm volatile("" ::: "memory");  // Keeps the calls.
}
}

namespace fxjit::jit {
namespace {

enum Action : uint32_t { kNone = 0, kRegister = 1, kUnregister = 2 };

std::mutex& descriptor_mutex() {
  static std::mutex mutex;
  return mutex;
}

void notify(Action action, JitCodeEntry& entry) {
  __jit_debug_descriptor.action = action;
  __jit_debug_descriptor.relevant = &entry;
  __jit_debug_register_code();
  __jit_debug_descriptor.action = kNone;
  __jit_debug_descriptor.relevant = nullptr;
}

}  // namespace

void announce_to_debugger(JitCodeEntry& entry) {
  const std::lock_guard<std::mutex> lock(descriptor_mutex());
  JitCodeEntry*& first = __jit_debug_descriptor.first;
  entry.previous = nullptr;
  entry.next = first;
  if (first != nullptr) first->previous = &entry;
  first = &entry;
  notify(kRegister, entry);
}

void withdraw_from_debugger(JitCodeEntry& entry) {
  const std::lock_guard<std::mutex> lock(descriptor_mutex());
  JitCodeEntry*& incoming = entry.previous != nullptr
                                ? entry.previous->next
                                : __jit_debug_descriptor.first;
  incoming = entry.next;
  if (entry.next != nullptr) entry.next->previous = entry.previous;
  notify(kUnregister, entry);
}

size_t announced_symbol_files() {
  const std::lock_guard<std::mutex> lock(descriptor_mutex());
  size_t count = 0;
  for (auto* it = __jit_debug_descriptor.first; it != nullptr; it = it->next) {
    ++count;
  }
  return count;
}

}  // namespace fxjit::jit
