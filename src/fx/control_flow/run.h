// Running calls of control flow on values, one iteration after the other.
#pragma once

#include <string_view>

#include "src/fx/control_flow/functions.h"

namespace fxjit::fx {

// Meta tensors give meta tensors: both branches are then run, and bodies once.
Value run_control(const ControlCall& call);

ValueList joined(ValueList first, const ValueList& more);
// A tensor or a proxy.
bool is_data(const Value& value);
// RuntimeErrors with torch's texts for what cond and while_loop are given.
void check_pred(const Value& pred);
void check_operands(const Value& operands);
void check_carried(const Value& carried);
// AssertionError with torch's text unless the body of a while_loop gives as
// many values as it gets.
void check_carried_count(size_t given, size_t carried);
// RuntimeError with torch's text unless the lists hold tensors of the same
// sizes and dtypes, or numbers.
void check_same_metadata(const ValueList& lhs, const ValueList& rhs,
                         std::string_view lhs_name, std::string_view rhs_name);
// RuntimeError with torch's text unless results of two branches are as many,
// with the same dtypes and ranks.
void check_branches(const Value& on_true, const Value& on_false);
// The slices that loops go over. RuntimeError with torch's texts unless all
// have the same number of them.
int64_t slice_count(const ControlCall& call);
// RuntimeError with torch's text unless it is a bool or a boolean tensor
// without dims.
void check_loop_condition(const Value& condition);

}  // namespace fxjit::fx
