// Operands and body of an epilogue, for all steps that have one. Private to
// src/program.
#pragma once

#include <vector>

#include "src/program/planning/builder.h"

namespace fxjit::program {

// The call of `op` in a region that must have one; null for find_call_or_null.
const fx::Node& find_call(const RegionCall& call, const ops::Op& op);
const fx::Node* find_call_or_null(const RegionCall& call, const ops::Op& op);

// What a region does to the sums of `node`, whose shape is batch dims, dims of
// rows and columns, becomes `made`. Appends the operands of extras and outputs
// to `refs`.
void bind_epilogue(const RegionCall& call, const fx::Node& node,
                   std::vector<OperandRef>& refs, Epilogue& made);

}  // namespace fxjit::program
