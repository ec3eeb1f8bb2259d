// Packed weights of one module, shared by the programs of all its shapes and by
// all threads; those of files are shared by all modules of the process. What
// generated kernels read is packed into one block for each program, in the
// order in which the program reads it; routines and primitives choose forms of
// their own, each in a block of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/thread_pool.h"
#include "src/support/memory/aligned_block.h"
#include "src/weights/packing.h"

namespace fxjit::weights {

// A packed weight, kept as long as somebody holds it.
using Block = std::shared_ptr<const support::AlignedBlock>;

// The routines and primitives that choose forms of weights themselves. Forms of
// different ones are never equal, whatever their names are.
enum class Reader : uint8_t {
  product,
  product_of_doubles,
  convolution,
  image_convolution,
  recurrence,
  recurrence_ahead,  // What steps in time make ahead.
};

// A format that a routine or a primitive chose for a weight itself.
struct OwnFormat {
  Reader reader{};
  std::vector<int64_t> name;  // Equal for equal formats of a weight.
  size_t bytes = 0;
  // Writes the weight that starts at `from` in the format.
  std::function<void(const void* from, std::byte* to)> pack;
  // All of it is floats, of which numbers below the smallest normal one become
  // zeros (panels.h).
  bool floats = false;
};

class Store {
 public:
  // Packed weights of one program, in its order, and what keeps them.
  struct Packed {
    std::vector<const void*> addresses;
    std::vector<Block> blocks;
    // Numbers of the weights were below the smallest normal one.
    bool decayed = false;
  };

  explicit Store(CpuLevel level) : level_(level) {}

  // Packs what is new on up to `threads` threads. Weights are freed with the
  // last program that keeps them. Mapped pages of what was packed are given
  // back. Thread-safe.
  Packed get(std::span<const Weight> weights, support::ThreadPool& pool,
             int threads);

  // `weight` in a format, packed if nobody has it. Mapped pages are given back.
  // Thread-safe; passes on what `format.pack` throws.
  Block get(const Tensor& weight, const OwnFormat& format);

  // The first of the weight's formats that its numbers fit, or the best of
  // quads; what is kept already where another copy would be little smaller:
  // f32, or quads that are clipped. Thread-safe.
  Coding coding(const Weight& weight);

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
    bool decayed = false;
  };
  // Surveyed once, by whoever asks first, while others ask for other weights.
  struct Survey {
    Sources sources;
    std::mutex mutex;
    std::optional<Coding> found;  // Guarded by the mutex.
  };

  using Weights = std::vector<const Weight*>;
  // One that has to be packed.
  struct Fresh {
    const Weight* weight;
    Entry* entry;
  };

  // Never freed: programs of any module may use it to the end.
  static Store& of_files(CpuLevel level);
  Store& where(std::span<const Tensor> pieces);
  Packed get_here(const Weights& weights, support::ThreadPool& pool,
                  int threads);
  Block get_here(const Tensor& weight, const OwnFormat& format);
  void borrow(std::span<const Block> blocks);
  // The entry's block, or null where it is gone or was of another weight.
  static Block find(const Entry& entry, std::span<const Tensor> pieces);
  void forget_freed();
  Block pack(const std::vector<Fresh>& fresh, support::ThreadPool& pool,
             int threads);
  Coding find(const Weight& weight, const std::vector<Format>& formats) const;
  // `key` is the weight's.
  Coding survey(const Weight& weight, std::string key,
                const std::vector<Format>& formats);
  bool is_kept(Weight weight, Format format) const;

  CpuLevel level_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::shared_ptr<Survey>> surveys_;
  // What the programs of this store's module have from `of_files`.
  std::vector<std::weak_ptr<const support::AlignedBlock>> borrowed_;
};

}  // namespace fxjit::weights
