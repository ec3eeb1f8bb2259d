// Rewrites of a row step's body that pay because a value is constant along the
// row.
#pragma once

#include <cstdint>
#include <vector>

#include "src/program/rows/step.h"

namespace fxjit::program {

// Per instruction of a row step's body: whether it differs along the row.
std::vector<bool> varies_along_row(const RowStep& step);

// Makes the step's body an equivalent one with
//   x / s              as  x * (1 / s)                  s: a root, a softmax
//   sum max_row(y * r - c) as  max_row(y) * r - c, r >= 0   for a softmax
// where s and r are f32 row constants of a harmless magnitude, so that results
// stay within 2 units in the last place.
void rewrite_body(RowStep& step);

// What holds for the values of a body whatever its inputs are (NaN aside).
// `body` must outlive the object.
class BodyFacts {
 public:
  explicit BodyFacts(const ScalarBody& body);

  // At least zero; may be -0, so that its reciprocal may be minus infinity.
  bool not_negative(int32_t id) const { return not_negative_[size_t(id)]; }
  // At least +0: not negative, and never -0.
  bool no_sign(int32_t id) const { return no_sign_[size_t(id)]; }
  // No element of `value` along the row is above `maximum`: that is
  // reduce_max(value), or both went through the same monotone operations.
  bool is_row_maximum(int32_t maximum, int32_t value) const;
  // exp(y - m) where m is the row's maximum of y.
  bool is_softmax_exp(int32_t id) const;
  // A maximum that only shifts softmaxes: a NaN in the row makes the sum, and
  // so all results, NaN, whatever the maximum is.
  bool only_shifts_softmax(int32_t id) const {
    return only_shifts_softmax_[size_t(id)];
  }
  // f32 and surely not so great or small that the reciprocal is inexact or
  // infinite (zero, infinity and NaN are fine).
  bool has_safe_reciprocal(int32_t id) const;
  // instr does not fall when its argument number `which` grows.
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
