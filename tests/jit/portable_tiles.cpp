#include "tests/jit/portable_tiles.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace fxjit::jit::testing {
namespace {

constexpr int kRegisters = 8, kMostRows = 16, kMostBytes = 64;

struct Register {
  int rows = 0, bytes = 0;
  std::array<std::array<uint8_t, kMostBytes>, kMostRows> data{};

  int32_t word(int row, int at) const {
    int32_t word = 0;
    std::memcpy(&word, &data[row][4 * at], sizeof word);
    return word;
  }
  void set_word(int row, int at, int32_t word) {
    std::memcpy(&data[row][4 * at], &word, sizeof word);
  }
};

struct Registers {
  bool is_configured = false;
  std::array<Register, kRegisters> all{};
  const char* error = "";

  void expect(bool is_right, const char* what) {
    if (!is_right && *error == 0) error = what;
  }
  Register& at(int8_t number) {
    expect(is_configured, "a register is used before LDTILECFG");
    Register& found = all[static_cast<size_t>(number)];
    expect(found.rows > 0 && found.bytes > 0, "a register without a shape");
    return found;
  }
};

Registers registers;

void configure(const uint8_t* config) {
  registers.expect(config[0] == 1, "an unknown palette");
  for (int i = 1; i < 16; ++i)
    registers.expect(config[i] == 0, "a reserved byte of the configuration");
  for (int i = 0; i < kRegisters; ++i) {
    uint16_t bytes = 0;
    std::memcpy(&bytes, config + 16 + 2 * i, sizeof bytes);
    const int rows = config[48 + i];
    registers.expect(bytes <= kMostBytes && rows <= kMostRows,
                     "a shape that is too large");
    registers.all[static_cast<size_t>(i)] = {rows, bytes, {}};
  }
  registers.is_configured = true;
}

void zero(int8_t number) { registers.at(number).data = {}; }

void load(int8_t number, const uint8_t* from, int64_t stride) {
  Register& to = registers.at(number);
  to.data = {};
  for (int r = 0; r < to.rows; ++r)
    std::memcpy(to.data[r].data(), from + r * stride,
                static_cast<size_t>(to.bytes));
}

void store(int8_t number, uint8_t* to, int64_t stride) {
  const Register& from = registers.at(number);
  for (int r = 0; r < from.rows; ++r)
    std::memcpy(to + r * stride, from.data[r].data(),
                static_cast<size_t>(from.bytes));
}

template <typename Left>
void multiply(int8_t sums_number, int8_t rows_number, int8_t quads_number) {
  Register& sums = registers.at(sums_number);
  const Register& rows = registers.at(rows_number);
  const Register& quads = registers.at(quads_number);
  registers.expect(sums.rows == rows.rows && sums.bytes == quads.bytes &&
                       rows.bytes == 4 * quads.rows,
                   "shapes that do not fit one another");
  for (int m = 0; m < sums.rows; ++m)
    for (int n = 0; n < sums.bytes / 4; ++n) {
      auto sum = static_cast<uint32_t>(sums.word(m, n));
      for (int k = 0; k < rows.bytes; ++k)
        sum += static_cast<uint32_t>(
            int{static_cast<Left>(rows.data[m][k])} *
            int{static_cast<int8_t>(quads.data[k / 4][4 * n + k % 4])});
      sums.set_word(m, n, static_cast<int32_t>(sum));
    }
}

void release() {
  registers.expect(registers.is_configured, "TILERELEASE without LDTILECFG");
  registers.is_configured = false;
}

// The function in place of an instruction, null for others.
const void* function_of(llvm::Intrinsic::ID instruction) {
  using namespace llvm::Intrinsic;
  static const std::map<ID, const void*> functions{
      {x86_ldtilecfg, reinterpret_cast<const void*>(configure)},
      {x86_tilezero, reinterpret_cast<const void*>(zero)},
      {x86_tileloadd64, reinterpret_cast<const void*>(load)},
      {x86_tilestored64, reinterpret_cast<const void*>(store)},
      {x86_tdpbusd, reinterpret_cast<const void*>(multiply<uint8_t>)},
      {x86_tdpbssd, reinterpret_cast<const void*>(multiply<int8_t>)},
      {x86_tilerelease, reinterpret_cast<const void*>(release)}};
  const auto found = functions.find(instruction);
  return found == functions.end() ? nullptr : found->second;
}

}  // namespace

int replace_tiles(llvm::Function& function) {
  std::vector<std::pair<llvm::IntrinsicInst*, const void*>> found;
  for (llvm::Instruction& each : llvm::instructions(function))
    if (auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&each))
      if (const void* made = function_of(call->getIntrinsicID()))
        found.emplace_back(call, made);
  for (const auto& [call, made] : found) {
    llvm::IRBuilder<> b(call);
    llvm::Value* const place = b.CreateIntToPtr(
        b.getInt64(reinterpret_cast<uintptr_t>(made)), b.getPtrTy());
    const std::vector<llvm::Value*> arguments(call->arg_begin(),
                                              call->arg_end());
    b.CreateCall(call->getFunctionType(), place, arguments);
    call->eraseFromParent();
  }
  if (!found.empty()) function.removeFnAttr("target-features");
  return static_cast<int>(found.size());
}

std::string tile_errors() {
  registers.expect(!registers.is_configured, "registers are not released");
  const std::string error = registers.error;
  registers = {};
  return error;
}

}  // namespace fxjit::jit::testing
