// What the binding of one program asks of a store, and the time it took:
// reports state it as packing.
#pragma once

#include <chrono>
#include <exception>
#include <span>
#include <type_traits>
#include <vector>

#include "src/weights/store.h"

namespace fxjit::weights {

// For one thread at a time. Refers to the store.
class Packer {
 public:
  // Packs on up to `threads` threads of the pool.
  Packer(Store& store, support::ThreadPool& pool, int threads)
      : store_(store), pool_(pool), threads_(threads) {}

  // Sets the coding of the weights that have formats to choose from, on all
  // threads. Passes on what Store::coding throws.
  void choose_codings(std::span<Weight> weights) {
    timed([&] { choose(weights); });
  }
  // As the functions of Store.
  Store::Packed get(std::span<const Weight> weights) {
    return timed([&] { return store_.get(weights, pool_, threads_); });
  }
  Block get(const Tensor& weight, const OwnFormat& format) {
    return timed([&] { return store_.get(weight, format); });
  }

  double milliseconds() const { return milliseconds_; }

 private:
  // Adds the time of its life.
  class Timer {
   public:
    explicit Timer(double& milliseconds) : milliseconds_(milliseconds) {}
    ~Timer() {
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start_;
      milliseconds_ += took.count();
    }

   private:
    double& milliseconds_;
    std::chrono::steady_clock::time_point start_ =
        std::chrono::steady_clock::now();
  };

  template <typename Work>
  std::invoke_result_t<Work> timed(Work work) {
    const Timer timer(milliseconds_);
    return work();
  }

  // Tasks of a pool must not throw.
  void choose(std::span<Weight> weights) {
    std::vector<std::exception_ptr> errors(weights.size());
    const auto choose_one = [&](size_t i) {
      try {
        if (!weights[i].spec.formats.empty())
          weights[i].coding = store_.coding(weights[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    };
    pool_.parallel_for(
        static_cast<int64_t>(weights.size()),
        [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i)
            choose_one(static_cast<size_t>(i));
        },
        threads_);
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }

  Store& store_;
  support::ThreadPool& pool_;
  int threads_;
  double milliseconds_ = 0;
};

}  // namespace fxjit::weights
