#include "tests/fx/fuzzing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

namespace fxjit::fx::fuzzing {
namespace {

uint64_t number_from(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : 0;
}

}  // namespace

void run(int rounds, const std::function<void(Random&)>& round) {
  using Clock = std::chrono::steady_clock;
  const uint64_t first = number_from("FXJIT_FUZZ_SEED");
  const auto seconds =
      std::chrono::seconds(number_from("FXJIT_FUZZ_SECONDS"));
  const auto end = Clock::now() + seconds;
  for (uint64_t i = 0;; ++i) {
    if (seconds.count() > 0 ? Clock::now() >= end
                            : i >= static_cast<uint64_t>(rounds))
      return;
    const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                       "seed " + std::to_string(first + i));
    Random random(first + i);
    round(random);
    if (::testing::Test::HasFailure()) return;
  }
}

std::string damaged(std::string text, Random& random) {
  const std::string good = text;
  const size_t edits = 1 + pick(random, 3);
  for (size_t i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = pick(random, text.size());
    switch (pick(random, 5)) {
      case 0:
        text.erase(at, 1 + pick(random, 8));
        break;
      case 1:
        text[at] = static_cast<char>(random());
        break;
      case 2:
        text[at] = static_cast<char>(text[at] ^ (1 << pick(random, 7)));
        break;
      case 3:
        text.insert(at, good, pick(random, good.size()), pick(random, 12));
        break;
      default: {
        // A token of the same kind elsewhere: digits for digits.
        const size_t from = pick(random, good.size());
        text.replace(at, 1 + pick(random, 4), good, from, pick(random, 5));
        break;
      }
    }
  }
  return text;
}

}  // namespace fxjit::fx::fuzzing
