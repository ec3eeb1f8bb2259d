// What the code of row and column steps depends on. Sizes and strides that
// change with the batch or the length of a sequence are arguments of the code:
// a form has kAny in their place, so that equal forms are equal code whatever
// the sizes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps/steps.h"

namespace fxjit::program {

// A size or stride that is an argument; far from all that have code of their
// own.
inline constexpr int64_t kAny = int64_t{1} << 20;

struct RowForm {
  RowStep step;
  // For heavy bodies without reductions: which inputs are worth fetching ahead.
  std::vector<bool> streams;
};

// Sizes of outer dims, of which there are two at least, and their strides are
// arguments, but for strides of 0 of the last one; so are what gathers need
// and, of crosswise operands, the stride along the row; and the length of rows
// that are cut into chunks and of those without reductions, short ones of whole
// vectors aside.
RowForm row_form(const RowStep& step, CpuLevel level);

struct ColumnForm {
  ColumnStep step;
  // The last inputs of `step` are that many numbers of the body, which lie
  // behind the step's other arguments: counts and tolerances.
  int numbers = 0;
  // Where the count of columns is an argument: whether there are whole blocks
  // of column_block() columns, and the vectors of the last block if it is a
  // smaller one, whose last vector may be partial.
  bool whole_blocks = false;
  int rest_vectors = 0;
  bool rest_partial = false;
};

// The same of one outer dim at least; and sizes of reduced dims above some, and
// their strides; the count of columns; and numbers of the body.
ColumnForm column_form(const ColumnStep& step, CpuLevel level);

// Text that is equal for equal forms.
std::string form_key(const RowForm& form);
std::string form_key(const ColumnForm& form);

// Where a step's arguments stand in what the code gets, in 64-bit numbers.
class ArgumentPlaces {
 public:
  // `step` is the step of a form, or a step that has the form.
  explicit ArgumentPlaces(const RowStep& step);
  explicit ArgumentPlaces(const ColumnStep& step);

  size_t inner() const { return 0; }
  size_t outer(size_t dim) const { return 1 + dim; }
  size_t reduce(size_t dim) const { return outer(outer_) + dim; }
  // Strides of the operand; inputs come first.
  size_t outer(size_t operand, size_t dim) const {
    return reduce(reduce_) + operand * per_operand() + dim;
  }
  size_t reduce(size_t operand, size_t dim) const {
    return outer(operand, outer_) + dim;
  }
  size_t inner(size_t operand) const { return reduce(operand, reduce_); }
  size_t gather_stride(size_t operand) const { return inner(operand) + 1; }
  size_t gather_limit(size_t operand) const { return inner(operand) + 2; }
  size_t number(size_t which) const { return outer(operands_, 0) + which; }

 private:
  size_t per_operand() const { return outer_ + reduce_ + 3; }

  size_t operands_;
  size_t outer_;
  size_t reduce_ = 0;
};

// What the code of a step gets in KernelCall::data.
std::vector<int64_t> step_arguments(const RowStep& step);
std::vector<int64_t> step_arguments(const ColumnStep& step);

}  // namespace fxjit::program
