// What the binding of one program asks of a store, and the time it took:
// reports state it as packing.
#pragma once

#include <span>

#include "src/weights/store.h"

namespace fxjit::weights {

// For one thread at a time. Refers to the store.
class Packer {
 public:
  // Packs on up to `threads` threads of the pool.
  Packer(Store& store, support::ThreadPool& pool, int threads)
      : store_(store), pool_(pool), threads_(threads) {}

  // As the functions of Store.
  Coding coding(const Weight& weight);
  Store::Packed get(std::span<const Weight> weights);
  Block get(const Tensor& weight, const Form& form);

  double milliseconds() const { return milliseconds_; }

 private:
  Store& store_;
  support::ThreadPool& pool_;
  int threads_;
  double milliseconds_ = 0;
};

}  // namespace fxjit::weights
