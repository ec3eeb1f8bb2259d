// The tile registers of AMX: eight, of up to 16 rows of up to 64 bytes. Used by
// integer products only. Everything that needs the instructions is here; tests
// put functions in C++ in place of them.
#pragma once

#include <array>

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

class TileRegisters {
 public:
  static constexpr int kRegisters = 8;

  // Allows the function that `b` builds to use them.
  explicit TileRegisters(VectorBuilder& b);

  // Gives them their shapes, with rows of 64 bytes: i64 by register. None is 0.
  void configure(const std::array<Value*, kRegisters>& rows);
  void zero(int tile);
  // Rows are `stride` bytes (i64) apart.
  void load(int tile, Value* from, Value* stride);
  void store(int tile, Value* to, Value* stride);
  // Adds to sums of 32 bits the products of rows of 64 numbers, s8 if
  // `is_signed` and u8 otherwise, and of 16 rows of quads of s8.
  void add_products(int sums, int rows, int quads, bool is_signed);
  // The shapes and what the registers hold are lost, and the system need not
  // save them any more.
  void release();

 private:
  Value* number(int tile) {
    return b_.ir().getInt8(static_cast<uint8_t>(tile));
  }

  VectorBuilder& b_;
};

}  // namespace fxjit::jit
