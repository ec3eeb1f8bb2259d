#include "fxjit/functions.h"

#include "fxjit/op.h"
#include "src/ops/functions/call.h"

namespace fxjit {
namespace {

Value python_operator(const char* name, const Operand& a, const Arg& b) {
  return ops::call_function(ops::get_function(name), {a.value, b.value}, {},
                            a.source);
}

Value reflected(const char* name, const OtherArg& a, const Operand& b) {
  return ops::call_function(ops::get_function(name), {a.value, b.value}, {},
                            b.source);
}

// Python asks the left side first; a plain one leaves it to a tensor or proxy
// on the right, whose comparison is the mirrored one.
Value compared(const char* name, const char* mirrored, const OtherArg& a,
               const Operand& b) {
  if (b.value.is_tensor() || b.value.is_proxy())
    return ops::call_function(ops::get_function(mirrored), {b.value, a.value},
                              {}, b.source);
  return reflected(name, a, b);
}

}  // namespace

Value function(std::string_view name, ValueList args, Kwargs kwargs,
               std::source_location at) {
  const ops::Spelling* spelling = ops::find_function(name);
  if (!spelling) {
    ErrorContext context;
    context.op = std::string(name);
    context.source = at;
    throw UserError("[" + std::string(name) +
                        "] function: no op has this name; ops::register_ops "
                        "and fx::wrap add functions",
                    std::move(context));
  }
  return ops::call_function(*spelling, std::move(args), std::move(kwargs), at);
}

Value method(const Arg& self, std::string_view name, ValueList args,
             Kwargs kwargs) {
  args.insert(args.begin(), self.value);
  return ops::call_method(name, std::move(args), std::move(kwargs),
                          self.source);
}

Value getitem(const Arg& self, const Arg& index) {
  // Not functions::call, which drops an index of None.
  return ops::call_function(ops::get_function("_operator.getitem"),
                            {self.value, index.value}, {}, self.source);
}

Value operator+(const Operand& a, const Arg& b) {
  return python_operator("_operator.add", a, b);
}
Value operator+(const OtherArg& a, const Operand& b) {
  return reflected("_operator.add", a, b);
}
Value operator-(const Operand& a, const Arg& b) {
  return python_operator("_operator.sub", a, b);
}
Value operator-(const OtherArg& a, const Operand& b) {
  return reflected("_operator.sub", a, b);
}
Value operator*(const Operand& a, const Arg& b) {
  return python_operator("_operator.mul", a, b);
}
Value operator*(const OtherArg& a, const Operand& b) {
  return reflected("_operator.mul", a, b);
}
Value operator/(const Operand& a, const Arg& b) {
  return python_operator("_operator.truediv", a, b);
}
Value operator/(const OtherArg& a, const Operand& b) {
  return reflected("_operator.truediv", a, b);
}
Value operator%(const Operand& a, const Arg& b) {
  return python_operator("_operator.mod", a, b);
}
Value operator%(const OtherArg& a, const Operand& b) {
  return reflected("_operator.mod", a, b);
}
Value operator&(const Operand& a, const Arg& b) {
  return python_operator("_operator.and_", a, b);
}
Value operator&(const OtherArg& a, const Operand& b) {
  return reflected("_operator.and_", a, b);
}
Value operator|(const Operand& a, const Arg& b) {
  return python_operator("_operator.or_", a, b);
}
Value operator|(const OtherArg& a, const Operand& b) {
  return reflected("_operator.or_", a, b);
}
Value operator^(const Operand& a, const Arg& b) {
  return python_operator("_operator.xor", a, b);
}
Value operator^(const OtherArg& a, const Operand& b) {
  return reflected("_operator.xor", a, b);
}
Value operator<<(const Operand& a, const Arg& b) {
  return python_operator("_operator.lshift", a, b);
}
Value operator<<(const OtherArg& a, const Operand& b) {
  return reflected("_operator.lshift", a, b);
}
Value operator>>(const Operand& a, const Arg& b) {
  return python_operator("_operator.rshift", a, b);
}
Value operator>>(const OtherArg& a, const Operand& b) {
  return reflected("_operator.rshift", a, b);
}

Value operator-(const Operand& a) {
  return ops::call_function(ops::get_function("_operator.neg"), {a.value}, {},
                            a.source);
}
Value operator+(const Operand& a) {
  return ops::call_function(ops::get_function("_operator.pos"), {a.value}, {},
                            a.source);
}
Value operator~(const Operand& a) {
  return ops::call_function(ops::get_function("_operator.invert"), {a.value},
                            {}, a.source);
}

Value& operator+=(Value& a, const Arg& b) {
  return a = functions::call("_operator.add", {Arg(a), b}, b.source);
}
Value& operator-=(Value& a, const Arg& b) {
  return a = functions::call("_operator.sub", {Arg(a), b}, b.source);
}
Value& operator*=(Value& a, const Arg& b) {
  return a = functions::call("_operator.mul", {Arg(a), b}, b.source);
}
Value& operator/=(Value& a, const Arg& b) {
  return a = functions::call("_operator.truediv", {Arg(a), b}, b.source);
}

Value operator==(const Operand& a, const Arg& b) {
  return python_operator("_operator.eq", a, b);
}
Value operator==(const OtherArg& a, const Operand& b) {
  return compared("_operator.eq", "_operator.eq", a, b);
}
Value operator!=(const Operand& a, const Arg& b) {
  return python_operator("_operator.ne", a, b);
}
Value operator!=(const OtherArg& a, const Operand& b) {
  return compared("_operator.ne", "_operator.ne", a, b);
}
Value operator<(const Operand& a, const Arg& b) {
  return python_operator("_operator.lt", a, b);
}
Value operator<(const OtherArg& a, const Operand& b) {
  return compared("_operator.lt", "_operator.gt", a, b);
}
Value operator<=(const Operand& a, const Arg& b) {
  return python_operator("_operator.le", a, b);
}
Value operator<=(const OtherArg& a, const Operand& b) {
  return compared("_operator.le", "_operator.ge", a, b);
}
Value operator>(const Operand& a, const Arg& b) {
  return python_operator("_operator.gt", a, b);
}
Value operator>(const OtherArg& a, const Operand& b) {
  return compared("_operator.gt", "_operator.lt", a, b);
}
Value operator>=(const Operand& a, const Arg& b) {
  return python_operator("_operator.ge", a, b);
}
Value operator>=(const OtherArg& a, const Operand& b) {
  return compared("_operator.ge", "_operator.le", a, b);
}

namespace operators {

Value floordiv(const Arg& a, const Arg& b) {
  return functions::call("_operator.floordiv", {a, b});
}
Value pow(const Arg& a, const Arg& b) {
  return functions::call("_operator.pow", {a, b});
}
Value matmul(const Arg& a, const Arg& b) {
  return functions::call("_operator.matmul", {a, b});
}
Value abs(const Arg& a) { return functions::call("_operator.abs", {a}); }

}  // namespace operators

}  // namespace fxjit
