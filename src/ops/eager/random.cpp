#include "fxjit/random.h"

#include <cmath>
#include <numbers>

namespace fxjit {
namespace {

uint64_t system_seed() {
  std::random_device source;
  const uint64_t high = source();
  return high << 32 | source();
}

// The engine takes the low half of a seed, as torch's does.
std::mt19937 engine_of(uint64_t seed) {
  return std::mt19937(static_cast<uint32_t>(seed));
}

}  // namespace

Generator::Generator(uint64_t seed) : seed_(seed), engine_(engine_of(seed)) {}

void Generator::manual_seed(uint64_t seed) {
  const std::lock_guard lock(mutex_);
  seed_ = seed;
  engine_ = engine_of(seed);
  next_normal_.reset();
}

uint64_t Generator::seed() {
  const uint64_t seed = system_seed();
  manual_seed(seed);
  return seed;
}

uint64_t Generator::initial_seed() const {
  const std::lock_guard lock(mutex_);
  return seed_;
}

uint32_t Generator::Draw::bits32() {
  return static_cast<uint32_t>(generator_.engine_());
}

uint64_t Generator::Draw::bits64() {
  const uint64_t high = bits32();
  return high << 32 | bits32();
}

float Generator::Draw::uniform24() {
  constexpr uint32_t kMask = (uint32_t{1} << 24) - 1;
  return static_cast<float>(bits32() & kMask) * 0x1p-24f;
}

double Generator::Draw::uniform53() {
  constexpr uint64_t kMask = (uint64_t{1} << 53) - 1;
  return static_cast<double>(bits64() & kMask) * 0x1p-53;
}

double Generator::Draw::normal() {
  std::optional<double>& next = generator_.next_normal_;
  if (next) {
    const double value = *next;
    next.reset();
    return value;
  }
  const double angle = 2 * std::numbers::pi * uniform53();
  const double radius = std::sqrt(-2 * std::log1p(-uniform53()));
  next = radius * std::sin(angle);
  return radius * std::cos(angle);
}

Generator& default_generator() {
  // Never destroyed: threads that outlive main may draw.
  static Generator* const generator = new Generator(system_seed());
  return *generator;
}

void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }

}  // namespace fxjit
