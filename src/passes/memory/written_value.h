// What a writing call makes of its first argument, as a call that does not
// write. For FollowedWrites, which says where readers of the argument may read
// that instead.
#pragma once

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// Whether a call made the value in memory of its own.
bool is_own(const Value& value);

// The value of args[0] after the call of `node`, of any layout and type.
// NotImplementedError where no op without the write gives it.
Value written_value(GraphBuilder& builder, const fx::Node& node,
                    const ops::Op& op, ValueList args);

}  // namespace fxjit::passes
