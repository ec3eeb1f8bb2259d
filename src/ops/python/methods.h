// Methods that are no ops: those behind Python's syntax (`__setitem__`,
// `__len__`, reflected operators) and those of Python's containers.
#pragma once

#include <optional>
#include <string_view>

#include "fxjit/op.h"

namespace fxjit::ops {

// The call's result, for arguments without proxies; nothing when there is no
// such method. Errors have Python's texts.
std::optional<Value> call_python_method(std::string_view method,
                                        const ValueList& args,
                                        const Kwargs& kwargs);

// Whether it is the method behind `x[i] = v`.
bool assigns_item(std::string_view method);

}  // namespace fxjit::ops
