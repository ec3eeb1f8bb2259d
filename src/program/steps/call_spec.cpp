#include "src/program/steps/call_spec.h"

#include <algorithm>

#include "src/passes/call_key.h"

namespace fxjit::program {
namespace {

bool equal_entries(const ValueDict& a, const ValueDict& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return equal_specs(x.first, y.first) && equal_specs(x.second, y.second);
      });
}

bool equal_slices(const Value::SliceView& a, const Value::SliceView& b) {
  return equal_specs(a.start, b.start) && equal_specs(a.stop, b.stop) &&
         equal_specs(a.step, b.step);
}

}  // namespace

bool equal_specs(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_tensor())
    return a.as_tensor().is_meta() && b.as_tensor().is_meta() &&
           spec_of(a.as_tensor()) == spec_of(b.as_tensor());
  if (a.is_sequence()) return equal_specs(a.as_sequence(), b.as_sequence());
  if (a.is_dict()) return equal_entries(a.as_dict(), b.as_dict());
  if (a.is_slice()) return equal_slices(a.as_slice(), b.as_slice());
  return passes::identical(a, b);
}

bool equal_specs(const ValueList& a, const ValueList& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const Value& x, const Value& y) { return equal_specs(x, y); });
}

bool operator==(const CallSpec& a, const CallSpec& b) {
  return a.code == b.code && a.op == b.op && equal_specs(a.args, b.args) &&
         equal_specs(a.results, b.results) && a.tail == b.tail;
}

}  // namespace fxjit::program
