#include "jit/emit/integers/tile_registers.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace fxjit::jit {
namespace {

namespace x86 = llvm::Intrinsic;

// What LDTILECFG reads: the number of this layout, bytes of rows (i16) and
// rows (i8) by register.
constexpr int64_t kConfigBytes = 64, kRowBytesAt = 16, kRowsAt = 48;
constexpr uint8_t kPalette = 1;
constexpr uint16_t kRowBytes = 64;

}  // namespace

TileRegisters::TileRegisters(VectorBuilder& b) : b_(b) {
  b.function().addFnAttr("target-features", "+amx-tile,+amx-int8");
}

void TileRegisters::configure(const std::array<Value*, kRegisters>& rows) {
  Value* config = b_.stack_slot(b_.vec(b_.i8(), kConfigBytes));
  b_.store_raw(b_.integer(b_.vec(b_.i8(), kConfigBytes), 0), config, 1);
  b_.store_raw(b_.ir().getInt8(kPalette), config);
  for (int tile = 0; tile < kRegisters; ++tile) {
    b_.store_raw(b_.ir().getInt16(kRowBytes),
                 b_.offset_bytes(config, kRowBytesAt + 2 * tile));
    b_.store_raw(
        b_.ir().CreateTrunc(rows[static_cast<size_t>(tile)], b_.i8()),
        b_.offset_bytes(config, kRowsAt + tile));
  }
  b_.ir().CreateIntrinsic(x86::x86_ldtilecfg, {}, {config});
}

void TileRegisters::zero(int tile) {
  b_.ir().CreateIntrinsic(x86::x86_tilezero, {}, {number(tile)});
}

void TileRegisters::load(int tile, Value* from, Value* stride) {
  b_.ir().CreateIntrinsic(x86::x86_tileloadd64, {},
                          {number(tile), from, stride});
}

void TileRegisters::store(int tile, Value* to, Value* stride) {
  b_.ir().CreateIntrinsic(x86::x86_tilestored64, {},
                          {number(tile), to, stride});
}

void TileRegisters::add_products(int sums, int rows, int quads,
                                 bool is_signed) {
  b_.ir().CreateIntrinsic(is_signed ? x86::x86_tdpbssd : x86::x86_tdpbusd, {},
                          {number(sums), number(rows), number(quads)});
}

void TileRegisters::release() {
  b_.ir().CreateIntrinsic(x86::x86_tilerelease, {}, {});
}

}  // namespace fxjit::jit
