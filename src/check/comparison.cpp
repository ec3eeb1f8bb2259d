// What evaluation.h says of two outcomes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <unordered_map>

#include "src/check/evaluation.h"
#include "src/check/numbers.h"
#include "src/tensor/memory_order.h"

namespace fxjit::checking {

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

bool is_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// "[1, 0, 2]": where the element stands in a tensor of these sizes.
std::string place_of(size_t element, const Tensor& t) {
  std::vector<std::string> at;
  auto left = static_cast<int64_t>(element);
  if (is_complex(t.dtype())) left /= 2;
  for (int d = t.dim(); d-- > 0;) {
    at.insert(at.begin(), std::to_string(left % t.sizes()[d]));
    left /= t.sizes()[d];
  }
  std::string text;
  for (const std::string& one : at) text += (text.empty() ? "" : ", ") + one;
  return "[" + text + "]";
}

// By how many times its bound an element is off: more than 1 is wrong.
double excess(double got, double exact, double allowed) {
  if (is_number(got, exact) || std::isinf(allowed)) return 0;
  if (!std::isfinite(got) || !std::isfinite(exact) || allowed == 0)
    return std::numeric_limits<double>::infinity();
  return std::abs(got - exact) / allowed;
}

std::string number_difference(const Tensor& got, const Tensor& interpreted,
                              const Expected::Numbers& expected) {
  const auto a = numbers(got), b = numbers(interpreted);
  size_t beyond = 0, worst = 0;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double by = excess(a[i], expected.exact[i], expected.allowed[i]);
    if (by > 1) ++beyond;
    if (by > std::max(1.0, most)) most = by, worst = i;
  }
  if (beyond == 0) return "";
  char text[240];
  std::snprintf(text, sizeof text,
                ": expected %.9g, in double precision %.9g, got %.9g, may be "
                "off by %.3g; %zu of %zu numbers are wrong",
                b[worst], expected.exact[worst], a[worst],
                expected.allowed[worst], beyond, a.size());
  return "element " + place_of(worst, got) + text;
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

namespace {

bool is_empty(const Tensor& t) { return !t.defined(); }

// Of one tensor: type and sizes, then numbers.
std::string tensor_difference(const Tensor& got, const Tensor& known,
                              const Expected::Numbers& expected) {
  if (got.describe() != known.describe())
    return "expected " + known.describe() + ", got " + got.describe();
  return number_difference(got, known, expected);
}

}  // namespace

std::string difference(const Outcome& got, const Expected& expected) {
  const Outcome& known = expected.interpreted;
  if (got.structure != known.structure)
    return "expected " + known.structure + ", got " + got.structure;
  for (size_t i = 0; i < known.tensors.size(); ++i) {
    const Tensor &a = got.tensors[i], &b = known.tensors[i];
    std::string text = tensor_difference(a, b, expected.numbers[i]);
    if (text.empty() && !same_places(a.sizes(), a.strides(), b.strides()))
      text = "expected strides " + b.strides().str() + ", got " +
             a.strides().str();
    if (!text.empty()) return known.name(i) + ": " + text;
  }
  return sharing_difference(got, known);
}

std::string result_difference(const Outcome& got, const Expected& expected) {
  const Outcome& known = expected.interpreted;
  if (got.results != known.results)
    return "expected " + known.structure + ", got " + got.structure;
  for (size_t i = 0; i < known.results; ++i) {
    if (is_empty(known.tensors[i])) continue;
    const std::string text = tensor_difference(got.tensors[i], known.tensors[i],
                                               expected.numbers[i]);
    if (!text.empty())
      return known.results == 1 ? text : known.name(i) + ": " + text;
  }
  return "";
}

Expected expected_of(const std::vector<Tensor>& given, const Expected& own) {
  Expected expected{own.interpreted, own.numbers};
  expected.interpreted.tensors.resize(own.interpreted.results);
  for (size_t i = 0; i < own.interpreted.results; ++i) {
    Tensor& known = expected.interpreted.tensors[i];
    if (i >= given.size() || is_empty(given[i]) ||
        given[i].sizes() != known.sizes()) {
      known = {};
      continue;
    }
    known = given[i].to(known.dtype());
    expected.numbers[i].exact = numbers(known);
    for (double& allowed : expected.numbers[i].allowed) allowed *= 2;
  }
  return expected;
}

}  // namespace fxjit::checking
