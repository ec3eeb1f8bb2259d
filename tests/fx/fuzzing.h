// Seeds and lengths of the fuzz tests. FXJIT_FUZZ_SECONDS=600 runs each for so
// long instead of its bounded number of rounds; FXJIT_FUZZ_SEED=7 starts there.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>

namespace fxjit::fx::fuzzing {

using Random = std::mt19937_64;

// Runs `round` with generators of consecutive seeds. What a round throws, or
// what fails in it, is reported with its seed, which alone repeats it.
void run(int rounds, const std::function<void(Random&)>& round);

// Below `bound`, which is above 0.
inline size_t pick(Random& random, size_t bound) { return random() % bound; }

// `text` with up to three pieces removed, changed, doubled or moved.
std::string damaged(std::string text, Random& random);

}  // namespace fxjit::fx::fuzzing
