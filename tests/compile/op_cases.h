// The committed PyTorch cases of tests/ops as calls to compile, and graphs that
// hold many of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/op.h"

namespace fxjit::testing {

struct OpCase {
  const ops::Op* op = nullptr;
  std::string text;  // The call, for messages.
  ValueList args;
  Kwargs kwargs;
  Value expected;
};

// Every case with a result, sorted by op; calls that write their argument and
// those below are left out.
const std::vector<OpCase>& op_cases();
// Those that compiled graphs cannot hold: the result's size depends on data, or
// the call names a place in memory.
const std::vector<OpCase>& uncompiled_cases();

// Every call of a random op with a result, in the order of the file; `expected`
// is of a generator that no call used before.
const std::vector<OpCase>& random_cases();

// A module that computes all of `cases`: tensors are its inputs, its result is
// the tuple of theirs. Case i is the node "case<i>_".
struct CaseGraph {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
};
CaseGraph graph_of(std::span<const OpCase> cases);
std::string case_node(size_t i);

}  // namespace fxjit::testing
