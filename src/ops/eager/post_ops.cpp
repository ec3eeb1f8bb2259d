#include "src/ops/eager/post_ops.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace fxjit::ops {
namespace {

// A post-op and how many instructions of the body it is.
struct Match {
  PostOp op;
  size_t length = 1;
};

using Found = std::optional<Match>;

struct Function {
  Prim prim;
  PostKind kind;
};

constexpr Function kFunctions[] = {{Prim::sigmoid, PostKind::sigmoid},
                                   {Prim::silu, PostKind::silu},
                                   {Prim::gelu, PostKind::gelu}};

// Follows a body from the sum on. A post-op reads only the value before it,
// constants and inputs, so a body that matches to its end computes nothing
// else.
class Chain {
 public:
  explicit Chain(const ScalarBody& body) : body_(body) {
    for (size_t i = 0; i < body.instrs.size(); ++i) {
      const ScalarInstr& instr = body.instrs[i];
      const auto id = static_cast<int32_t>(i);
      if (prim_arity(instr.prim) > 0) work_.push_back(id);
      if (instr.prim == Prim::input && instr.slot == 0 &&
          instr.type == DType::f32)
        value_ = id;
    }
  }

  std::optional<PostOps> read() {
    PostOps found;
    while (at_ < work_.size()) {
      const Found match = next();
      if (!match) return std::nullopt;
      found.push_back(match->op);
      at_ += match->length;
      value_ = work_[at_ - 1];
    }
    if (value_ < 0 || body_.results != std::vector<int32_t>{value_})
      return std::nullopt;
    return found;
  }

 private:
  // Longer matches come first, because their first instruction alone is a
  // match too.
  Found next() const {
    if (Found match = hard_function()) return match;
    if (Found match = leaky_relu()) return match;
    if (Found match = bounds()) return match;
    if (Found match = gate()) return match;
    if (Found match = function()) return match;
    return arithmetic();
  }

  // clamp(x + 3, 0, 6) / 6, and the same times x.
  Found hard_function() const {
    if (number(0, Prim::add, value_) != 3.0f ||
        number(1, Prim::maximum, id(0)) != 0.0f ||
        number(2, Prim::minimum, id(1)) != 6.0f)
      return std::nullopt;
    if (other(3, Prim::mul, value_) == id(2) && is_sixth(4, id(3)))
      return Match{{PostKind::hardswish}, 5};
    if (!is_sixth(3, id(2))) return std::nullopt;
    if (other(4, Prim::mul, value_) == id(3))
      return Match{{PostKind::hardswish}, 5};
    return Match{{PostKind::hardsigmoid}, 4};
  }

  bool is_sixth(size_t i, int32_t value) const {
    constexpr float kSixth = 1.0f / 6;
    return number(i, Prim::mul, value) == kSixth ||
           number(i, Prim::div, value) == 6.0f;
  }

  // x * s(x), with the function before the product.
  Found gate() const {
    if (instr(0)->prim == Prim::sigmoid && instr(0)->args[0] == value_ &&
        other(1, Prim::mul, value_) == id(0))
      return Match{{PostKind::silu}, 2};
    return std::nullopt;
  }

  // x > 0 ? x : x * a, or x < 0 ? x * a : x, the product before the comparison
  // or behind it.
  Found leaky_relu() const {
    for (const size_t product : {size_t{0}, size_t{1}}) {
      const size_t test = 1 - product;
      const bool above = number(test, Prim::gt, value_) == 0.0f;
      if (!above && number(test, Prim::lt, value_) != 0.0f) continue;
      if (!chooses(above, id(test), id(product))) continue;
      const auto slope = number(product, Prim::mul, value_);
      if (slope) return Match{{PostKind::leaky_relu, *slope}, 3};
      const int slopes = tensor(product, Prim::mul);
      // The second way of writing it keeps zeros as they are.
      constexpr float kBelowZero = -std::numeric_limits<float>::denorm_min();
      if (slopes >= 0)
        return Match{{PostKind::prelu, above ? 0 : kBelowZero, 0, slopes}, 3};
    }
    return std::nullopt;
  }

  bool chooses(bool above, int32_t test, int32_t product) const {
    const ScalarInstr* const last = instr(2);
    return last && last->prim == Prim::select &&
           last->args == (above ? std::array{test, value_, product}
                                : std::array{test, product, value_});
  }

  // A lower bound, an upper bound or both. No match if a bound is NaN or the
  // lower one is above the upper one: a clip is another function there.
  Found bounds() const {
    constexpr float kNone = std::numeric_limits<float>::infinity();
    const auto low = number(0, Prim::maximum, value_);
    const auto high = low ? number(1, Prim::minimum, id(0))
                          : number(0, Prim::minimum, value_);
    const PostOp clip{PostKind::clip, low.value_or(-kNone),
                      high.value_or(kNone)};
    if ((!low && !high) || !(clip.a <= clip.b)) return std::nullopt;
    const size_t length = low && high ? 2 : 1;
    if (low == 0.0f && !std::signbit(*low) && clip.b == kNone)
      return Match{{PostKind::relu}, length};
    return Match{clip, length};
  }

  Found function() const {
    const ScalarInstr& call = *instr(0);
    const auto* const row =
        std::ranges::find(kFunctions, call.prim, &Function::prim);
    if (row == std::end(kFunctions) || call.args[0] != value_)
      return std::nullopt;
    return Match{{row->kind}};
  }

  // A sum, difference or product with a number or a tensor.
  Found arithmetic() const {
    if (const auto by = number(0, Prim::add, value_))
      return Match{{PostKind::affine, 1, *by}};
    if (const auto by = number(0, Prim::sub, value_))
      return Match{{PostKind::affine, 1, -*by}};
    // Of zeros only -0 changes no sum.
    if (const auto by = number(0, Prim::mul, value_))
      return Match{{PostKind::affine, *by, -0.0f}};
    if (const int at = tensor(0, Prim::add); at >= 0)
      return Match{{PostKind::add, 0, 0, at}};
    if (const int at = tensor(0, Prim::mul); at >= 0)
      return Match{{PostKind::multiply, 0, 0, at}};
    return std::nullopt;
  }

  // The instruction `i` places ahead in work_, null past the end.
  const ScalarInstr* instr(size_t i) const {
    return at_ + i < work_.size() ? &body_.instrs[at(id(i))] : nullptr;
  }
  int32_t id(size_t i) const { return work_[at_ + i]; }
  static size_t at(int32_t id) { return static_cast<size_t>(id); }

  // The other operand of instruction `i` if that is `prim` on `value`, else -1.
  // The value must be the left operand of differences and comparisons.
  int32_t other(size_t i, Prim prim, int32_t value) const {
    const ScalarInstr* const call = instr(i);
    if (!call || call->prim != prim || call->args[0] == call->args[1])
      return -1;
    if (call->args[0] == value) return call->args[1];
    const bool commutes = prim == Prim::add || prim == Prim::mul ||
                          prim == Prim::minimum || prim == Prim::maximum;
    return commutes && call->args[1] == value ? call->args[0] : -1;
  }

  std::optional<float> number(size_t i, Prim prim, int32_t value) const {
    const int32_t by = other(i, prim, value);
    if (by < 0 || body_.instrs[at(by)].prim != Prim::constant)
      return std::nullopt;
    return static_cast<float>(body_.instrs[at(by)].imm);
  }

  int tensor(size_t i, Prim prim) const {
    const int32_t by = other(i, prim, value_);
    if (by < 0 || body_.instrs[at(by)].prim != Prim::input) return -1;
    return body_.instrs[at(by)].slot - 1;
  }

  const ScalarBody& body_;
  std::vector<int32_t> work_;  // Instructions that have operands, in order.
  size_t at_ = 0;
  int32_t value_ = -1;
};

}  // namespace

std::optional<PostOps> post_ops_of(const ScalarBody& epilogue) {
  return Chain(epilogue).read();
}

std::optional<PostOps> conv_post_ops_of(const ScalarBody& epilogue) {
  auto work = post_ops_of(epilogue);
  if (work &&
      std::ranges::find(*work, PostKind::gelu, &PostOp::kind) != work->end())
    return std::nullopt;
  return work;
}

}  // namespace fxjit::ops
