#include "src/program/rows/rewrite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fxjit::program {
namespace {

// The reciprocal of a number between these two is a normal number, and so exact
// to half a unit in the last place.
constexpr double kLeastSafe = 0x1p-126;
constexpr double kGreatestSafe = 0x1p126;
constexpr double kUnsafe = std::numeric_limits<double>::infinity();

const ScalarInstr& at(const ScalarBody& body, int32_t id) {
  return body.instrs[static_cast<size_t>(id)];
}

// Whether the result is NaN where an argument is.
bool keeps_nan(Prim prim) {
  switch (prim) {
    case Prim::add:
    case Prim::sub:
    case Prim::mul:
    case Prim::div:
    case Prim::neg:
    case Prim::sqrt:
    case Prim::rsqrt:
    case Prim::exp:
    case Prim::log:
      return true;
    default:
      return false;
  }
}

// Copies a body instruction by instruction, replacing some.
class Rewriter {
 public:
  explicit Rewriter(const RowStep& step)
      : old_(step.body), facts_(old_), varies_(varies_along_row(step)) {}

  // The new body, and what each instruction became.
  std::pair<ScalarBody, std::vector<int32_t>> run() {
    for (size_t i = 0; i < old_.instrs.size(); ++i)
      map_.push_back(rewrite(static_cast<int32_t>(i)));
    for (int32_t id : old_.results)
      new_.results.push_back(map_[static_cast<size_t>(id)]);
    return {std::move(new_), std::move(map_)};
  }

 private:
  int32_t rewrite(int32_t id) {
    ScalarInstr instr = at(old_, id);
    if (is_slow_division(instr)) return multiply_by_reciprocal(instr);
    if (instr.prim == Prim::reduce_max && facts_.only_shifts_softmax(id))
      return maximum_of(instr, instr.args[0]);
    return copy(instr);
  }

  int32_t copy(ScalarInstr instr) {
    for (int32_t& arg : instr.args)
      if (arg >= 0) arg = map_[static_cast<size_t>(arg)];
    return push(instr);
  }

  // Reuses an equal instruction; two zeros may differ in sign.
  int32_t push(const ScalarInstr& instr) {
    const bool is_zero = instr.prim == Prim::constant && instr.imm == 0;
    for (size_t i = 0; i < new_.instrs.size() && !is_zero; ++i)
      if (new_.instrs[i] == instr) return static_cast<int32_t>(i);
    new_.instrs.push_back(instr);
    return static_cast<int32_t>(new_.instrs.size()) - 1;
  }

  bool is_slow_division(const ScalarInstr& instr) const {
    if (instr.prim != Prim::div) return false;
    const auto divisor = static_cast<size_t>(instr.args[1]);
    return varies_[static_cast<size_t>(instr.args[0])] && !varies_[divisor] &&
           old_.instrs[divisor].prim != Prim::constant &&
           facts_.has_safe_reciprocal(instr.args[1]);
  }

  int32_t multiply_by_reciprocal(const ScalarInstr& instr) {
    const int32_t one =
        push({.prim = Prim::constant, .type = instr.type, .imm = 1});
    const int32_t divisor = map_[static_cast<size_t>(instr.args[1])];
    const int32_t reciprocal = push(
        {.prim = Prim::div, .type = instr.type, .args = {one, divisor, -1}});
    const int32_t dividend = map_[static_cast<size_t>(instr.args[0])];
    return push({.prim = Prim::mul,
                 .type = instr.type,
                 .args = {dividend, reciprocal, -1}});
  }

  // The maximum of `value` along the row, taken as early as possible.
  int32_t maximum_of(const ScalarInstr& maximum, int32_t value) {
    const ScalarInstr& instr = at(old_, value);
    for (size_t kept = 0; kept < 2; ++kept) {
      if (!facts_.is_monotone(instr, kept)) continue;
      const auto other = static_cast<size_t>(instr.args[1 - kept]);
      if (varies_[other]) continue;
      ScalarInstr outer = instr;
      outer.args[kept] = maximum_of(maximum, instr.args[kept]);
      outer.args[1 - kept] = map_[other];
      return push(outer);
    }
    ScalarInstr inner = maximum;
    inner.args[0] = map_[static_cast<size_t>(value)];
    return push(inner);
  }

  const ScalarBody& old_;
  BodyFacts facts_;
  std::vector<bool> varies_;
  std::vector<int32_t> map_;
  ScalarBody new_;
};

}  // namespace

std::vector<bool> varies_along_row(const RowStep& step) {
  std::vector<bool> varies;
  for (const ScalarInstr& instr : step.body.instrs) {
    bool any = false;
    if (instr.prim == Prim::input) {
      const Access& access = step.inputs[static_cast<size_t>(instr.slot)];
      any = access.inner != 0 || gathers_elements(step.inputs, access);
    } else if (instr.prim == Prim::index) {
      any = instr.slot == step.outer.size();
    }
    for (int a = 0; a < prim_arity(instr.prim); ++a)
      any = any ||
            varies[static_cast<size_t>(instr.args[static_cast<size_t>(a)])];
    varies.push_back(any && !is_reduction(instr.prim));
  }
  return varies;
}

BodyFacts::BodyFacts(const ScalarBody& body) : body_(body) {
  for (const ScalarInstr& instr : body.instrs) {
    not_negative_.push_back(find_not_negative(instr));
    no_sign_.push_back(find_no_sign(instr));
    greatest_.push_back(find_greatest(instr));
  }
  only_shifts_softmax_.resize(body.instrs.size());
  for (size_t i = body.instrs.size(); i-- > 0;)
    only_shifts_softmax_[i] = find_only_shifts_softmax(static_cast<int32_t>(i));
}

bool BodyFacts::find_not_negative(const ScalarInstr& instr) const {
  const auto arg = [&](size_t i) { return not_negative(instr.args[i]); };
  if (!is_floating(instr.type)) return false;
  switch (instr.prim) {
    case Prim::constant:
      return instr.imm >= 0;
    case Prim::abs:
    case Prim::exp:
    case Prim::sigmoid:
      return true;
    case Prim::sqrt:  // -0 of -0, NaN of what is less.
      return true;
    case Prim::rsqrt:  // Minus infinity of -0.
      return no_sign(instr.args[0]);
    case Prim::mul:  // The signs of a square's factors are equal.
      return instr.args[0] == instr.args[1] || (arg(0) && arg(1));
    case Prim::div:  // Minus infinity where the divisor is -0.
      return arg(0) && no_sign(instr.args[1]);
    case Prim::add:
    case Prim::minimum:
      return arg(0) && arg(1);
    case Prim::maximum:
      return arg(0) || arg(1);
    case Prim::reduce_sum:  // From zero on.
    case Prim::reduce_max:  // Rows have elements.
    case Prim::reduce_min:
      return arg(0);
    default:
      return false;
  }
}

bool BodyFacts::find_no_sign(const ScalarInstr& instr) const {
  const auto arg = [&](size_t i) { return no_sign(instr.args[i]); };
  if (!is_floating(instr.type)) return false;
  switch (instr.prim) {
    case Prim::constant:
      return !std::signbit(instr.imm);
    case Prim::abs:
    case Prim::exp:      // +0 where it underflows.
    case Prim::sigmoid:  // Likewise.
      return true;
    case Prim::sqrt:
    case Prim::rsqrt:
      return arg(0);
    case Prim::mul:
      return instr.args[0] == instr.args[1] || (arg(0) && arg(1));
    case Prim::add:
    case Prim::div:
    case Prim::minimum:
    case Prim::maximum:  // Of +0 and -0 it may be either.
      return arg(0) && arg(1);
    case Prim::reduce_sum:  // From +0 on.
    case Prim::reduce_max:
    case Prim::reduce_min:
      return arg(0);
    default:
      return false;
  }
}

// An upper bound of the finite values that are not zero. All of these are at
// least kLeastSafe: a sum of numbers of one sign, a minimum and a maximum are
// not below the least of their arguments.
double BodyFacts::find_greatest(const ScalarInstr& instr) const {
  if (instr.type != DType::f32) return kUnsafe;
  const auto arg = [&](size_t i) {
    return greatest_[static_cast<size_t>(instr.args[i])];
  };
  switch (instr.prim) {
    case Prim::constant:
      return instr.imm >= kLeastSafe && instr.imm <= kGreatestSafe ? instr.imm
                                                                   : kUnsafe;
    case Prim::sqrt:  // Of f32, denormal numbers included: 2^-75 to 2^64.
      return 0x1p64;
    case Prim::add:  // Sums of numbers of one sign, which do not cancel.
      return not_negative(instr.args[0]) && not_negative(instr.args[1])
                 ? arg(0) + arg(1)
                 : kUnsafe;
    case Prim::maximum:
    case Prim::minimum:
      return std::max(arg(0), arg(1));
    case Prim::reduce_sum:  // One at the maximum, at most one at 2^63 others.
      return is_softmax_exp(instr.args[0]) ? 0x1p64 : kUnsafe;
    default:
      return kUnsafe;
  }
}

bool BodyFacts::has_safe_reciprocal(int32_t id) const {
  return greatest_[static_cast<size_t>(id)] <= kGreatestSafe;
}

// A sum, a difference and a product by a number that is not negative are
// monotone, and rounding to nearest keeps that. A product of zero and infinity
// is NaN, and nothing is claimed for rows with a NaN.
bool BodyFacts::is_monotone(const ScalarInstr& instr, size_t which) const {
  if (!is_floating(instr.type)) return false;
  const int32_t other = instr.args[1 - which];
  switch (instr.prim) {
    case Prim::add:
      return true;
    case Prim::sub:
      return which == 0;
    case Prim::mul:
      return other != instr.args[which] && not_negative(other);
    default:
      return false;
  }
}

bool BodyFacts::is_softmax_exp(int32_t id) const {
  const ScalarInstr& instr = at(body_, id);
  if (instr.prim != Prim::exp) return false;
  const ScalarInstr& argument = at(body_, instr.args[0]);
  return argument.prim == Prim::sub &&
         is_row_maximum(argument.args[1], argument.args[0]);
}

bool BodyFacts::is_row_maximum(int32_t maximum, int32_t value) const {
  const ScalarInstr& top = at(body_, maximum);
  if (top.prim == Prim::reduce_max && top.args[0] == value) return true;
  const ScalarInstr& element = at(body_, value);
  if (top.prim != element.prim) return false;
  for (size_t kept = 0; kept < 2; ++kept) {
    if (is_monotone(element, kept) &&
        top.args[1 - kept] == element.args[1 - kept] &&
        is_row_maximum(top.args[kept], element.args[kept]))
      return true;
  }
  return false;
}

// Follows the maximum through the operations that rewrite_body() moved behind
// it, up to the difference that a softmax exponentiates.
bool BodyFacts::find_only_shifts_softmax(int32_t id) const {
  const auto& results = body_.results;
  if (std::find(results.begin(), results.end(), id) != results.end())
    return false;
  bool shifts = false;
  for (size_t i = 0; i < body_.instrs.size(); ++i) {
    const ScalarInstr& user = body_.instrs[i];
    if (std::find(user.args.begin(), user.args.end(), id) == user.args.end())
      continue;
    const auto at_user = static_cast<int32_t>(i);
    if (user.prim == Prim::sub && user.args[1] == id &&
        is_row_maximum(id, user.args[0])) {
      if (!ends_in_softmax(at_user)) return false;
      shifts = true;
    } else if (user.args[0] == user.args[1] || prim_arity(user.prim) != 2 ||
               !only_shifts_softmax_[i]) {
      return false;
    } else {
      shifts = true;
    }
  }
  return shifts;
}

// Whether exp(id) is summed, and each result that depends on `id` is NaN if
// that sum is. If so, a NaN in the row hides which shift its elements had.
bool BodyFacts::ends_in_softmax(int32_t id) const {
  const size_t count = body_.instrs.size();
  std::vector<bool> is_power(count), follows(count), depends(count);
  depends[static_cast<size_t>(id)] = true;
  for (size_t i = static_cast<size_t>(id) + 1; i < count; ++i) {
    const ScalarInstr& instr = body_.instrs[i];
    const auto any = [&](const std::vector<bool>& of) {
      return std::any_of(instr.args.begin(), instr.args.end(),
                         [&](int32_t arg) {
                           return arg >= 0 && of[static_cast<size_t>(arg)];
                         });
    };
    is_power[i] = instr.prim == Prim::exp && instr.args[0] == id;
    follows[i] = (instr.prim == Prim::reduce_sum && any(is_power)) ||
                 (keeps_nan(instr.prim) && any(follows));
    depends[i] = !follows[i] && any(depends);
  }
  return std::find(follows.begin(), follows.end(), true) != follows.end() &&
         std::none_of(
             body_.results.begin(), body_.results.end(),
             [&](int32_t r) { return depends[static_cast<size_t>(r)]; });
}

void rewrite_body(RowStep& step) {
  auto [body, made] = Rewriter(step).run();
  step.body = std::move(body);
  for (int32_t& id : step.softmax) id = made[static_cast<size_t>(id)];
}

}  // namespace fxjit::program
