#include "src/check/pass_search.h"

#include <algorithm>
#include <exception>

#include "src/passes/evaluate.h"

namespace fxjit::checking {
namespace {

// Runs the graph by eager functions after each pass, up to the first pass that
// makes it wrong. It follows only the first graph that the passes are given.
// Others are later parts of the module and bodies of control flow, whose inputs
// are not known here.
class GraphWatch {
 public:
  GraphWatch(const GraphCase& c, const Expected& expected)
      : case_(c), expected_(expected) {}

  void see(std::string_view pass, const passes::ModelGraph& model) {
    over_ = over_ || (begun_ && pass == "normalize");
    begun_ = true;
    if (over_) return;
    try {
      const ValueList inputs = case_.run().inputs;
      const Outcome outcome = outcome_of(passes::evaluate(model, inputs), {});
      if (result_difference(outcome, expected_).empty()) return;
      wrong_after_ = pass;
    } catch (const std::exception&) {
      // Eager functions cannot run the graph at this stage, so it tells
      // nothing.
    }
    over_ = true;
  }

  const std::string& wrong_after() const { return wrong_after_; }

 private:
  const GraphCase& case_;
  const Expected& expected_;
  bool begun_ = false, over_ = false;
  std::string wrong_after_;
};

std::string wrong_graph(const GraphCase& failing, const Expected& expected,
                        Subject subject) {
  GraphWatch watch(failing, expected);
  subject.hooks.observer = [&](std::string_view pass,
                               const passes::ModelGraph& model) {
    watch.see(pass, model);
  };
  static_cast<void>(failure_beside(failing, expected, subject));
  return watch.wrong_after();
}

bool is_disabled(const Subject& subject, const std::string& pass) {
  const auto& disabled = subject.options.disabled_passes;
  return std::find(disabled.begin(), disabled.end(), pass) != disabled.end();
}

}  // namespace

PassFinding find_pass(const GraphCase& failing, const Subject& subject,
                      const Judge& judge) {
  PassFinding found;
  const Expected expected = judge.expected(failing);
  for (const std::string& pass : passes::optional_passes())
    if (!is_disabled(subject, pass) &&
        failure_beside(failing, expected, subject.without(pass)).empty())
      found.right_without.push_back(pass);
  found.pass = wrong_graph(failing, expected, subject);
  found.graph_shows_pass = !found.pass.empty();
  if (found.pass.empty() && !found.right_without.empty())
    found.pass = found.right_without.front();
  return found;
}

}  // namespace fxjit::checking
