// Packed weights of one module, shared by the programs of all its shapes and by
// all threads; those of files are shared by all modules of the process. Weights
// of one program are packed into one block in the order in which the program
// reads them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/thread_pool.h"
#include "src/bind/weight_packing.h"
#include "src/support/aligned_block.h"

namespace fxjit::bind {

class WeightStore {
 public:
  // Packed weights of one program, in its order, and what keeps them.
  struct Packed {
    std::vector<const void*> addresses;
    std::vector<std::shared_ptr<const support::AlignedBlock>> blocks;
  };

  explicit WeightStore(CpuLevel level) : level_(level) {}

  // Packs what is new on up to `threads` threads. Weights are freed with the
  // last program that keeps them. Mapped pages of what was packed are given
  // back. Thread-safe.
  Packed get(std::span<const Weight> weights, support::ThreadPool& pool,
             int threads);

  // The first of the weight's formats that its numbers fit; f32 where it is
  // kept as f32 already and another copy would be little smaller. Thread-safe.
  program::WeightCoding coding(const Weight& weight);

  // Bytes of all weights that are kept.
  size_t bytes() const;

 private:
  // Owners of the pieces' memory: another tensor may come to lie where a freed
  // one was.
  using Sources = std::vector<std::weak_ptr<const void>>;
  struct Entry {
    Sources sources;
    std::weak_ptr<const support::AlignedBlock> block;
    const std::byte* address = nullptr;
  };
  // Surveyed once, by whoever asks first, while others ask for other weights.
  struct Coding {
    Sources sources;
    std::mutex mutex;
    std::optional<program::WeightCoding> found;  // Guarded by the mutex.
  };

  using Weights = std::vector<const Weight*>;

  // Never freed: programs of any module may use it to the end.
  static WeightStore& of_files(CpuLevel level);
  WeightStore& where(const Weight& weight);
  Packed get_here(const Weights& weights, support::ThreadPool& pool,
                  int threads);
  void forget_freed();
  void pack(const Weights& fresh, support::ThreadPool& pool, int threads,
            Packed& packed);
  program::WeightCoding survey(
      const Weight& weight, const std::vector<program::WeightFormat>& formats);
  bool is_kept_plain(const Weight& weight) const;

  CpuLevel level_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::shared_ptr<Coding>> codings_;
  // What the programs of this store's module have from `of_files`.
  std::vector<std::weak_ptr<const support::AlignedBlock>> borrowed_;
};

}  // namespace fxjit::bind
