// What becomes of the sums of integer tiles. They go to scratch, by rows, and
// are read back along the rows by the epilogue; results of 8 bits whose
// epilogue reads one number for each column are made of the sums as they stand
// in registers, rows in the lanes, eight columns at a time.
#pragma once

#include "jit/emit/epilogue.h"
#include "jit/emit/quantisings.h"
#include "src/program/integers/form.h"

namespace fxjit::jit {

class IntegerResults {
 public:
  // At the kernel's beginning.
  IntegerResults(VectorBuilder& b, const program::IntegerForm& form);

  // Whether two groups of columns may be put at once.
  bool takes_pairs() const { return takes_pairs_; }
  // The sums of a group of columns, by vector of rows and column, and of the
  // next one.
  void put_pair(const Values& first, const Values& second, Value* column);

  // The sums of a group of columns to scratch.
  void keep(const Values& sums, Value* column);
  // Those of one row, four columns.
  void keep_row(Value* sums, Value* column);
  // Applies the epilogue to what was kept, from this column on.
  void finish(Value* column);

 private:
  Value* packed_rows(const Values& sums, int vector, Value* column);
  Value* real(Value* sum, Value* column);
  void put_rows(Value* rows, int first, Value* column);
  void find_rows();
  void keep_columns(const Values& sums, int vector, Value* column);
  int wide_lanes() const;
  Value* finish_vectors(Value* row, Value* first, int lanes,
                        const Values& numbers);
  void finish_vector(Value* row, Value* column, int lanes,
                     const Values& numbers, Value* mask);

  VectorBuilder& b_;
  const program::IntegerForm& form_;
  Value *sums_, *sums_row_;
  EpilogueOperands operands_;
  bool takes_pairs_ = false;
  // Of pairs alone: how the result is made, where the rows of the result begin,
  // the numbers of the epilogue.
  Quantising quantising_;
  Values rows_, numbers_;
};

}  // namespace fxjit::jit
