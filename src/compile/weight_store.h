// Packed weights of one module, shared by the programs of all its shapes and by
// all threads. Weights of one program are packed into one block in the order in
// which the program reads them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/thread_pool.h"
#include "src/program/program.h"
#include "src/support/aligned_block.h"

namespace fxjit {

class WeightStore {
 public:
  explicit WeightStore(CpuLevel level) : level_(level) {}

  // Addresses of the packed weights, packing what is new on up to `threads`
  // threads. They live as long as the store. Mapped pages of what was packed
  // are given back. Thread-safe.
  std::vector<const void*> get(const std::vector<program::PackedWeight>& weights,
                               support::ThreadPool& pool, int threads);

  size_t bytes() const;

 private:
  CpuLevel level_;
  mutable std::mutex mutex_;
  std::map<std::string, const float*> packed_;
  std::vector<support::AlignedBlock> blocks_;
};

}  // namespace fxjit
