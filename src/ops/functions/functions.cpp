#include "fxjit/functions.h"

#include "fxjit/op.h"
#include "src/ops/functions/call.h"
#include "src/ops/table/op_call.h"

namespace fxjit {
namespace {

using functions::call;
using functions::call_exactly;

// Python asks the left side first; a plain one leaves it to a tensor or proxy
// on the right, whose comparison is the mirrored one.
Value compared(const char* name, const char* mirrored, const OtherArg& a,
               const Operand& b) {
  if (b.value.is_tensor() || b.value.is_proxy())
    return call_exactly(mirrored, {b.value, a.value}, b.source);
  return call_exactly(name, {a.value, b.value}, b.source);
}

}  // namespace

Value function(std::string_view name, ValueList args, Kwargs kwargs,
               std::source_location at) {
  const ops::Spelling* spelling = ops::find_function(name);
  if (!spelling)
    throw UserError("[" + std::string(name) +
                        "] function: no op has this name; ops::register_ops "
                        "and fx::wrap add functions",
                    ops::context_of(name, at));
  return ops::call_function(*spelling, std::move(args), std::move(kwargs), at);
}

Value method(const Arg& self, std::string_view name, ValueList args,
             Kwargs kwargs) {
  args.insert(args.begin(), self.value);
  return ops::call_method(name, std::move(args), std::move(kwargs),
                          self.source);
}

Value getitem(const Arg& self, const Arg& index) {
  // Not `call`, which drops an index of None.
  return call_exactly("_operator.getitem", {self.value, index.value},
                      self.source);
}

Value operator+(const Operand& a, const Arg& b) {
  return call_exactly("_operator.add", {a.value, b.value}, a.source);
}
Value operator+(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.add", {a.value, b.value}, b.source);
}
Value operator-(const Operand& a, const Arg& b) {
  return call_exactly("_operator.sub", {a.value, b.value}, a.source);
}
Value operator-(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.sub", {a.value, b.value}, b.source);
}
Value operator*(const Operand& a, const Arg& b) {
  return call_exactly("_operator.mul", {a.value, b.value}, a.source);
}
Value operator*(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.mul", {a.value, b.value}, b.source);
}
Value operator/(const Operand& a, const Arg& b) {
  return call_exactly("_operator.truediv", {a.value, b.value}, a.source);
}
Value operator/(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.truediv", {a.value, b.value}, b.source);
}
Value operator%(const Operand& a, const Arg& b) {
  return call_exactly("_operator.mod", {a.value, b.value}, a.source);
}
Value operator%(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.mod", {a.value, b.value}, b.source);
}
Value operator&(const Operand& a, const Arg& b) {
  return call_exactly("_operator.and_", {a.value, b.value}, a.source);
}
Value operator&(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.and_", {a.value, b.value}, b.source);
}
Value operator|(const Operand& a, const Arg& b) {
  return call_exactly("_operator.or_", {a.value, b.value}, a.source);
}
Value operator|(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.or_", {a.value, b.value}, b.source);
}
Value operator^(const Operand& a, const Arg& b) {
  return call_exactly("_operator.xor", {a.value, b.value}, a.source);
}
Value operator^(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.xor", {a.value, b.value}, b.source);
}
Value operator<<(const Operand& a, const Arg& b) {
  return call_exactly("_operator.lshift", {a.value, b.value}, a.source);
}
Value operator<<(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.lshift", {a.value, b.value}, b.source);
}
Value operator>>(const Operand& a, const Arg& b) {
  return call_exactly("_operator.rshift", {a.value, b.value}, a.source);
}
Value operator>>(const OtherArg& a, const Operand& b) {
  return call_exactly("_operator.rshift", {a.value, b.value}, b.source);
}

Value operator-(const Operand& a) {
  return call_exactly("_operator.neg", {a.value}, a.source);
}
Value operator+(const Operand& a) {
  return call_exactly("_operator.pos", {a.value}, a.source);
}
Value operator~(const Operand& a) {
  return call_exactly("_operator.invert", {a.value}, a.source);
}

Value& operator+=(Value& a, const Arg& b) {
  return a = call("_operator.add", {Arg(a), b}, b.source);
}
Value& operator-=(Value& a, const Arg& b) {
  return a = call("_operator.sub", {Arg(a), b}, b.source);
}
Value& operator*=(Value& a, const Arg& b) {
  return a = call("_operator.mul", {Arg(a), b}, b.source);
}
Value& operator/=(Value& a, const Arg& b) {
  return a = call("_operator.truediv", {Arg(a), b}, b.source);
}

Value operator==(const Operand& a, const Arg& b) {
  return call_exactly("_operator.eq", {a.value, b.value}, a.source);
}
Value operator==(const OtherArg& a, const Operand& b) {
  return compared("_operator.eq", "_operator.eq", a, b);
}
Value operator!=(const Operand& a, const Arg& b) {
  return call_exactly("_operator.ne", {a.value, b.value}, a.source);
}
Value operator!=(const OtherArg& a, const Operand& b) {
  return compared("_operator.ne", "_operator.ne", a, b);
}
Value operator<(const Operand& a, const Arg& b) {
  return call_exactly("_operator.lt", {a.value, b.value}, a.source);
}
Value operator<(const OtherArg& a, const Operand& b) {
  return compared("_operator.lt", "_operator.gt", a, b);
}
Value operator<=(const Operand& a, const Arg& b) {
  return call_exactly("_operator.le", {a.value, b.value}, a.source);
}
Value operator<=(const OtherArg& a, const Operand& b) {
  return compared("_operator.le", "_operator.ge", a, b);
}
Value operator>(const Operand& a, const Arg& b) {
  return call_exactly("_operator.gt", {a.value, b.value}, a.source);
}
Value operator>(const OtherArg& a, const Operand& b) {
  return compared("_operator.gt", "_operator.lt", a, b);
}
Value operator>=(const Operand& a, const Arg& b) {
  return call_exactly("_operator.ge", {a.value, b.value}, a.source);
}
Value operator>=(const OtherArg& a, const Operand& b) {
  return compared("_operator.ge", "_operator.le", a, b);
}

namespace operators {

Value floordiv(const Arg& a, const Arg& b) {
  return call("_operator.floordiv", {a, b});
}
Value pow(const Arg& a, const Arg& b) { return call("_operator.pow", {a, b}); }
Value matmul(const Arg& a, const Arg& b) {
  return call("_operator.matmul", {a, b});
}
Value abs(const Arg& a) { return call("_operator.abs", {a}); }

}  // namespace operators

}  // namespace fxjit
