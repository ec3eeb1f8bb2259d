// What becomes of calls that take sizes with names (fxjit/size.h) and no
// tensor, such as the zeros that padding adds, while another call is taken
// apart.
#pragma once

#include <span>

#include "fxjit/proxy_base.h"
#include "fxjit/value.h"

namespace fxjit::ops {

// Until the end of the scope, on this thread: the tracer of that call's proxies
// records them; where the call is one of meta tensors, so are their results.
// Elsewhere they run, which is for the present sizes alone.
class SizedCalls {
 public:
  // `args` are those of the call that is taken apart, and outlive the scope.
  explicit SizedCalls(std::span<const Value> args);
  ~SizedCalls();
  SizedCalls(const SizedCalls&) = delete;
  SizedCalls& operator=(const SizedCalls&) = delete;

  // For a call with these arguments, none of them a proxy.
  static fx::ProxyBase* tracer_of(std::span<const Value> args);
  static bool are_inferred(std::span<const Value> args);

 private:
  struct Way {
    fx::ProxyBase* tracer = nullptr;
    bool inferred = false;
  };
  static thread_local Way way_;

  const Way before_;
};

}  // namespace fxjit::ops
