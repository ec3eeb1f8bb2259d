// Random numbers: torch's generator of the CPU. A Generator with the same seed
// gives the numbers that torch gives (docs/torch_fx.md tells where they
// differ). The random functions of fxjit/functions_random.h draw from
// default_generator unless an argument `generator` names another.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <random>

#include "fxjit/value.h"

namespace fxjit {

// Thread-safe: a call of a random function holds the generator until all its
// numbers are drawn. As an argument of a call it is written
// Value::opaque(generator), which shares ownership; make it with `new`.
class Generator : public Counted {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  explicit Generator(uint64_t seed = kDefaultSeed);

  // Starts the numbers of `seed` from their beginning.
  void manual_seed(uint64_t seed);
  // Takes a seed from the system's source of randomness and returns it.
  uint64_t seed();
  uint64_t initial_seed() const;

  // A run of numbers that no other thread draws from in between.
  class Draw {
   public:
    uint32_t bits32();
    uint64_t bits64();
    float uniform24();   // In [0, 1), a multiple of 2^-24.
    double uniform53();  // In [0, 1), a multiple of 2^-53.
    double normal();     // Mean 0, deviation 1; they are made in pairs.

   private:
    friend class Generator;
    explicit Draw(Generator& generator)
        : generator_(generator), lock_(generator.mutex_) {}
    Generator& generator_;
    std::unique_lock<std::mutex> lock_;
  };
  Draw draw() { return Draw(*this); }

 private:
  mutable std::mutex mutex_;
  uint64_t seed_;
  std::mt19937 engine_;
  std::optional<double> next_normal_;
};

// The generator of the process. Its first seed is the system's; manual_seed
// makes runs repeatable.
Generator& default_generator();

// torch.manual_seed: seeds the default generator. First values of layers come
// from a generator of their own, see nn::manual_seed.
void manual_seed(uint64_t seed);

}  // namespace fxjit
