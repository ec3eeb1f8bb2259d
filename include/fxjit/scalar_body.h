// ScalarBody: a straight-line program over scalars, the backend-neutral form of
// an elementwise op or of a fused region. Eager functions evaluate it block by
// block and the JIT emits it as vectors; neither knows ops by name.
//
// Values are numbered in order of definition; an instruction refers to earlier
// ones only. Each instruction has the dtype it computes in. f16 and bf16 never
// occur as compute types: they are loaded as f32 and rounded at the store.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/dtype.h"

namespace fxjit {

// What an instruction computes; prims.inc says it of each.
enum class Prim : uint8_t {
#define FXJIT_PRIM(name, arity, cost) name,
#include "fxjit/prims.inc"
};

struct ScalarInstr {
  Prim prim = Prim::constant;
  DType type = DType::f32;  // Of the result. For comparisons: boolean.
  int32_t slot = 0;
  std::array<int32_t, 3> args{-1, -1, -1};
  double imm = 0;
  int64_t bits = 0;  // Integer and bool constants, exact (imm is set as well).

  // Numbers are compared bit for bit: -0.0 differs from 0.0, and a NaN equals
  // itself.
  friend bool operator==(const ScalarInstr& a, const ScalarInstr& b) {
    return a.prim == b.prim && a.type == b.type && a.slot == b.slot &&
           a.args == b.args && a.bits == b.bits &&
           std::bit_cast<uint64_t>(a.imm) == std::bit_cast<uint64_t>(b.imm);
  }
};

int prim_arity(Prim prim);
const char* prim_name(Prim prim);
bool is_reduction(Prim prim);

struct ScalarBody {
  std::vector<ScalarInstr> instrs;
  std::vector<int32_t> results;  // Instruction ids, one per output.

  friend bool operator==(const ScalarBody&, const ScalarBody&) = default;
  std::string str() const;  // "%2:f32 = add %0 %1" lines, for dumps and keys.
};

// Handle used while building a body; arithmetic on handles appends
// instructions. Both operands of a binary operator must have the same type
// (numbers take the type of the other side).
class ScalarBuilder;

struct Scalar {
  ScalarBuilder* builder = nullptr;
  int32_t id = -1;
  DType type() const;
};

class ScalarBuilder {
 public:
  Scalar input(int slot, DType type);
  Scalar constant(double value, DType type);
  Scalar constant_int(int64_t value, DType type);
  Scalar index(int dim);
  // Result type follows the first argument (boolean for comparisons, `type`
  // of args[1] for select).
  Scalar apply(Prim prim, Scalar a);
  Scalar apply(Prim prim, Scalar a, Scalar b);
  Scalar select(Scalar condition, Scalar a, Scalar b);
  Scalar cast(Scalar a, DType type);  // No instruction when equal.
  // Appends `body` with its inputs bound to `inputs`; returns its results.
  std::vector<Scalar> inline_body(const ScalarBody& body,
                                  const std::vector<Scalar>& inputs);

  DType type(int32_t id) const { return body_.instrs[id].type; }
  // Gives the body without instructions that no result needs; slots stay. The
  // builder is empty afterwards.
  ScalarBody finish(const std::vector<Scalar>& results);

 private:
  Scalar push(ScalarInstr instr);  // Reuses an equal earlier instruction.
  ScalarBody body_;
};

Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
Scalar operator/(Scalar a, Scalar b);
Scalar operator+(Scalar a, double b);
Scalar operator-(Scalar a, double b);
Scalar operator*(Scalar a, double b);
Scalar operator/(Scalar a, double b);
Scalar operator+(double a, Scalar b);
Scalar operator-(double a, Scalar b);
Scalar operator*(double a, Scalar b);
Scalar operator/(double a, Scalar b);
Scalar operator-(Scalar a);

}  // namespace fxjit
