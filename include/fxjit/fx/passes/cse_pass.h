// CSEPass: computes equal calls once (torch.fx.passes.dialect.common.cse_pass).
#pragma once

#include <unordered_set>

#include "fxjit/fx/passes/pass_manager.h"
#include "fxjit/op.h"

namespace fxjit::fx::passes {

using OpSet = std::unordered_set<const ops::Op*>;

// The ops that must not be merged: random ones and those that write their
// arguments.
OpSet get_CSE_banned_ops();

// The result is a new graph module that shares parameters and modules with the
// old one; when there is nothing to merge, it is the old one. Calls are equal
// when they have the same target and the same arguments, of the same types.
//
// Beyond the banned ops, never merged are: random, writing and other impure
// calls; reads before with reads after a write; layers that are training;
// attributes, as in torch. Linear in the graph.
class CSEPass : public PassBase {
 public:
  explicit CSEPass(OpSet banned_ops = {});
  std::string name() const override { return "CSEPass"; }
  PassResult call(const GraphModuleRef& module) override;

 private:
  OpSet banned_ops_;
};

}  // namespace fxjit::fx::passes
