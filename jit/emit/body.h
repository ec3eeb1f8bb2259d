// Emission of ScalarBody instructions on vectors, for all code skeletons of
// jit/emit/. Knows the primitives; leaves (input, index) and reductions are the
// skeleton's business.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <functional>
#include <vector>

#include "fxjit/scalar_body.h"
#include "jit/emit/quotients.h"
#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

// The register form of `value`, of type `from`, in type `to`; f16 and bf16 are
// computed with as f32.
Value* convert_computed(VectorBuilder& b, Value* value, DType from, DType to);

// The values of a body for one vector of elements, emitted on demand at the
// builder's position, each at most once. All that is asked of one object must
// be emitted where earlier values dominate.
class BodyValues {
 public:
  // The value of an instruction that is known by other means, as that of every
  // input, index and reduction must be; null: emit the instruction. May ask
  // `values` for other instructions.
  using Known = std::function<Value*(BodyValues& values, int32_t id)>;

  // `body` must outlive the object. `lanes` is what constants are made with.
  BodyValues(VectorBuilder& b, const ScalarBody& body, int lanes, Known known);

  Value* get(int32_t id);
  // Whether the value is needed for another's sake alone, which is computed
  // without it: it need not be asked for.
  bool is_part(int32_t id) const { return quotients_.is_part(id); }
  // The operand of a reduction, in the reduction's type.
  Value* reduced(const ScalarInstr& reduction);
  // body.results[r] converted for a store of `dtype`.
  Value* result(size_t r, DType dtype);

 private:
  Value* emit(int32_t id);
  Value* known(int32_t id);
  Value* emit_quotient(int32_t id);

  VectorBuilder& b_;
  const ScalarBody& body_;
  Quotients quotients_;
  int lanes_;
  Known known_;
  std::vector<Value*> values_;
};

}  // namespace fxjit::jit
