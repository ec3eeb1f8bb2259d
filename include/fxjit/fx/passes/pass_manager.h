// Passes over graph modules and the manager that orders and runs them
// (torch.fx.passes.infra).
//
//   passes::Pass fuse("fuse", fuse_fn), clean("clean", clean_fn);
//   passes::PassManager manager({clean, fuse});
//   manager.add_constraint(
//       passes::this_before_that_pass_constraint(fuse, clean));
//   passes::PassResult result = manager(gm);
//
// A manager and the modules it runs on are used by one thread at a time.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

using GraphModuleRef = nn::Ref<GraphModule>;

// What a pass returns: the module that takes the place of the one that it was
// given, which may be the same.
struct PassResult {
  GraphModuleRef graph_module;
  bool modified = false;  // Whether the pass changed the module.
};

// Base of passes with conditions of their own. Calling the pass runs
// `requires_` before and `ensures` after `call`. Both refuse by throwing, and
// do nothing by default.
class PassBase {
 public:
  virtual ~PassBase() = default;
  virtual std::string name() const = 0;
  virtual PassResult call(const GraphModuleRef& module) = 0;
  virtual void requires_(const GraphModuleRef&) {}
  virtual void ensures(const GraphModuleRef&) {}
  PassResult operator()(const GraphModuleRef& module);
};

// A named pass. Copies of a Pass share one identity, by which constraints know
// it.
class Pass {
 public:
  using Run = std::function<PassResult(const GraphModuleRef&)>;
  Pass(std::string name, Run run);
  Pass(std::shared_ptr<PassBase> pass);  // NOLINT: converts by intent

  const std::string& name() const { return shared_->name; }
  PassResult operator()(const GraphModuleRef& module) const {
    return shared_->run(module);
  }
  // The pass inside a loop_pass, this one otherwise.
  Pass unwrapped() const;
  friend bool operator==(const Pass& a, const Pass& b) {
    return a.shared_ == b.shared_;
  }

 private:
  friend Pass loop_pass(const Pass& base, std::optional<int> n_iter,
                        std::function<bool(const GraphModuleRef&)> predicate);
  struct Shared {
    std::string name;
    Run run;
    std::shared_ptr<const Shared> base;  // What a loop repeats.
  };
  std::shared_ptr<const Shared> shared_;  // Its address is the identity.
};

// A pass from a function. One that edits the module in place and returns
// nothing, and one that returns the module that takes its place (or null for
// the same), always count as a change; a PassResult is taken as it is.
template <typename F>
  requires std::invocable<F&, const GraphModuleRef&>
Pass pass_result_wrapper(std::string name, F function) {
  using Result = std::invoke_result_t<F&, const GraphModuleRef&>;
  return Pass(std::move(name),
              [function = std::move(function)](
                  const GraphModuleRef& module) mutable -> PassResult {
                if constexpr (std::is_void_v<Result>) {
                  function(module);
                  return {module, true};
                } else if constexpr (std::same_as<Result, PassResult>) {
                  return function(module);
                } else {
                  const GraphModuleRef made = function(module);
                  return {made ? made : module, true};
                }
              });
}

// Runs `base` n_iter times, or while `predicate` holds. AssertionError unless
// exactly one of them is given, RuntimeError unless n_iter is positive.
Pass loop_pass(const Pass& base, std::optional<int> n_iter,
               std::function<bool(const GraphModuleRef&)> predicate = nullptr);

// False when `a` may not come before `b`.
using PassConstraint = std::function<bool(const Pass& a, const Pass& b)>;
PassConstraint this_before_that_pass_constraint(Pass first, Pass second);
// As above, also for these passes inside loops.
PassConstraint these_before_those_pass_constraint(Pass first, Pass second);

struct PassManagerOptions {
  // Passes are run again, up to so many rounds, until a round changes nothing.
  int steps = 1;
  // Call the check after each pass, besides before the first.
  bool run_checks_after_each_pass = false;
};

class PassManager {
 public:
  explicit PassManager(std::vector<Pass> passes = {},
                       std::vector<PassConstraint> constraints = {},
                       PassManagerOptions options = {});

  const std::vector<Pass>& passes() const { return passes_; }
  void add_pass(Pass pass);
  void add_constraint(PassConstraint constraint);
  // By name.
  void remove_pass(const std::vector<std::string>& names);
  // Passes called as `target` are replaced.
  void replace_pass(const Pass& target, const Pass& replacement);
  // Throws where an invariant of the module does not hold.
  void add_checks(std::function<void(const nn::Module&)> check);

  // RuntimeError with torch's text when the passes stand in an order that a
  // constraint forbids.
  void validate_constraints();
  // Puts the passes into an order that all constraints allow; RuntimeError
  // naming the passes of a circle.
  void solve_constraints();

  // Orders the passes, unless that has been done, and runs them; the module is
  // recompiled after each. An error of a pass is a RuntimeError that names the
  // pass and those before it, followed by the cause.
  PassResult operator()(const GraphModuleRef& module);

 private:
  PassResult run_pass(size_t index, const GraphModuleRef& module) const;

  std::vector<Pass> passes_;
  std::vector<PassConstraint> constraints_;
  PassManagerOptions options_;
  std::function<void(const nn::Module&)> check_;
  bool validated_ = false;
};

}  // namespace fxjit::fx::passes
