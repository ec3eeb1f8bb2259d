// What the binding of one program asks of a store, and the time it took:
// reports state it as packing.
#pragma once

#include <chrono>
#include <span>
#include <type_traits>

#include "src/weights/store.h"

namespace fxjit::weights {

// For one thread at a time. Refers to the store.
class Packer {
 public:
  // Packs on up to `threads` threads of the pool.
  Packer(Store& store, support::ThreadPool& pool, int threads)
      : store_(store), pool_(pool), threads_(threads) {}

  // As the functions of Store.
  Coding coding(const Weight& weight) {
    return timed([&] { return store_.coding(weight); });
  }
  Store::Packed get(std::span<const Weight> weights) {
    return timed([&] { return store_.get(weights, pool_, threads_); });
  }
  Block get(const Tensor& weight, const Form& form) {
    return timed([&] { return store_.get(weight, form); });
  }

  double milliseconds() const { return milliseconds_; }

 private:
  template <typename Work>
  std::invoke_result_t<Work> timed(Work work) {
    const auto start = std::chrono::steady_clock::now();
    auto result = work();
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    milliseconds_ += took.count();
    return result;
  }

  Store& store_;
  support::ThreadPool& pool_;
  int threads_;
  double milliseconds_ = 0;
};

}  // namespace fxjit::weights
