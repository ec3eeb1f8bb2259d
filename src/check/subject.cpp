#include "src/check/subject.h"

#include "fxjit/error.h"
#include "src/compile/compiled_module.h"

namespace fxjit::checking {

Subject Subject::without(const std::string& pass) const {
  Subject made = *this;
  made.options.disabled_passes.push_back(pass);
  return made;
}

Outcome compiled_outcome(const GraphCase& c, const Subject& subject,
                         Report* report) {
  const GraphRun run = c.run();
  install_compiled(*run.module, run.module->copy(), subject.options,
                   subject.hooks);
  const Value result = run.module->invoke_bound(run.inputs);
  if (report) *report = make_report(*run.module);
  return outcome_of(result, run);
}

Expected Judge::expected(const GraphCase& c) const {
  return tolerance_ ? evaluate_within(c, *tolerance_) : evaluate(c);
}

ExpectedNodes Judge::expected_nodes(const GraphCase& c) const {
  return tolerance_ ? evaluate_nodes_within(c, *tolerance_) : evaluate_nodes(c);
}

bool Judge::fails(const GraphCase& c, const Subject& subject) const {
  std::optional<Expected> known;
  try {
    known = expected(c);
  } catch (const Error&) {
    return false;  // The graph cannot run.
  }
  return !failure_beside(c, *known, subject).empty();
}

std::string failure_beside(const GraphCase& c, const Expected& expected,
                           const Subject& subject) {
  try {
    return difference(compiled_outcome(c, subject), expected);
  } catch (const std::exception& error) {
    return std::string("the compiled call failed: ") + error.what();
  }
}

}  // namespace fxjit::checking
