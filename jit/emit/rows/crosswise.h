// Moves a group of rows between an operand whose rows lie crosswise and
// scratch, where they are contiguous. Used by the row skeleton only.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/rows/code.h"

namespace fxjit::jit {

// One operand for the code that is emitted.
struct CrosswiseOperand {
  DType dtype;
  Value* stride;   // Along the row, in elements.
  Value* memory;   // First element of the group's first row.
  Value* scratch;  // The same in scratch.
};

// The last `dims` outer dims, over which rows are neighbours. `outer` are the
// positions of a row along all outer dims.
class RowSpan {
 public:
  RowSpan(VectorBuilder& b, const Values& sizes, int dims);

  // The number of the row among the neighbours.
  Value* place(const Values& outer) const;
  // How many neighbours there are from the row on.
  Value* left(const Values& outer) const;
  // Changes `outer` to the row with this number.
  void go_to(Value* place, Values& outer) const;

 private:
  VectorBuilder& b_;
  Values sizes_;
};

enum class Direction { load, store };

// `rows` (i64, at most crosswise.rows) rows of `inner` elements each, loaded to
// scratch or stored from it.
void emit_crosswise(VectorBuilder& b, const program::Crosswise& crosswise,
                    const CrosswiseOperand& operand, int64_t inner,
                    Direction direction, Value* rows);

}  // namespace fxjit::jit
