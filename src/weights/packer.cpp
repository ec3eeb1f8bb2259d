#include "src/weights/packer.h"

#include <chrono>

namespace fxjit::weights {
namespace {

using Clock = std::chrono::steady_clock;

// Adds what `work` takes to `milliseconds` and gives its result.
template <typename Work>
auto timed(double& milliseconds, Work work) {
  const Clock::time_point start = Clock::now();
  auto result = work();
  const std::chrono::duration<double, std::milli> took = Clock::now() - start;
  milliseconds += took.count();
  return result;
}

}  // namespace

Coding Packer::coding(const Weight& weight) {
  return timed(milliseconds_, [&] { return store_.coding(weight); });
}

Store::Packed Packer::get(std::span<const Weight> weights) {
  return timed(milliseconds_,
               [&] { return store_.get(weights, pool_, threads_); });
}

Block Packer::get(const Tensor& weight, const Form& form) {
  return timed(milliseconds_, [&] { return store_.get(weight, form); });
}

}  // namespace fxjit::weights
