#include "fxjit/fx/passes/pass_manager.h"

#include <algorithm>
#include <deque>

#include "src/support/errors/exception_text.h"

namespace fxjit::fx::passes {
namespace {

std::string names_of(const std::vector<Pass>& passes, size_t count) {
  std::string names;
  for (size_t i = 0; i < count; ++i)
    names += (i ? ", '" : "'") + passes[i].name() + "'";
  return "[" + names + "]";
}

void validate(const PassConstraint& constraint,
              const std::vector<Pass>& passes) {
  for (size_t i = 0; i < passes.size(); ++i) {
    for (size_t j = i + 1; j < passes.size(); ++j) {
      const Pass &a = passes[i], &b = passes[j];
      if (constraint(a, b)) continue;
      throw RuntimeError("pass schedule constraint violated. Expected " +
                         a.name() + " before " + b.name() + " but found " +
                         a.name() + " at index " + std::to_string(i) +
                         " and " + b.name() + " at index " +
                         std::to_string(j - i - 1) + " in pass list.");
    }
  }
}

}  // namespace

PassResult PassBase::operator()(const GraphModuleRef& module) {
  requires_(module);
  PassResult result = call(module);
  ensures(module);
  return result;
}

Pass::Pass(std::string name, Run run)
    : shared_(std::make_shared<const Shared>(
          Shared{std::move(name), std::move(run), nullptr})) {}

Pass::Pass(std::shared_ptr<PassBase> pass)
    : Pass(pass->name(),
           [pass](const GraphModuleRef& module) { return (*pass)(module); }) {}

Pass Pass::unwrapped() const {
  Pass inner = *this;
  while (inner.shared_->base) inner.shared_ = inner.shared_->base;
  return inner;
}

Pass loop_pass(const Pass& base, std::optional<int> n_iter,
               std::function<bool(const GraphModuleRef&)> predicate) {
  if (n_iter.has_value() == static_cast<bool>(predicate))
    throw AssertionError(
        "Exactly one of `n_iter`or `predicate` must be specified.");
  if (n_iter && *n_iter <= 0)
    throw RuntimeError("loop_pass must be given positive int n_iter (given " +
                       std::to_string(*n_iter) +
                       ") xor predicate (given None)");
  Pass loop(base.name(), [base, n_iter, predicate = std::move(predicate)](
                             const GraphModuleRef& module) {
    PassResult result{module, false};
    for (int i = 0; n_iter ? i < *n_iter : predicate(result.graph_module);
         ++i) {
      PassResult next = base(result.graph_module);
      result = {next.graph_module, result.modified || next.modified};
    }
    return result;
  });
  loop.shared_ = std::make_shared<const Pass::Shared>(
      Pass::Shared{base.name(), loop.shared_->run, base.shared_});
  return loop;
}

PassConstraint this_before_that_pass_constraint(Pass first, Pass second) {
  return [first = std::move(first), second = std::move(second)](
             const Pass& a, const Pass& b) {
    return !(a == second) || !(b == first);
  };
}

PassConstraint these_before_those_pass_constraint(Pass first, Pass second) {
  return [first = std::move(first), second = std::move(second)](
             const Pass& a, const Pass& b) {
    return !(a.unwrapped() == second) || !(b.unwrapped() == first);
  };
}

PassManager::PassManager(std::vector<Pass> passes,
                         std::vector<PassConstraint> constraints,
                         PassManagerOptions options)
    : passes_(std::move(passes)),
      constraints_(std::move(constraints)),
      options_(options) {}

void PassManager::add_pass(Pass pass) {
  passes_.push_back(std::move(pass));
  validated_ = false;
}

void PassManager::add_constraint(PassConstraint constraint) {
  constraints_.push_back(std::move(constraint));
  validated_ = false;
}

void PassManager::remove_pass(const std::vector<std::string>& names) {
  std::erase_if(passes_, [&](const Pass& pass) {
    return std::find(names.begin(), names.end(), pass.name()) != names.end();
  });
  validated_ = false;
}

void PassManager::replace_pass(const Pass& target, const Pass& replacement) {
  for (Pass& pass : passes_)
    if (pass.name() == target.name()) pass = replacement;
  validated_ = false;
}

void PassManager::add_checks(std::function<void(const nn::Module&)> check) {
  check_ = std::move(check);
}

void PassManager::validate_constraints() {
  if (validated_) return;
  for (const PassConstraint& constraint : constraints_)
    validate(constraint, passes_);
  validated_ = true;
}

void PassManager::solve_constraints() {
  validated_ = true;
  if (constraints_.empty()) return;
  const size_t count = passes_.size();
  std::vector<std::vector<size_t>> later(count);
  std::vector<size_t> missing(count);
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      for (const PassConstraint& constraint : constraints_)
        if (a != b && !constraint(passes_[a], passes_[b])) {
          later[b].push_back(a);
          ++missing[a];
        }
  std::deque<size_t> ready;
  for (size_t a = 0; a < count; ++a)
    if (missing[a] == 0) ready.push_back(a);
  std::vector<Pass> sorted;
  for (; !ready.empty(); ready.pop_front()) {
    sorted.push_back(passes_[ready.front()]);
    for (size_t next : later[ready.front()])
      if (--missing[next] == 0) ready.push_back(next);
  }
  std::vector<Pass> circle;
  for (size_t a = 0; a < count; ++a)
    if (missing[a] > 0) circle.push_back(passes_[a]);
  if (!circle.empty()) {
    validated_ = false;
    throw RuntimeError(
        "Circular dependency detected within the following passes: " +
        names_of(circle, circle.size()));
  }
  passes_ = std::move(sorted);
}

PassResult PassManager::operator()(const GraphModuleRef& module) {
  if (!validated_) solve_constraints();
  if (check_) check_(*module);
  PassResult result{module, false};
  for (int step = 0; step < options_.steps; ++step) {
    bool modified = false;
    for (size_t i = 0; i < passes_.size(); ++i) {
      PassResult next = run_pass(i, result.graph_module);
      result.graph_module = std::move(next.graph_module);
      modified = modified || next.modified;
    }
    result.modified = result.modified || modified;
    if (!modified) break;
  }
  return result;
}

PassResult PassManager::run_pass(size_t index,
                                 const GraphModuleRef& module) const {
  const auto fail = [&](const std::string& why, const ErrorContext& context) {
    return RuntimeError("An error occurred when running the '" +
                            passes_[index].name() +
                            "' pass after the following passes: " +
                            names_of(passes_, index) + "\n" + why,
                        context);
  };
  try {
    PassResult result = passes_[index](module);
    if (!result.graph_module)
      throw TypeError("The result of the pass " + passes_[index].name() +
                      " should be type PassResult.Please wrap it with "
                      "pass_result_wrapper()");
    result.graph_module->recompile();
    if (check_ && options_.run_checks_after_each_pass)
      check_(*result.graph_module);
    return result;
  } catch (const Error& error) {
    throw fail(error.message(), error.context());
  } catch (...) {
    throw fail(support::exception_text(), {});
  }
}

}  // namespace fxjit::fx::passes
