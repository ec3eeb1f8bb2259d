// Finds the values of a body that are floats quantised to 8 bits: rounded half
// to even, moved by a zero point, and held between two numbers, NaN as the
// least. They are emitted on integers, whose packing saturates, several to a
// register.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fxjit/scalar_body.h"
#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

struct Quantising {
  int32_t real = -1;  // What is rounded; -1: the value is no such one.
  int32_t zero = -1;  // The zero point as an integer of 8 bits; -1: none.
  int low = 0, high = 0;
  bool is_signed = false;
};

class Quantisings {
 public:
  explicit Quantisings(const ScalarBody& body);

  // How the value of a cast is made.
  const Quantising& of(int32_t id) const { return found_[size_t(id)]; }

 private:
  std::vector<Quantising> found_;
};

// The 8-bit integers of a vector of floats of any lane count. `zero`, in i16,
// is null for none, a scalar or a vector.
Value* emit_quantised(VectorBuilder& b, Value* real, Value* zero,
                      const Quantising& quantising);

// Those of four vectors of lanes() floats, side by side: each lane's four in
// the order of the vectors, as an i32. `zero` is null or a scalar.
Value* emit_quantised_columns(VectorBuilder& b, const Values& reals,
                              Value* zero, const Quantising& quantising);

}  // namespace fxjit::jit
