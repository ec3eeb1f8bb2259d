#include "fxjit/scalar_body.h"

#include <cmath>
#include <optional>

#include "fxjit/error.h"
#include "fxjit/value.h"
#include "src/tensor/visit.h"

namespace fxjit {
namespace {

// `condition(x, bound) ? x : bound`: gives x, and the bound.
struct Bounded {
  int32_t inner;
  double bound;
};

std::optional<Bounded> bounded(const ScalarBody& body, int32_t id, Prim by) {
  const auto at = [&](int32_t i) -> const ScalarInstr& {
    return body.instrs[static_cast<size_t>(i)];
  };
  const ScalarInstr& select = at(id);
  if (select.prim != Prim::select || select.type != DType::f32)
    return std::nullopt;
  const auto [condition, inner, bound] = select.args;
  const ScalarInstr& comparison = at(condition);
  if (comparison.prim != by || at(bound).prim != Prim::constant ||
      comparison.args[0] != inner || comparison.args[1] != bound)
    return std::nullopt;
  return Bounded{inner, at(bound).imm};
}

// Whether a float is a whole number, never -0: a rounded number and one of an
// integer type.
bool is_whole(const ScalarBody& body, int32_t id) {
  const auto at = [&](int32_t i) -> const ScalarInstr& {
    return body.instrs[static_cast<size_t>(i)];
  };
  const ScalarInstr& sum = at(id);
  if (sum.prim != Prim::add || at(sum.args[0]).prim != Prim::round)
    return false;
  const ScalarInstr& moved = at(sum.args[1]);
  if (moved.prim == Prim::constant)
    return std::trunc(moved.imm) == moved.imm && !std::signbit(moved.imm);
  return moved.prim == Prim::cast && is_integral(at(moved.args[0]).type);
}

// Whether a float is a number of the type of 8 bits, as quantising makes it.
bool fits_type(const ScalarBody& body, int32_t id, DType type) {
  const double low = type == DType::u8 ? 0 : -128;
  if (type != DType::u8 && type != DType::i8) return false;
  const auto most = bounded(body, id, Prim::lt);
  if (!most || most->bound > low + 255) return false;
  const auto least = bounded(body, most->inner, Prim::gt);
  return least && least->bound >= low && least->bound <= most->bound &&
         is_whole(body, least->inner);
}

bool is_comparison(Prim prim) { return prim >= Prim::eq && prim <= Prim::ge; }

std::string instr_text(const ScalarInstr& instr, size_t id) {
  const char* short_names[] = {"f32", "f64", "f16", "bf16", "i8",
                               "u8",  "i16", "i32", "i64",  "bool"};
  std::string text = "%" + std::to_string(id) + ":" +
                     short_names[static_cast<int>(instr.type)] + " = " +
                     prim_name(instr.prim);
  if (instr.prim == Prim::input || instr.prim == Prim::index)
    return text + " " + std::to_string(instr.slot);
  if (instr.prim == Prim::constant)
    return text + " " +
           (is_floating(instr.type) ? repr(instr.imm) : repr(instr.bits));
  for (int32_t arg : instr.args)
    if (arg >= 0) text += " %" + std::to_string(arg);
  return text;
}

ScalarBuilder& common_builder(Scalar a, Scalar b) {
  FXJIT_CHECK(a.builder && a.builder == b.builder,
              "operands of two scalar bodies");
  return *a.builder;
}

[[noreturn]] void refuse(Prim prim, const std::string& reason) {
  throw UserError(std::string("scalar body: ") + prim_name(prim) + ": " +
                  reason);
}

void check_arity(Prim prim, int got) {
  const int expected = prim_arity(prim);
  if (expected != got)
    refuse(prim, "expected " + std::to_string(expected) + " operands, got " +
                     std::to_string(got));
}

void check_same_type(Prim prim, Scalar a, Scalar b) {
  if (a.type() != b.type())
    refuse(prim, "expected operands of one type, got " +
                     std::string(dtype_name(a.type())) + " and " +
                     std::string(dtype_name(b.type())));
}

void check_floating(Prim prim, Scalar a) {
  const bool smooth = prim >= Prim::exp && prim <= Prim::gelu_tanh;
  if (smooth && !is_floating(a.type()))
    refuse(prim, "expected floating point, got " +
                     std::string(dtype_name(a.type())) +
                     " (ScalarTypes::promote_float converts integers)");
}

}  // namespace

std::string ScalarBody::str() const {
  std::string text;
  for (size_t i = 0; i < instrs.size(); ++i)
    text += instr_text(instrs[i], i) + "\n";
  text += "return";
  for (int32_t id : results) text += " %" + std::to_string(id);
  return text + "\n";
}

DType Scalar::type() const {
  if (id < 0)
    throw UserError(
        "scalar body: reads more inputs than the call has tensors; ScalarArgs "
        "reads numbers as well");
  return builder->type(id);
}

Scalar ScalarBuilder::push(ScalarInstr instr) {
  constexpr size_t kFew = 16;
  if (body_.instrs.empty()) body_.instrs.reserve(kFew);
  for (size_t i = 0; i < body_.instrs.size(); ++i)
    if (body_.instrs[i] == instr)
      return {this, static_cast<int32_t>(i)};
  body_.instrs.push_back(instr);
  return {this, static_cast<int32_t>(body_.instrs.size()) - 1};
}

Scalar ScalarBuilder::input(int slot, DType type) {
  return push({.prim = Prim::input, .type = type, .slot = slot});
}

Scalar ScalarBuilder::constant(double value, DType type) {
  if (type == DType::boolean) return constant_int(value != 0, type);
  if (!is_floating(type)) return constant_int(convert<int64_t>(value), type);
  return push({.prim = Prim::constant, .type = type, .imm = value});
}

Scalar ScalarBuilder::constant_int(int64_t value, DType type) {
  const double imm = static_cast<double>(value);
  if (is_floating(type)) return constant(imm, type);
  return push(
      {.prim = Prim::constant, .type = type, .imm = imm, .bits = value});
}

Scalar ScalarBuilder::index(int dim) {
  return push({.prim = Prim::index, .type = DType::i64, .slot = dim});
}

Scalar ScalarBuilder::apply(Prim prim, Scalar a) {
  check_arity(prim, 1);
  check_floating(prim, a);
  return push({.prim = prim, .type = a.type(), .args = {a.id, -1, -1}});
}

Scalar ScalarBuilder::apply(Prim prim, Scalar a, Scalar b) {
  check_arity(prim, 2);
  check_same_type(prim, a, b);
  const DType type = is_comparison(prim) ? DType::boolean : a.type();
  return push({.prim = prim, .type = type, .args = {a.id, b.id, -1}});
}

Scalar ScalarBuilder::select(Scalar condition, Scalar a, Scalar b) {
  if (condition.type() != DType::boolean)
    refuse(Prim::select, "expected a condition of bool, got " +
                             std::string(dtype_name(condition.type())));
  check_same_type(Prim::select, a, b);
  return push({.prim = Prim::select,
               .type = a.type(),
               .args = {condition.id, a.id, b.id}});
}

Scalar ScalarBuilder::cast(Scalar a, DType type) {
  if (a.type() == type) return a;
  // Whole numbers that a type of 8 bits can hold are the same behind it.
  if (const ScalarInstr& narrow = body_.instrs[static_cast<size_t>(a.id)];
      type == DType::f32 && narrow.prim == Prim::cast &&
      fits_type(body_, narrow.args[0], narrow.type))
    return {this, narrow.args[0]};
  return push({.prim = Prim::cast, .type = type, .args = {a.id, -1, -1}});
}

std::vector<Scalar> ScalarBuilder::inline_body(
    const ScalarBody& body, const std::vector<Scalar>& inputs) {
  std::vector<Scalar> mapped;
  mapped.reserve(body.instrs.size());
  for (ScalarInstr instr : body.instrs) {
    if (instr.prim == Prim::input) {
      const auto slot = static_cast<size_t>(instr.slot);
      FXJIT_CHECK(slot < inputs.size(), "input without a binding");
      mapped.push_back(cast(inputs[slot], instr.type));
      continue;
    }
    for (int32_t& arg : instr.args)
      if (arg >= 0) arg = mapped[static_cast<size_t>(arg)].id;
    mapped.push_back(push(instr));
  }
  std::vector<Scalar> results;
  results.reserve(body.results.size());
  for (int32_t id : body.results)
    results.push_back(mapped[static_cast<size_t>(id)]);
  return results;
}

ScalarBody ScalarBuilder::finish(const std::vector<Scalar>& results) {
  std::vector<bool> live(body_.instrs.size());
  for (Scalar result : results) live[static_cast<size_t>(result.id)] = true;
  for (size_t i = live.size(); i-- > 0;)
    for (int32_t arg : body_.instrs[i].args)
      if (live[i] && arg >= 0) live[static_cast<size_t>(arg)] = true;
  ScalarBody kept;
  kept.instrs.reserve(live.size());
  kept.results.reserve(results.size());
  std::vector<int32_t> renamed(live.size(), -1);
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    ScalarInstr instr = body_.instrs[i];
    for (int32_t& arg : instr.args)
      if (arg >= 0) arg = renamed[static_cast<size_t>(arg)];
    renamed[i] = static_cast<int32_t>(kept.instrs.size());
    kept.instrs.push_back(instr);
  }
  for (Scalar result : results)
    kept.results.push_back(renamed[static_cast<size_t>(result.id)]);
  body_ = {};
  return kept;
}

Scalar operator+(Scalar a, Scalar b) {
  return common_builder(a, b).apply(Prim::add, a, b);
}
Scalar operator-(Scalar a, Scalar b) {
  return common_builder(a, b).apply(Prim::sub, a, b);
}
Scalar operator*(Scalar a, Scalar b) {
  return common_builder(a, b).apply(Prim::mul, a, b);
}
Scalar operator/(Scalar a, Scalar b) {
  return common_builder(a, b).apply(Prim::div, a, b);
}
Scalar operator+(Scalar a, double b) {
  return a + a.builder->constant(b, a.type());
}
Scalar operator-(Scalar a, double b) {
  return a - a.builder->constant(b, a.type());
}
Scalar operator*(Scalar a, double b) {
  return a * a.builder->constant(b, a.type());
}
Scalar operator/(Scalar a, double b) {
  return a / a.builder->constant(b, a.type());
}
Scalar operator+(double a, Scalar b) {
  return b.builder->constant(a, b.type()) + b;
}
Scalar operator-(double a, Scalar b) {
  return b.builder->constant(a, b.type()) - b;
}
Scalar operator*(double a, Scalar b) {
  return b.builder->constant(a, b.type()) * b;
}
Scalar operator/(double a, Scalar b) {
  return b.builder->constant(a, b.type()) / b;
}
Scalar operator-(Scalar a) { return a.builder->apply(Prim::neg, a); }

}  // namespace fxjit
