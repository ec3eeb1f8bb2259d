// The functions of Python's module `operator` on plain values: all but tensors
// and proxies, which have operators of their own. Containers may hold those; a
// list of proxies is a list.
#pragma once

#include <span>
#include <string_view>

#include "fxjit/value.h"

namespace fxjit::ops {

struct PythonOperator {
  std::string_view name;  // "add", "iadd", "getitem", ...
  size_t count;           // Of arguments.
  // How many of them, from the left, must be plain.
  size_t plain;
  // TypeError and others with Python's texts.
  Value (*run)(std::span<const Value> args);
  // Whether it changes its first argument. Those with a row in the op table
  // ("iadd") say so there.
  bool writes = false;
};

std::span<const PythonOperator> python_operators();
// Null where there is no such function.
const PythonOperator* find_python_operator(std::string_view name);

// Whether Python itself runs `function` on `args`, rather than a tensor's or a
// proxy's method.
bool takes_plain(const PythonOperator& function, std::span<const Value> args);

// TypeError for another number of arguments and for keywords.
Value call_python_operator(const PythonOperator& function,
                           std::span<const Value> args, const Kwargs& kwargs);

}  // namespace fxjit::ops
