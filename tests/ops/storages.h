// Which tensors share memory and how they lie in it, in the words of
// aliasing_reference.txt and layouts_reference.txt.
#pragma once

#include <string>
#include <vector>

#include "fxjit/value.h"
#include "src/ops/table/aliasing.h"

namespace fxjit::testing {

// The tensors of an argument in memory of their own, laid out as before.
Value apart(const Value& argument);
// Meta tensors in place of tensors.
Value without_numbers(const Value& argument);

// For each tensor of `result` the number of the tensor of `arguments` whose
// storage it has, or a letter for each storage of its own: "0_a".
std::string memories(const Value& result, const ValueList& arguments);
std::string memories(const std::vector<ops::ResultMemory>& told);

// The strides of the tensors of `result`: "1,3_-". A word "-" of `expected`
// stays, for tensors that are memory of an argument.
std::string layouts(const Value& result, const std::string& expected);

}  // namespace fxjit::testing
