// What a call gave, kept and compared.
#pragma once

#include <string>

#include "fxjit/value.h"

namespace fxjit::command {

// The tensors among the leaves of a result, copies of them.
ValueList kept_tensors(const Value& result);

// How far `b` is from `a`: of each pair the largest difference relative to the
// largest number of both, of all pairs the largest. Infinite where one has a
// NaN or an infinity that the other lacks.
double difference(const ValueList& a, const ValueList& b);

// Why `b` is no answer like `a`, or nothing: another number of results, other
// sizes, a difference above `tolerance`.
std::string unlike(const ValueList& a, const ValueList& b, double tolerance);

}  // namespace fxjit::command
