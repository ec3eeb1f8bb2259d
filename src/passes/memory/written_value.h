// Computes what a writing call leaves in its first argument, by a call that
// does not write. Used by FollowedWrites.
#pragma once

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// Whether a call has made the value in memory of its own.
bool is_own(const Value& value);

// The value of args[0] after the call of `node`; it may have any strides and
// dtype. Throws NotImplementedError if no op without the write gives it.
Value written_value(GraphBuilder& builder, const fx::Node& node,
                    const ops::Op& op, ValueList args);

}  // namespace fxjit::passes
