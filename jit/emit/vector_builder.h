// Emits explicit vector IR for one function and one CPU level; every code
// skeleton in jit/emit/ is written with it. A thin layer over llvm::IRBuilder
// that knows lane counts, masks, dtypes and NaN rules; it knows no ops and no
// loops over tensors. Smooth functions are in vector_math.h.
//
// A dtype has a type in memory and one in registers. In registers f16 and bf16
// are f32, and boolean is i1; load and store convert. A method that takes
// values accepts scalars and vectors of any lane count, both operands alike.
// Vectors wider than the machine's are legal and split by LLVM.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/dtype.h"
#include "src/support/machine/cache_line.h"
#include "src/support/machine/vector_lanes.h"
#include "src/weights/panels.h"

namespace fxjit::jit {

using llvm::Value;
using Values = std::vector<llvm::Value*>;

using support::kCacheLine;

class VectorBuilder {
 public:
  // Appends to the last block of `function`, made if there is none. Arithmetic
  // on floats is IEEE's: no fast-math flag is set, so that LLVM neither makes
  // one rounding of two nor takes one zero for the other.
  VectorBuilder(llvm::Function& function, CpuLevel level);
  VectorBuilder(const VectorBuilder&) = delete;
  VectorBuilder& operator=(const VectorBuilder&) = delete;

  llvm::IRBuilder<>& ir() { return ir_; }  // For anything not offered here.
  llvm::Function& function() { return function_; }
  llvm::Module& module() { return *function_.getParent(); }
  llvm::LLVMContext& context() { return function_.getContext(); }
  CpuLevel level() const { return level_; }
  // Floats in one vector register: 4, 8 or 16.
  int lanes() const { return support::vector_lanes(level_); }
  bool has_fma() const { return level_ != CpuLevel::sse41; }
  // Whether tables of 32 floats pay. On Intel's AVX-512 a permutation of two
  // registers is as fast as one of one register, on Zen 4 it takes half as long
  // again. Decided by the host's processor unless it is set.
  bool long_tables() const { return long_tables_; }
  void set_long_tables(bool pay) { long_tables_ = pay; }
  Value* arg(int index) { return function_.getArg(index); }

  // ---- Types. A lane count of 0 means lanes().
  llvm::Type* f32() { return ir_.getFloatTy(); }
  llvm::Type* f64() { return ir_.getDoubleTy(); }
  llvm::Type* i1() { return ir_.getInt1Ty(); }
  llvm::Type* i8() { return ir_.getInt8Ty(); }
  llvm::Type* i16() { return ir_.getInt16Ty(); }
  llvm::Type* i32() { return ir_.getInt32Ty(); }
  llvm::Type* i64() { return ir_.getInt64Ty(); }
  llvm::Type* ptr() { return ir_.getPtrTy(); }
  llvm::VectorType* vec(llvm::Type* element, int lanes = 0);
  llvm::Type* memory_type(DType dtype);    // f16, bf16: i16; boolean: i8.
  llvm::Type* register_type(DType dtype);  // See the top of this file.
  // `type` with the lane count of `shape` (a scalar if `shape` is one).
  llvm::Type* with_shape_of(Value* shape, llvm::Type* element);
  static int lane_count(const Value* value);  // 1 for a scalar.

  // ---- Constants.
  Value* f32(double value) { return number(f32(), value); }  // Scalar.
  Value* i32(int32_t value) { return ir_.getInt32(uint32_t(value)); }
  Value* i64(int64_t value) { return ir_.getInt64(uint64_t(value)); }
  // A constant of any scalar or vector type; integers are truncated.
  Value* number(llvm::Type* type, double value);
  Value* integer(llvm::Type* type, int64_t value);  // Exact beyond 2^53.
  Value* like(Value* shape, double value) {
    return number(shape->getType(), value);
  }
  Value* splat(Value* scalar, int lanes = 0);
  Value* splat_f32(double value, int lanes = 0) {
    return number(vec(f32(), lanes), value);
  }
  Value* iota(llvm::Type* integer_element, int lanes = 0);  // 0, 1, 2, ...
  // A private 64-byte aligned constant array of the module, addressed relative
  // to the code. Equal names mean equal data.
  Value* f32_table(std::string_view name, llvm::ArrayRef<float> data);

  // ---- Addresses. `elements` and `bytes` are i64.
  Value* offset_bytes(Value* base, Value* bytes);
  Value* offset_bytes(Value* base, int64_t bytes);
  Value* offset(Value* base, llvm::Type* element, Value* elements);
  Value* offset(Value* base, llvm::Type* element, int64_t elements);

  // ---- Memory, raw types. Alignment 0 means the element's own.
  Value* load_raw(llvm::Type* type, Value* pointer, int alignment = 0);
  void store_raw(Value* value, Value* pointer, int alignment = 0);
  // lanes() floats at a multiple of their size.
  Value* load_aligned(Value* pointer) {
    return load_raw(vec(f32()), pointer, lanes() * 4);
  }
  void store_aligned(Value* value, Value* pointer) {
    store_raw(value, pointer, lanes() * 4);
  }

  // ---- Memory by dtype, converted to and from the type in registers. With a
  // mask (i1 vector) lanes that are off are not touched and load as zero; a
  // null mask is none. `lanes` 1 is a scalar.
  Value* load(DType dtype, Value* pointer, int lanes = 0, int alignment = 0);
  Value* load(DType dtype, Value* pointer, Value* mask);
  void store(DType dtype, Value* value, Value* pointer, Value* mask = nullptr);
  Value* load_scalar(DType dtype, Value* pointer) {
    return load(dtype, pointer, 1);
  }
  // One element in all lanes.
  Value* load_broadcast(DType dtype, Value* pointer, int lanes = 0);
  // Lane k is element indices[k] (i32 or i64, signed). A mask may be null.
  Value* gather(DType dtype, Value* base, Value* indices, Value* mask);
  void scatter(DType dtype, Value* value, Value* base, Value* indices,
               Value* mask);
  // A stack slot in the entry block, 64-byte aligned.
  Value* stack_slot(llvm::Type* type);
  void prefetch(Value* pointer, int cache_level = 1);  // 1: L1, 2: L2, 3: L3.
  void prefetch_to_write(Value* pointer);

  // The first `count` (i64 or i32, at least 0) of `lanes` lanes.
  Value* tail_mask(Value* count, int lanes = 0);

  // ---- Arithmetic on floats and integers (which wrap). Unsigned integers
  // differ where a parameter says so.
  Value* add(Value* a, Value* b);
  Value* sub(Value* a, Value* b);
  Value* mul(Value* a, Value* b);
  // Integers: C's quotient; a divisor of zero is taken as one.
  Value* div(Value* a, Value* b, bool is_unsigned = false);
  // Sign of the dividend, as C's % and fmod.
  Value* rem(Value* a, Value* b, bool is_unsigned = false);
  // a * b + c in one rounding where the level has it, two on sse41.
  Value* fma(Value* a, Value* b, Value* c);
  Value* fnma(Value* a, Value* b, Value* c);  // c - a * b
  Value* neg(Value* a);
  Value* abs(Value* a);  // Signed integers wrap at their minimum.
  Value* copysign(Value* magnitude, Value* sign);
  // Correctly rounded.
  Value* sqrt(Value* a) { return unary(llvm::Intrinsic::sqrt, a); }
  Value* floor(Value* a) { return unary(llvm::Intrinsic::floor, a); }
  Value* ceil(Value* a) { return unary(llvm::Intrinsic::ceil, a); }
  Value* trunc(Value* a) { return unary(llvm::Intrinsic::trunc, a); }
  Value* round_even(Value* a) { return unary(llvm::Intrinsic::roundeven, a); }
  // NaN if either is NaN, as torch.maximum; of two zeros either.
  Value* max(Value* a, Value* b, bool is_unsigned = false);
  Value* min(Value* a, Value* b, bool is_unsigned = false);
  // One instruction: where either is NaN the result is b.
  Value* max_fast(Value* a, Value* b);
  Value* min_fast(Value* a, Value* b);

  // ---- Bits. Shift amounts outside [0, bits) give 0, or the sign for
  // shift_right of signed integers.
  Value* bit_and(Value* a, Value* b) { return ir_.CreateAnd(a, b); }
  Value* bit_or(Value* a, Value* b) { return ir_.CreateOr(a, b); }
  Value* bit_xor(Value* a, Value* b) { return ir_.CreateXor(a, b); }
  Value* bit_not(Value* a) { return ir_.CreateNot(a); }
  Value* shift_left(Value* a, Value* b);
  Value* shift_right(Value* a, Value* b, bool is_unsigned = false);
  Value* bitcast(Value* a, llvm::Type* element);  // Keeps the lane count.

  // ---- Comparisons give i1; with NaN all but `ne` are false.
  Value* eq(Value* a, Value* b);
  Value* ne(Value* a, Value* b);
  Value* lt(Value* a, Value* b, bool is_unsigned = false);
  Value* le(Value* a, Value* b, bool is_unsigned = false);
  Value* gt(Value* a, Value* b, bool is_unsigned = false) {
    return lt(b, a, is_unsigned);
  }
  Value* ge(Value* a, Value* b, bool is_unsigned = false) {
    return le(b, a, is_unsigned);
  }
  Value* is_nan(Value* a);
  Value* select(Value* condition, Value* a, Value* b) {
    return ir_.CreateSelect(condition, a, b);
  }

  // ---- Conversions between dtypes in registers, as static_cast and torch:
  // floats truncate towards zero, boolean is != 0 (NaN is true), f16 and bf16
  // are rounded to even and stay f32. Out-of-range floats give some integer.
  Value* convert(Value* value, DType from, DType to);
  // f32 to i32, half to even; what lies outside, NaN included, is the least.
  Value* round_to_i32(Value* value);
  // From the type in registers to the type in memory, and back.
  Value* to_memory(DType dtype, Value* value);
  Value* from_memory(DType dtype, Value* value);

  // ---- Lanes. Lane counts are powers of two.
  Value* concat(Value* low, Value* high);
  Value* slice(Value* vector, int first, int count);
  Value* lane(Value* vector, int index) {
    return ir_.CreateExtractElement(vector, uint64_t(index));
  }
  // Widens with zeros in the new lanes, or cuts.
  Value* resize(Value* vector, int lanes);
  // Lane k is lane indices[k] (i32, one of the vector's) of floats, of no more
  // lanes than lanes().
  Value* permute(Value* vector, Value* indices);
  // Floats of `a` where `signs` (i32) is negative, of `b` elsewhere: what
  // select() does, but loops need not make the mask again.
  Value* select_negative(Value* signs, Value* a, Value* b);
  // All lanes to one scalar, as a tree of shuffles: always the same order.
  Value* reduce(Value* vector,
                llvm::function_ref<Value*(Value*, Value*)> combine);
  Value* any(Value* mask);
  Value* all(Value* mask);
  // Rows of N lanes, N of them (4, 8 or 16), to columns. Four rows of more
  // lanes: so within each group of four lanes.
  Values transpose(const Values& rows);

  // ---- Control flow with loop-carried values in SSA form. Bodies may make
  // blocks of their own.
  using LoopBody = llvm::function_ref<Values(Value* index, const Values&)>;
  // for (i = lo; i < hi; i += step), signed; integers of one type, step > 0.
  // Returns the carried values after the last iteration (`init` if none ran).
  Values loop(Value* lo, Value* hi, Value* step, const Values& init,
              LoopBody body);
  void loop(Value* lo, Value* hi, Value* step,
            llvm::function_ref<void(Value* index)> body);
  // for (i = lo; i < hi; i += body(i)), signed; steps are greater than zero.
  void loop_by(Value* lo, Value* hi,
               llvm::function_ref<Value*(Value* index)> body);
  void if_then(Value* condition, llvm::function_ref<void()> body);
  // Both sides return the same number of values of the same types.
  Values if_else(Value* condition, llvm::function_ref<Values()> then,
                 llvm::function_ref<Values()> otherwise);
  void ret() { ir_.CreateRetVoid(); }

 private:
  Value* unary(llvm::Intrinsic::ID function, Value* a) {
    return ir_.CreateUnaryIntrinsic(function, a);
  }
  Value* float_to_int(Value* value, llvm::Type* to);
  Value* guarded_divisor(Value* a, Value* b, bool is_unsigned);

  llvm::Function& function_;
  CpuLevel level_;
  bool long_tables_;
  llvm::IRBuilder<> ir_;
};

}  // namespace fxjit::jit
