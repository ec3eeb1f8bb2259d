// Algebraic rewrites of a row step's body that save work because a value is
// constant along the row. Used when a row step is analysed.
#pragma once

#include <cstdint>
#include <vector>

#include "src/program/rows/step.h"

namespace fxjit::program {

// For each instruction of the body, whether its value differs along the row.
std::vector<bool> varies_along_row(const RowStep& step);

// Makes the step's body an equivalent one with
//   x / s              as  x * (1 / s)                  s: a root, a softmax
//   sum max_row(y * r - c) as  max_row(y) * r - c, r >= 0   for a softmax
// where s and r are f32 row constants of a harmless magnitude, so that results
// stay within 2 units in the last place.
void rewrite_body(RowStep& step);

// Facts that hold for the values of a body for all inputs without NaN. Values
// are named by the number of their instruction. `body` must outlive the object.
class BodyFacts {
 public:
  explicit BodyFacts(const ScalarBody& body);

  // The value is at least zero. It may be -0, whose reciprocal is minus
  // infinity.
  bool not_negative(int32_t id) const { return not_negative_[size_t(id)]; }
  // The value is at least +0, never -0.
  bool no_sign(int32_t id) const { return no_sign_[size_t(id)]; }
  // No element of `value` along the row is above `maximum`. This holds if
  // `maximum` is reduce_max(value), or if the same monotone operations were
  // applied to such a pair.
  bool is_row_maximum(int32_t maximum, int32_t value) const;
  // The value is exp(y - m), where m is the maximum of y along the row.
  bool is_softmax_exp(int32_t id) const;
  // The value is a maximum that serves only as the shift of softmaxes. A NaN in
  // the row then makes the sum NaN, and so every result, whatever the maximum
  // is.
  bool only_shifts_softmax(int32_t id) const {
    return only_shifts_softmax_[size_t(id)];
  }
  // The value is f32, and its reciprocal is neither inexact nor infinite by its
  // magnitude. It may still be zero, infinite or NaN.
  bool has_safe_reciprocal(int32_t id) const;
  // The result of `instr` does not fall when its argument `which` (0 or 1)
  // grows.
  bool is_monotone(const ScalarInstr& instr, size_t which) const;

 private:
  bool find_not_negative(const ScalarInstr& instr) const;
  bool find_no_sign(const ScalarInstr& instr) const;
  double find_greatest(const ScalarInstr& instr) const;
  bool find_only_shifts_softmax(int32_t id) const;
  bool ends_in_softmax(int32_t id) const;

  const ScalarBody& body_;
  std::vector<bool> not_negative_;
  std::vector<bool> no_sign_;
  std::vector<double> greatest_;  // Infinity where nothing is known.
  std::vector<bool> only_shifts_softmax_;
};

}  // namespace fxjit::program
