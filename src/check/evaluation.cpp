#include "tests/compile/graph_evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <unordered_map>

#include "src/tensor/memory_order.h"
#include "tests/compile/wide_interpreter.h"

namespace fxjit::testing {
namespace {

// Disturbed runs for a bound: their greatest deviation is taken.
constexpr uint32_t kRuns = 3;
// Times that deviation, and that of the tensor's mean: three runs may miss the
// worst case of an element, rarely that of all.
constexpr double kOfElement = 6, kOfMean = 2;

std::string structure(const Value& value) {
  if (value.is_tensor()) return "Tensor";
  if (!value.is_sequence()) return repr(value);
  std::string text = value.is_list() ? "[" : "(";
  for (const Value& item : value.as_sequence()) text += structure(item) + ", ";
  return text + (value.is_list() ? "]" : ")");
}

std::vector<double> numbers(const Tensor& t) {
  const Tensor wide = t.to(DType::f64).contiguous();
  const double* first = wide.data_as<double>();
  return {first, first + wide.numel()};
}

Outcome run_wide(const GraphCase& c, const NarrowFacts& facts, uint32_t seed) {
  const GraphRun run = c.run(true);
  WideInterpreter interpreter(*run.module, facts, seed);
  return outcome_of(interpreter.run(run.inputs), run);
}

// How far `rough` is off, element by element; greater values stay.
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

// From deviations to bounds. An integer that a disturbed run gives otherwise
// cannot be told. What no run changes was not computed; but numbers of few bits
// may come out the same by chance, and those that double precision is itself.
void make_bounds(DType type, Expected::Numbers* of) {
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
    for (const Value& value : *list)
      outcome.tensors.push_back(value.as_tensor());
  return outcome;
}

Expected evaluate(const GraphCase& c) {
  Expected expected;
  const GraphRun run = c.run();
  RecordingInterpreter narrow(*run.module);
  expected.interpreted = outcome_of(narrow.run(run.inputs), run);
  for (const Tensor& t : run_wide(c, narrow.facts, 0).tensors) {
    expected.numbers.push_back({numbers(t), {}});
    expected.numbers.back().allowed.resize(
        expected.numbers.back().exact.size());
  }
  for (uint32_t seed = 1; seed <= kRuns; ++seed) {
    const Outcome rough = run_wide(c, narrow.facts, seed);
    for (size_t i = 0; i < rough.tensors.size(); ++i)
      add_deviation(rough.tensors[i], &expected.numbers[i]);
  }
  for (size_t i = 0; i < expected.numbers.size(); ++i)
    make_bounds(expected.interpreted.tensors[i].dtype(),
                &expected.numbers[i]);
  return expected;
}

// --- Comparing. ---

std::vector<uint32_t> places(const std::vector<Tensor>& tensors) {
  std::unordered_map<const std::byte*, uint32_t> numbered;
  std::vector<uint32_t> result;
  for (const Tensor& t : tensors) {
    std::vector<int64_t> at(static_cast<size_t>(t.dim()));
    for (int64_t left = t.numel(); left > 0; --left) {
      int64_t offset = 0;
      for (int d = 0; d < t.dim(); ++d)
        offset += at[static_cast<size_t>(d)] * t.strides()[d];
      const auto* place = t.data_as<std::byte>() +
                          offset * static_cast<int64_t>(t.item_size());
      const auto next = static_cast<uint32_t>(numbered.size());
      result.push_back(numbered.emplace(place, next).first->second);
      for (int d = t.dim(); d-- > 0;) {
        int64_t& index = at[static_cast<size_t>(d)];
        if (++index < t.sizes()[d]) break;
        index = 0;
      }
    }
  }
  return result;
}

namespace {

std::string number_difference(const Tensor& got, const Tensor& interpreted,
                              const Expected::Numbers& expected) {
  const auto a = numbers(got), b = numbers(interpreted);
  for (size_t i = 0; i < a.size(); ++i) {
    const double exact = expected.exact[i], allowed = expected.allowed[i];
    if (a[i] == exact || (std::isnan(a[i]) && std::isnan(exact))) continue;
    if (std::isinf(allowed) || std::abs(a[i] - exact) <= allowed) continue;
    char text[200];
    std::snprintf(text, sizeof text,
                  "element %zu: interpreter %.9g, double precision %.9g, "
                  "got %.9g, allowed %.3g off",
                  i, b[i], exact, a[i], allowed);
    return text;
  }
  return "";
}

bool any_shared(const std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (tensors[i].storage() == tensors[j].storage()) return true;
  return false;
}

std::string sharing_difference(const Outcome& got, const Outcome& expected) {
  if (!any_shared(got.tensors) && !any_shared(expected.tensors)) return "";
  const std::vector<uint32_t> a = places(got.tensors),
                              b = places(expected.tensors);
  size_t at = 0;
  for (size_t t = 0; t < got.tensors.size(); ++t)
    for (int64_t i = 0; i < got.tensors[t].numel(); ++i, ++at)
      if (a[at] != b[at])
        return expected.name(t) + ": element " + std::to_string(i) +
               " does not share memory with what the interpreter's does";
  return "";
}

}  // namespace

std::string difference(const Outcome& got, const Expected& expected) {
  const Outcome& known = expected.interpreted;
  if (got.structure != known.structure)
    return "expected " + known.structure + ", got " + got.structure;
  for (size_t i = 0; i < known.tensors.size(); ++i) {
    const Tensor &a = got.tensors[i], &b = known.tensors[i];
    std::string text;
    if (a.describe() != b.describe())
      text = "expected " + b.describe() + ", got " + a.describe();
    else
      text = number_difference(a, b, expected.numbers[i]);
    if (text.empty() && !same_places(a.sizes(), a.strides(), b.strides()))
      text = "expected strides " + b.strides().str() + ", got " +
             a.strides().str();
    if (!text.empty()) return known.name(i) + ": " + text;
  }
  return sharing_difference(got, known);
}

}  // namespace fxjit::testing
