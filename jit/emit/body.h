// Emits the instructions of a ScalarBody on vectors, for all code skeletons of
// jit/emit/. It knows the primitives; inputs, indices and reductions come from
// the skeleton.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <functional>
#include <vector>

#include "fxjit/scalar_body.h"
#include "jit/emit/quantisings.h"
#include "jit/emit/quotients.h"
#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

// Converts `value` of dtype `from` to dtype `to`, both as they are computed in
// registers: f16 and bf16 are f32 there.
Value* convert_computed(VectorBuilder& b, Value* value, DType from, DType to);

// The values of a body for one vector of elements. Each is emitted at most
// once, when it is first asked for, at the builder's position. All later uses
// must be dominated by that position.
class BodyValues {
 public:
  // Gives the value of an instruction that is known otherwise, or null to have
  // it emitted. It must know every input, index and reduction. It may ask
  // `values` for other instructions.
  using Known = std::function<Value*(BodyValues& values, int32_t id)>;

  // `body` must outlive the object. Constants are made with `lanes` lanes.
  BodyValues(VectorBuilder& b, const ScalarBody& body, int lanes, Known known);

  Value* get(int32_t id);
  // Whether the value is needed for one other value alone, which is emitted
  // without it (see Quotients). Skeletons need not ask for it.
  bool is_part(int32_t id) const { return quotients_.is_part(id); }
  // The operand of a reduction, in the reduction's type.
  Value* reduced(const ScalarInstr& reduction);
  // body.results[r] converted for a store of `dtype`.
  Value* result(size_t r, DType dtype);

 private:
  Value* emit(int32_t id);
  Value* known(int32_t id);
  Value* emit_quotient(int32_t id);
  Value* emit_quantising(int32_t id);

  VectorBuilder& b_;
  const ScalarBody& body_;
  Quotients quotients_;
  Quantisings quantisings_;
  int lanes_;
  Known known_;
  std::vector<Value*> values_;
};

}  // namespace fxjit::jit
