#include "src/check/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/check/numbers.h"
#include "src/check/wide_interpreter.h"

namespace fxjit::checking {
namespace {

// Disturbed runs for a bound. The greatest of their deviations is taken.
constexpr uint32_t kRuns = 3;
// A bound is this many times the element's deviation, and this many times the
// mean deviation of the tensor: three runs may miss the worst case of one
// element, but rarely that of all.
constexpr double kOfElement = 6, kOfMean = 2;

std::string structure(const Value& value) {
  if (value.is_tensor()) return "Tensor";
  if (!value.is_sequence()) return repr(value);
  std::string text = value.is_list() ? "[" : "(";
  for (const Value& item : value.as_sequence()) text += structure(item) + ", ";
  return text + (value.is_list() ? "]" : ")");
}

Outcome run_wide(const GraphCase& c, const NarrowFacts& facts, uint32_t seed) {
  const GraphRun run = c.run(true);
  WideInterpreter interpreter(*run.module, facts, seed);
  return outcome_of(run_on(interpreter, run.inputs), run);
}

// Runs a graph and copies the value of each call when it is made, because later
// calls may write to it.
template <typename Base>
class Keeping : public Base {
 public:
  using Base::Base;

  Value run_node(const fx::Node& node) override {
    const Value value = Base::run_node(node);
    const bool call = !node.is(fx::Opcode::placeholder) &&
                      !node.is(fx::Opcode::get_attr) &&
                      !node.is(fx::Opcode::output);
    if (call) kept.emplace(node.name(), MemoryCopies().in(value));
    return value;
  }

  Values kept;
};

// Raises each element of `allowed` to the deviation of `rough` from the exact
// numbers, unless it is greater already.
void add_deviation(const Tensor& rough, Expected::Numbers* numbers_of) {
  const std::vector<double> values = numbers(rough);
  for (size_t i = 0; i < values.size(); ++i) {
    const double exact = numbers_of->exact[i];
    double off = std::abs(values[i] - exact);
    if (!std::isfinite(exact) || !std::isfinite(values[i])) {
      const bool equal = values[i] == exact ||
                         (std::isnan(values[i]) && std::isnan(exact));
      off = equal ? 0 : std::numeric_limits<double>::infinity();
    }
    numbers_of->allowed[i] = std::max(numbers_of->allowed[i], off);
  }
}

// Complex numbers are not disturbed themselves, so the loss of their sums is
// estimated from the greatest number of the tensor.
void make_complex_bounds(Expected::Numbers* of) {
  constexpr double kOfGreatest = 1e-5;
  const double least = kOfGreatest * greatest_of(of->exact);
  for (double& allowed : of->allowed)
    allowed = kOfElement * allowed + least;
}

// Turns deviations into bounds. If a disturbed run gives another integer,
// nothing can be said of that element. An element that no run changes must be
// exact, since it was not computed; but elements of narrow types may be equal
// by chance, and f64 has the precision of the disturbed runs themselves.
void make_bounds(DType type, Expected::Numbers* of) {
  if (is_complex(type)) return make_complex_bounds(of);
  const bool brief = is_floating(type) && type != DType::f32;
  double sum = 0, count = 0;
  for (const double off : of->allowed)
    if (std::isfinite(off)) sum += off, ++count;
  for (size_t i = 0; i < of->allowed.size(); ++i) {
    double& allowed = of->allowed[i];
    if (allowed == 0 && (!brief || sum == 0)) continue;
    if (!is_floating(type)) allowed = std::numeric_limits<double>::infinity();
    if (std::isinf(allowed)) continue;
    allowed = kOfElement * allowed + kOfMean * sum / count +
              2 * ulp(type) * std::abs(of->exact[i]) +
              std::numeric_limits<float>::min();
  }
}

}  // namespace

std::string Outcome::name(size_t tensor) const {
  return tensor < results ? "result " + std::to_string(tensor)
                          : "input or constant " +
                                std::to_string(tensor - results) +
                                " after the call";
}

Outcome outcome_of(const Value& result, const GraphRun& run) {
  Outcome outcome;
  outcome.structure = structure(result);
  visit_leaves(result, [&](const Value& leaf) {
    if (leaf.is_tensor()) outcome.tensors.push_back(leaf.as_tensor());
  });
  outcome.results = outcome.tensors.size();
  for (const ValueList* list : {&run.inputs, &run.constants})
    visit_leaves(Value::list(*list), [&](const Value& leaf) {
      if (leaf.is_tensor()) outcome.tensors.push_back(leaf.as_tensor());
    });
  return outcome;
}

namespace {

// Collects the deviations of disturbed runs from the run in double precision.
class Bounds {
 public:
  Bounds(const Outcome& interpreted, const Outcome& exact)
      : expected_{interpreted, {}} {
    for (const Tensor& t : exact.tensors) {
      expected_.numbers.push_back({numbers(t), {}});
      expected_.numbers.back().allowed.resize(
          expected_.numbers.back().exact.size());
    }
  }

  void add(const Outcome& rough) {
    for (size_t i = 0; i < rough.tensors.size(); ++i)
      add_deviation(rough.tensors[i], &expected_.numbers[i]);
  }

  Expected finish() {
    for (size_t i = 0; i < expected_.numbers.size(); ++i)
      make_bounds(expected_.interpreted.tensors[i].dtype(),
                  &expected_.numbers[i]);
    return std::move(expected_);
  }

 private:
  Expected expected_;
};

Outcome outcome_alone(const Value& value) { return outcome_of(value, {}); }

Values run_wide_nodes(const GraphCase& c, const NarrowFacts& facts,
                      uint32_t seed) {
  const GraphRun run = c.run(true);
  Keeping<WideInterpreter> interpreter(*run.module, facts, seed);
  run_on(interpreter, run.inputs);
  return std::move(interpreter.kept);
}

Expected within(const Outcome& interpreted, double tolerance) {
  Expected expected{interpreted, {}};
  for (const Tensor& t : interpreted.tensors) {
    std::vector<double> exact = numbers(t);
    const double allowed = tolerance * greatest_of(exact);
    expected.numbers.push_back(
        {exact, std::vector<double>(exact.size(), allowed)});
  }
  return expected;
}

}  // namespace

Expected evaluate(const GraphCase& c) {
  const GraphRun run = c.run();
  RecordingInterpreter narrow(*run.module);
  const Outcome interpreted = outcome_of(run_on(narrow, run.inputs), run);
  Bounds bounds(interpreted, run_wide(c, narrow.facts, 0));
  for (uint32_t seed = 1; seed <= kRuns; ++seed)
    bounds.add(run_wide(c, narrow.facts, seed));
  return bounds.finish();
}

Expected evaluate_within(const GraphCase& c, double tolerance) {
  const GraphRun run = c.run();
  fx::Interpreter interpreter(*run.module);
  return within(outcome_of(run_on(interpreter, run.inputs), run), tolerance);
}

Values values_of_nodes(const GraphCase& c) {
  const GraphRun run = c.run();
  Keeping<fx::Interpreter> interpreter(*run.module);
  run_on(interpreter, run.inputs);
  return std::move(interpreter.kept);
}

ExpectedNodes evaluate_nodes(const GraphCase& c) {
  const GraphRun run = c.run();
  Keeping<RecordingInterpreter> narrow(*run.module);
  run_on(narrow, run.inputs);
  std::map<std::string, Bounds, std::less<>> bounds;
  const Values exact = run_wide_nodes(c, narrow.facts, 0);
  for (const auto& [name, value] : narrow.kept)
    bounds.emplace(name, Bounds(outcome_alone(value),
                                outcome_alone(exact.at(name))));
  for (uint32_t seed = 1; seed <= kRuns; ++seed)
    for (const auto& [name, rough] : run_wide_nodes(c, narrow.facts, seed))
      bounds.at(name).add(outcome_alone(rough));
  ExpectedNodes expected;
  for (auto& [name, of_node] : bounds) expected.emplace(name, of_node.finish());
  return expected;
}

ExpectedNodes evaluate_nodes_within(const GraphCase& c, double tolerance) {
  ExpectedNodes expected;
  for (const auto& [name, value] : values_of_nodes(c))
    expected.emplace(name, within(outcome_alone(value), tolerance));
  return expected;
}

}  // namespace fxjit::checking
