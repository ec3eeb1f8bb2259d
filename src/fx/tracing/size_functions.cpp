// torch's functions of sizes that are symbols while a program is exported:
// torch.sym_max and its like. Here they calculate with numbers.
#include <cmath>

#include "src/fx/tracing/builtins.h"

namespace fxjit::fx {
namespace {

using Numbers = const ValueList&;

bool are_whole(Numbers both) {
  return !both[0].is_float() && !both[1].is_float();
}

// Whole numbers may be named sizes, which stay so. Two numbers of which one is
// a float are compared as floats, and the result is one.
Value sym_max(Numbers n) {
  if (are_whole(n)) return larger(n[0].as_size(), n[1].as_size());
  return n[1].as_double() > n[0].as_double() ? n[1].as_double()
                                             : n[0].as_double();
}

Value sym_min(Numbers n) {
  if (are_whole(n)) return smaller(n[0].as_size(), n[1].as_size());
  return n[1].as_double() < n[0].as_double() ? n[1].as_double()
                                             : n[0].as_double();
}

Value sym_float(Numbers n) { return n[0].as_double(); }

Value sym_int(Numbers n) {
  if (!n[0].is_float()) return n[0].as_size();
  const double x = n[0].as_double();
  constexpr double kLimit = 9223372036854775808.0;
  if (!(std::abs(x) < kLimit))
    throw OverflowError("cannot convert float " + repr(n[0]) + " to integer");
  return static_cast<int64_t>(x);
}

Value sym_sqrt(Numbers n) {
  if (n[0].as_double() < 0) throw ValueError("math domain error");
  return std::sqrt(n[0].as_double());
}

Value sym_not(Numbers n) { return !static_cast<bool>(n[0]); }

Value sym_ite(Numbers n) { return static_cast<bool>(n[0]) ? n[1] : n[2]; }

Value sym_sum(Numbers n) {
  Size sum = 0;
  for (const Value& one : n) {
    const Size next = one.as_size();
    int64_t ignored = 0;
    if (sum.is_number() && next.is_number() &&
        __builtin_add_overflow(sum.word(), next.word(), &ignored))
      throw OverflowError("torch.sym_sum(): beyond 64 bits");
    sum += next;
  }
  return sum;
}

// Torch gives the numbers as one list.
constexpr size_t kList = SIZE_MAX;

struct SizeRow {
  const char* name;
  size_t count;
  Value (*run)(Numbers numbers);
};
constexpr SizeRow kSizeRows[] = {
    {"torch.sym_float", 1, sym_float}, {"torch.sym_int", 1, sym_int},
    {"torch.sym_ite", 3, sym_ite},     {"torch.sym_max", 2, sym_max},
    {"torch.sym_min", 2, sym_min},     {"torch.sym_not", 1, sym_not},
    {"torch.sym_sqrt", 1, sym_sqrt},   {"torch.sym_sum", kList, sym_sum},
};

Value run(const SizeRow& row, const ValueList& args, const Kwargs& kwargs) {
  const bool list = row.count == kList;
  const size_t count = list ? 1 : row.count;
  if (!kwargs.empty() || args.size() != count)
    throw TypeError(std::string(row.name) + "() takes exactly " +
                    std::to_string(count) + " arguments, got " +
                    std::to_string(args.size() + kwargs.size()));
  if (list && !args[0].is_sequence())
    throw TypeError(std::string(row.name) + "(): expected a list, got " +
                    repr(args[0]));
  const ValueList& numbers = list ? args[0].as_sequence() : args;
  for (const Value& number : numbers)
    if (!number.is_number())
      throw TypeError(std::string(row.name) + "(): expected numbers, got " +
                      repr(number));
  return row.run(numbers);
}

}  // namespace

void visit_size_functions(const DefineFunction& define) {
  for (const SizeRow& row : kSizeRows)
    define(
        row.name,
        [&row](const ValueList& args, const Kwargs& kwargs) {
          return run(row, args, kwargs);
        },
        ops::Purity::pure);
}

}  // namespace fxjit::fx
