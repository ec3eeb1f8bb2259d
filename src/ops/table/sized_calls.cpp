#include "src/ops/table/sized_calls.h"

#include <algorithm>

#include "src/tensor/sizes/named.h"

namespace fxjit::ops {
namespace {

bool have_name(std::span<const Value> args) {
  return std::ranges::any_of(args,
                             [](const Value& arg) { return has_name(arg); });
}

}  // namespace

thread_local SizedCalls::Way SizedCalls::way_;

SizedCalls::SizedCalls(std::span<const Value> args) : before_(way_) {
  Way found;
  bool any = false;
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (leaf.is_proxy() && !found.tracer) found.tracer = leaf.as_proxy();
      if (leaf.is_tensor()) found.inferred |= leaf.as_tensor().is_meta();
      any |= leaf.is_proxy() || leaf.is_tensor();
    });
  if (any) way_ = found;
}

SizedCalls::~SizedCalls() { way_ = before_; }

fx::ProxyBase* SizedCalls::tracer_of(std::span<const Value> args) {
  return way_.tracer && have_name(args) ? way_.tracer : nullptr;
}

bool SizedCalls::are_inferred(std::span<const Value> args) {
  return way_.inferred && !way_.tracer && have_name(args);
}

}  // namespace fxjit::ops
