#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

constexpr ScalarTypes kBitwise = ScalarTypes::bitwise;

constexpr OpRow kAnd =
    binary_row("bitwise_and",
               "torch.bitwise_and _operator.and_ .bitwise_and .__and__ "
               ".__rand__",
               binary<Prim::bit_and>, kBitwise);
constexpr OpRow kOr = binary_row("bitwise_or",
                                 "torch.bitwise_or _operator.or_ .bitwise_or "
                                 ".__or__ .__ror__",
                                 binary<Prim::bit_or>, kBitwise);
constexpr OpRow kXor =
    binary_row("bitwise_xor",
               "torch.bitwise_xor _operator.xor .bitwise_xor .__xor__ "
               ".__rxor__",
               binary<Prim::bit_xor>, kBitwise);
constexpr OpRow kNot =
    unary_row("bitwise_not",
              "torch.bitwise_not _operator.invert _operator.inv .bitwise_not "
              ".__invert__",
              unary<Prim::bit_not>, kBitwise);

constexpr OpRow kBitwiseRows[] = {
    kAnd,
    kOr,
    kXor,
    kNot,
    binary_row("bitwise_left_shift",
               "torch.bitwise_left_shift _operator.lshift .bitwise_left_shift "
               ".__lshift__",
               binary<Prim::shift_left>, kBitwise),
    binary_row("bitwise_right_shift",
               "torch.bitwise_right_shift _operator.rshift "
               ".bitwise_right_shift .__rshift__",
               binary<Prim::shift_right>, kBitwise),
    in_place(kAnd, "bitwise_and_", ".bitwise_and_ .__iand__ _operator.iand"),
    in_place(kOr, "bitwise_or_", ".bitwise_or_ .__ior__ _operator.ior"),
    in_place(kXor, "bitwise_xor_", ".bitwise_xor_ .__ixor__ _operator.ixor"),
    in_place(kNot, "bitwise_not_", ".bitwise_not_"),
};

}  // namespace

std::span<const OpRow> bitwise_rows() { return kBitwiseRows; }

}  // namespace fxjit::ops
