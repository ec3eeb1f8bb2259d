#include "src/ops/python/operators.h"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>

#include "src/ops/python/compare.h"
#include "src/ops/python/containers.h"
#include "src/ops/python/format.h"
#include "src/ops/python/items.h"
#include "src/ops/python/numbers.h"

namespace fxjit::ops {
namespace {

using Arguments = std::span<const Value>;

bool is_whole(const Value& value) { return value.is_int() || value.is_bool(); }

using python::name_of;

[[noreturn]] void unsupported(const std::string& symbol, const Value& a,
                              const Value& b) {
  throw TypeError("unsupported operand type(s) for " + symbol + ": '" +
                  name_of(a) + "' and '" + name_of(b) + "'");
}

[[noreturn]] void unsupported(const char* symbol, const Value& a) {
  throw TypeError("bad operand type for " + std::string(symbol) + ": '" +
                  name_of(a) + "'");
}

// --- Binary operators; `symbol` ends with "=" for those in place. ---

bool in_place(const std::string& symbol) { return symbol.ends_with('='); }

using Operation = Value (*)(const Value& a, const Value& b);

template <Operation kOperation>
Value of_numbers(const std::string& symbol, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return kOperation(a, b);
  unsupported(symbol, a, b);
}

template <Operation kOperation>
Value of_ints(const std::string& symbol, const Value& a, const Value& b) {
  if (is_whole(a) && is_whole(b)) return kOperation(a, b);
  unsupported(symbol, a, b);
}

Value add(const std::string& symbol, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return python::add(a, b);
  if (a.is_list() && in_place(symbol)) return python::extended(a, b);
  if (python::is_joinable(a)) return python::joined(a, b);
  unsupported(symbol, a, b);
}

Value mul(const std::string& symbol, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return python::mul(a, b);
  if (python::is_joinable(a)) return python::repeated(a, b);
  // In place, Python does not ask the right side of a dict or range.
  if (python::is_joinable(b) && !(in_place(symbol) && python::is_iterable(a)))
    return python::repeated(b, a);
  unsupported(symbol, a, b);
}

Value mod(const std::string& symbol, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return python::mod(a, b);
  if (a.is_string()) return python::format(a.as_string(), b);
  unsupported(symbol, a, b);
}

Value pow(const std::string& symbol, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return python::pow(a, b);
  unsupported(in_place(symbol) ? symbol : "** or pow()", a, b);
}

Value matmul(const std::string& symbol, const Value& a, const Value& b) {
  unsupported(symbol, a, b);
}

// The bits of two ints; two bools give a bool.
template <typename Bits>
Value bitwise(const std::string& symbol, const Value& a, const Value& b) {
  if (!is_whole(a) || !is_whole(b)) unsupported(symbol, a, b);
  const int64_t result = Bits()(a.as_int(), b.as_int());
  return a.is_bool() && b.is_bool() ? Value(result != 0) : Value(result);
}

Value bit_or(const std::string& symbol, const Value& a, const Value& b) {
  if (a.is_dict() && in_place(symbol)) return python::updated(a, b);
  if (a.is_dict() && b.is_dict()) return python::merged(a, b.as_dict());
  return bitwise<std::bit_or<int64_t>>(symbol, a, b);
}

using Binary = Value (*)(const std::string& symbol, const Value& a,
                         const Value& b);
// The text of a symbol as a template argument.
template <size_t kSize>
struct Symbol {
  char text[kSize];
  constexpr Symbol(const char (&from)[kSize]) {  // NOLINT
    std::copy_n(from, kSize, text);
  }
};
template <Binary kFunction, Symbol kSymbol>
Value binary(Arguments args) {
  return kFunction(kSymbol.text, args[0], args[1]);
}

Value concat_sequences(Arguments args) {
  if (!python::is_joinable(args[0]))
    throw TypeError("'" + name_of(args[0]) + "' object can't be concatenated");
  return python::joined(args[0], args[1]);
}

Value concat_in_place(Arguments args) {
  return args[0].is_list() ? python::extended(args[0], args[1])
                           : concat_sequences(args);
}

// --- Unary operators. ---

template <Value (*kFunction)(const Value&), Symbol kSymbol>
Value unary(Arguments args) {
  if (!args[0].is_number()) unsupported(kSymbol.text, args[0]);
  return kFunction(args[0]);
}

Value invert(Arguments args) {
  if (!is_whole(args[0])) unsupported("unary ~", args[0]);
  return ~args[0].as_int();
}

Value truth(Arguments args) { return static_cast<bool>(args[0]); }
Value negation(Arguments args) { return !static_cast<bool>(args[0]); }
Value index(Arguments args) { return python::index(args[0]); }

// --- Comparisons and containers. ---

template <auto kFunction>
Value of_two(Arguments args) {
  return kFunction(args[0], args[1]);
}
Value ne(Arguments args) { return !python::equal(args[0], args[1]); }
template <python::Order kOrder>
Value ordered(Arguments args) {
  return python::ordered(kOrder, args[0], args[1]);
}

// Refuses to change `self`. Python could change lists and dicts; here they are
// never changed.
[[noreturn]] void unchanged(const Value& self, const char* does_not,
                            const char* what) {
  const bool changes_in_python = self.is_list() || self.is_dict();
  throw TypeError("'" + name_of(self) + "' object " +
                  (changes_in_python ? "does not" : does_not) + " support " +
                  what +
                  (changes_in_python ? " here: values are never changed in "
                                       "place, build a new one"
                                     : ""));
}

Value refuse_setitem(Arguments args) {
  unchanged(args[0], "does not", "item assignment");
}

// Python has other words where an index of a sequence is an int.
Value delitem(Arguments args) {
  const bool by_position =
      (python::is_joinable(args[0]) || args[0].is_range()) && is_whole(args[1]);
  unchanged(args[0], by_position ? "doesn't" : "does not", "item deletion");
}

constexpr PythonOperator kOperators[] = {
    {"add", 2, 2, binary<add, "+">},
    {"sub", 2, 2, binary<of_numbers<python::sub>, "-">},
    {"mul", 2, 2, binary<mul, "*">},
    {"truediv", 2, 2, binary<of_numbers<python::truediv>, "/">},
    {"floordiv", 2, 2, binary<of_numbers<python::floordiv>, "//">},
    {"mod", 2, 2, binary<mod, "%">},
    {"pow", 2, 2, binary<pow, "**">},
    {"matmul", 2, 2, binary<matmul, "@">},
    {"lshift", 2, 2, binary<of_ints<python::lshift>, "<<">},
    {"rshift", 2, 2, binary<of_ints<python::rshift>, ">>">},
    {"and_", 2, 2, binary<bitwise<std::bit_and<int64_t>>, "&">},
    {"or_", 2, 2, binary<bit_or, "|">},
    {"xor", 2, 2, binary<bitwise<std::bit_xor<int64_t>>, "^">},
    {"iadd", 2, 2, binary<add, "+=">},
    {"isub", 2, 2, binary<of_numbers<python::sub>, "-=">},
    {"imul", 2, 2, binary<mul, "*=">},
    {"itruediv", 2, 2, binary<of_numbers<python::truediv>, "/=">},
    {"ifloordiv", 2, 2, binary<of_numbers<python::floordiv>, "//=">},
    {"imod", 2, 2, binary<mod, "%=">},
    {"ipow", 2, 2, binary<pow, "**=">},
    {"imatmul", 2, 2, binary<matmul, "@=">},
    {"ilshift", 2, 2, binary<of_ints<python::lshift>, "<<=">, true},
    {"irshift", 2, 2, binary<of_ints<python::rshift>, ">>=">, true},
    {"iand", 2, 2, binary<bitwise<std::bit_and<int64_t>>, "&=">},
    {"ior", 2, 2, binary<bit_or, "|=">},
    {"ixor", 2, 2, binary<bitwise<std::bit_xor<int64_t>>, "^=">},
    {"concat", 2, 2, concat_sequences},
    {"iconcat", 2, 2, concat_in_place},
    {"neg", 1, 1, unary<python::negative, "unary -">},
    {"pos", 1, 1, unary<python::positive, "unary +">},
    {"invert", 1, 1, invert},
    {"inv", 1, 1, invert},
    {"abs", 1, 1, unary<python::absolute, "abs()">},
    {"truth", 1, 1, truth},
    {"not_", 1, 1, negation},
    {"index", 1, 1, index},
    {"eq", 2, 2, of_two<python::equal>},
    {"ne", 2, 2, ne},
    {"lt", 2, 2, ordered<python::Order::lt>},
    {"le", 2, 2, ordered<python::Order::le>},
    {"gt", 2, 2, ordered<python::Order::gt>},
    {"ge", 2, 2, ordered<python::Order::ge>},
    {"getitem", 2, 1, of_two<python::getitem>},
    {"contains", 2, 1, of_two<python::contains>},
    {"countOf", 2, 1, of_two<python::count_of>},
    {"indexOf", 2, 1, of_two<python::index_of>},
    {"setitem", 3, 1, refuse_setitem, true},
    {"delitem", 2, 1, delitem, true},
};

}  // namespace

std::span<const PythonOperator> python_operators() { return kOperators; }

const PythonOperator* find_python_operator(std::string_view name) {
  static const auto* const table = [] {
    auto* made =
        new std::unordered_map<std::string_view, const PythonOperator*>;
    for (const PythonOperator& function : kOperators)
      made->emplace(function.name, &function);
    return made;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

bool takes_plain(const PythonOperator& function, Arguments args) {
  const size_t count = std::min(function.plain, args.size());
  return std::ranges::none_of(args.first(count), [](const Value& arg) {
    return arg.is_tensor() || arg.is_proxy() || arg.is_node();
  });
}

Value call_python_operator(const PythonOperator& function, Arguments args,
                           const Kwargs& kwargs) {
  const std::string name(function.name);
  if (!kwargs.empty()) throw TypeError(name + "() takes no keyword arguments");
  if (args.size() != function.count)
    throw TypeError(name + " expected " + std::to_string(function.count) +
                    " argument" + (function.count == 1 ? "" : "s") + ", got " +
                    std::to_string(args.size()));
  return function.run(args);
}

}  // namespace fxjit::ops
