#include "src/program/text/words.h"

#include <array>

namespace fxjit::program::text {
namespace {

constexpr int kPrimCount = 0
#define FXJIT_PRIM(name, arity, cost) +1
#include "fxjit/prims.inc"
    ;
constexpr std::array<std::string_view, 5> kHomes = {
    "arena", "constant", "packed", "input", "output"};

}  // namespace

std::string_view word_of(DType dtype) { return dtype_name(dtype); }
std::string_view word_of(Prim prim) { return prim_name(prim); }
std::string_view word_of(Home home) {
  return kHomes.at(static_cast<size_t>(home));
}

int words(DType) { return kDTypeCount; }
int words(Prim) { return kPrimCount; }
int words(Home) { return int{kHomes.size()}; }

}  // namespace fxjit::program::text
