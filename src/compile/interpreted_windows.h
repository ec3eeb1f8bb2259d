// The interpreter's convolutions and pooling by generated code: each call that
// is worth it becomes a program of its own, made as those of modules are and
// with their kernels. Installed in src/ops/eager/backend.h when the process
// starts.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "src/compile/compiled_module.h"

namespace fxjit {

class InterpretedWindows {
 public:
  static InterpretedWindows& shared();

  // Computes the call as ops::WindowBackend does.
  bool run(const ops::OpCall& call, Value* result);
  // How many programs are kept, of at most kMost.
  size_t kept() const;

  static constexpr size_t kMost = 128;
  // Operations of a call that plain loops compute in the time that a program
  // takes to be made, some milliseconds. Dense convolutions are fast products
  // there.
  static constexpr double kLeastOperations = 1e6, kLeastOfDense = 1e8;

 private:
  // A call, with meta tensors, and what computes it: null if plain loops do.
  struct Entry {
    const ops::Op* op;
    size_t hash;
    ValueList args;
    std::shared_ptr<CompiledModule> program;
  };

  bool find(const Entry& call, std::shared_ptr<CompiledModule>* program);
  void add(Entry entry);

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // Most recently used first.
};

}  // namespace fxjit
