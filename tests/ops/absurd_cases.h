// Calls of every row with absurd integers: committed PyTorch cases in which one
// integer after the other (parameters, elements of lists and of integer
// tensors) is replaced. Used by the tests of ops and of compiled ops.
#pragma once

#include <string>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::testing {

struct AbsurdCase {
  const ops::Op* op = nullptr;
  ValueList args;  // Bound.
  std::string text() const;
};

std::vector<AbsurdCase> absurd_cases();

// What a call may do: give a result, or throw one of fxjit's errors.
struct AbsurdOutcome {
  Value result;
  std::string error;     // Of an fxjit error; empty for a result.
  bool skipped = false;  // The result would be large: honest, but slow.
};

// By the shape rule, then with data.
AbsurdOutcome run_absurd(const AbsurdCase& c);

// Whether an error says that memory was asked for that this machine might have
// granted: a table as long as an absurd integer, say.
bool asked_for_much(const std::string& error);

}  // namespace fxjit::testing
