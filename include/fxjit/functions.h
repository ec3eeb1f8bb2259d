// torch's functions and Python's operators on Values. Used by model code, by
// decompositions and by tests. A call with a proxy among its arguments is
// recorded under the name and with the arguments that torch.fx records; any
// other call runs at once. Functions here hold no state and are thread-safe.
#pragma once

#include <concepts>
#include <initializer_list>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fxjit/error.h"
#include "fxjit/value.h"

namespace fxjit {

// What counts as a tensor operand of an operator: a Value, a Tensor, or a
// handle that reads as one (nn::Parameter).
template <typename T>
concept TensorLike = std::derived_from<std::remove_cvref_t<T>, Value> ||
                     std::derived_from<std::remove_cvref_t<T>, Tensor> ||
                     requires(const std::remove_cvref_t<T>& t) {
                       { t.operator Value() } -> std::same_as<Value>;
                     };

// Nodes of graphs are no operands.
template <typename T>
concept NodePointer = std::same_as<std::remove_cvref_t<T>, fx::NodePtr> ||
                      (std::is_pointer_v<std::remove_cvref_t<T>> &&
                       std::convertible_to<const T&, const fx::Node*>);

// An argument of a function, with the line of user code that wrote it. Takes
// whatever a Value takes; `{1, 2}` is a tuple of ints, `{x, y}` a list,
// `{{"a", x}}` a dict.
struct Arg {
  Value value;
  SourceLocation source;

  template <typename T>
    requires(!std::same_as<std::remove_cvref_t<T>, Arg> &&
             std::constructible_from<Value, T>)
  Arg(T&& v,  // NOLINT: converts by intent
      std::source_location at = std::source_location::current())
      : value(std::forward<T>(v)), source(at) {
    static_assert(!NodePointer<T>,
                  "fxjit: a Node is no value that functions take; write "
                  "fx::proxy(node)");
  }
  Arg(Value v, SourceLocation at) : value(std::move(v)), source(at) {}
  Arg(std::initializer_list<int64_t> v,  // NOLINT
      std::source_location at = std::source_location::current())
      : value(Value::tuple(ValueList(v.begin(), v.end()))), source(at) {}
  Arg(std::initializer_list<DictEntry> v,  // NOLINT
      std::source_location at = std::source_location::current())
      : value(v), source(at) {}
  Arg(std::initializer_list<Value> v,  // NOLINT
      std::source_location at = std::source_location::current())
      : value(Value::list(ValueList(v))), source(at) {}
};

// The two sides of operators. At least one side is tensor-like, so operators on
// other types are never hijacked.
struct Operand {
  Value value;
  SourceLocation source;

  template <TensorLike T>
  Operand(T&& v,  // NOLINT: converts by intent
          std::source_location at = std::source_location::current())
      : value(std::forward<T>(v)), source(at) {}
};
struct OtherArg {
  Value value;

  template <typename T>
    requires(!TensorLike<T> && std::constructible_from<Value, T>)
  OtherArg(T&& v) : value(std::forward<T>(v)) {  // NOLINT
    static_assert(!NodePointer<T>,
                  "fxjit: a Node is no operand; write fx::proxy(node) + x");
  }
};

// Any function by the name that torch.fx prints ("torch.addcmul",
// "torch.nn.functional.gelu", "F.gelu", "operator.add"), any Tensor method by
// its bare name. UserError for an unknown function, AttributeError for an
// unknown method of a real tensor.
Value function(std::string_view name, ValueList args, Kwargs kwargs = {},
               std::source_location at = std::source_location::current());
Value method(const Arg& self, std::string_view name, ValueList args = {},
             Kwargs kwargs = {});

// self[index] and self[index, ...]; indices are ints, slices, None, Ellipsis,
// tensors, or the key of a dict.
Value getitem(const Arg& self, const Arg& index);
template <typename... Rest>
  requires(sizeof...(Rest) > 0)
Value getitem(const Arg& self, const Arg& index, const Rest&... rest) {
  return getitem(self, Arg(Value::tuple({index.value, Value(rest)...})));
}

// Python's arithmetic. `%` and `floor_divide` round down as Python's.
Value operator+(const Operand& a, const Arg& b);
Value operator+(const OtherArg& a, const Operand& b);
Value operator-(const Operand& a, const Arg& b);
Value operator-(const OtherArg& a, const Operand& b);
Value operator*(const Operand& a, const Arg& b);
Value operator*(const OtherArg& a, const Operand& b);
Value operator/(const Operand& a, const Arg& b);
Value operator/(const OtherArg& a, const Operand& b);
Value operator%(const Operand& a, const Arg& b);
Value operator%(const OtherArg& a, const Operand& b);
Value operator&(const Operand& a, const Arg& b);
Value operator&(const OtherArg& a, const Operand& b);
Value operator|(const Operand& a, const Arg& b);
Value operator|(const OtherArg& a, const Operand& b);
Value operator^(const Operand& a, const Arg& b);
Value operator^(const OtherArg& a, const Operand& b);
Value operator<<(const Operand& a, const Arg& b);
Value operator<<(const OtherArg& a, const Operand& b);
Value operator>>(const Operand& a, const Arg& b);
Value operator>>(const OtherArg& a, const Operand& b);
Value operator-(const Operand& a);
Value operator+(const Operand& a);
Value operator~(const Operand& a);

// As Python without in-place methods: `a` is bound to the new result.
Value& operator+=(Value& a, const Arg& b);
Value& operator-=(Value& a, const Arg& b);
Value& operator*=(Value& a, const Arg& b);
Value& operator/=(Value& a, const Arg& b);

// Elementwise comparison of tensors, Python's comparison of plain values. With
// the number on the left Python mirrors the comparison: `1 < x` is `x > 1`.
// `same` compares structure instead.
Value operator==(const Operand& a, const Arg& b);
Value operator==(const OtherArg& a, const Operand& b);
Value operator!=(const Operand& a, const Arg& b);
Value operator!=(const OtherArg& a, const Operand& b);
Value operator<(const Operand& a, const Arg& b);
Value operator<(const OtherArg& a, const Operand& b);
Value operator<=(const Operand& a, const Arg& b);
Value operator<=(const OtherArg& a, const Operand& b);
Value operator>(const Operand& a, const Arg& b);
Value operator>(const OtherArg& a, const Operand& b);
Value operator>=(const Operand& a, const Arg& b);
Value operator>=(const OtherArg& a, const Operand& b);

// Python's operators that C++ lacks: a // b, a ** b, a @ b, abs(a).
namespace operators {
Value floordiv(const Arg& a, const Arg& b);
Value pow(const Arg& a, const Arg& b);
Value matmul(const Arg& a, const Arg& b);
Value abs(const Arg& a);
}  // namespace operators

}  // namespace fxjit

#include "fxjit/functions_pointwise.h"  // IWYU pragma: export
#include "fxjit/functions_structured.h"  // IWYU pragma: export
