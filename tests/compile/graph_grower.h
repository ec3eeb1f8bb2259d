// The tools that a random graph grows with: chance, values seen so far, calls
// that are run before they are added. Used by random_graph.cpp only.
#pragma once

#include <functional>
#include <initializer_list>
#include <random>
#include <vector>

#include "fxjit/op.h"
#include "tests/compile/random_graph.h"

namespace fxjit::testing {

// A node with its value.
struct Item {
  fx::Node* node = nullptr;
  Tensor value;
  bool rounded = false;  // Depends on 16-bit floats.
};

// What jumps keeps this distance from its jumps.
inline constexpr double kMargin = 1e-3;

bool is_float(const Tensor& t);
// Whether `holds` for every finite element.
bool all_of(const Tensor& t, const std::function<bool(double)>& holds);
bool far_from_zero(const Tensor& t);
// No element plus `shift` is near an integer.
bool far_from_integers(const Tensor& t, double shift);
// No two elements that meet when broadcast are near each other.
bool apart(const Tensor& x, const Tensor& y);

class GraphGrower {
 public:
  explicit GraphGrower(uint32_t seed);

 protected:
  int64_t pick(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint32_t>(bound));
  }
  bool chance(double p) { return random_() < p * 4294967296.0; }
  template <typename T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[pick(static_cast<int64_t>(list.size()))];
  }
  int64_t random_size();
  Dims random_sizes();
  DType random_dtype();
  int64_t random_dim(const Tensor& t);
  Value random_dims(const Tensor& t);
  Dims random_factors(int64_t count);
  Tensor random_indices(const Dims& sizes, int64_t bound, DType type);

  Item add_input(const Dims& sizes, DType dtype);
  Item add_input(const Tensor& value);
  Item add_constant(const Dims& sizes);
  Item input_or_constant(const Dims& sizes);

  // A value seen so far; later ones are likelier.
  Item any();
  Item any_float();
  // A value that broadcasts with `item`.
  Item partner(const Item& item);

  // Runs and adds a call of a canonical op; false when it does not fit. Values
  // stand in `args` as their nodes.
  bool call(const char* name, ValueList args);
  void finish();

  std::mt19937 random_;
  GraphCase case_;
  std::vector<Item> items_;
  bool large_ = false;    // A few greater sizes.
  bool special_ = false;  // Infinities and NaN among the inputs.

 private:
  Tensor random_values(const Dims& sizes, DType dtype);
  Tensor strided_values(const Dims& sizes, DType dtype);
  const Item& item_of(const fx::Node* node) const;
  Item keep(fx::Node* node, const Tensor& value, bool rounded);
  void add_call(const ops::Op& op, ValueList args, const Tensor& value,
                bool rounded);
};

}  // namespace fxjit::testing
