// What the op table needs to know of a proxy: that calls on it are recorded.
// The tracing side (fx::Proxy) implements it, so that lower layers do not name
// higher ones.
#pragma once

#include <string>
#include <string_view>

#include "fxjit/value.h"

namespace fxjit::ops {
struct Spelling;
}

namespace fxjit::fx {

class ProxyBase : public Counted {
 public:
  // Identity of the tracer that records; calls that mix tracers are refused by
  // the dispatcher with torch.fx's "Found multiple different tracers".
  virtual const void* tracer_id() const = 0;

  virtual Value record_function(const ops::Spelling& function, ValueList args,
                                Kwargs kwargs, SourceLocation source) = 0;
  virtual Value record_method(std::string_view method, ValueList args,
                              Kwargs kwargs, SourceLocation source) = 0;
  // Python's bool(): TraceError unless the tracer allows it.
  virtual bool to_bool(SourceLocation source) = 0;
  // The inferred result (a meta tensor or a container of them) where the proxy
  // knows it, as it does while the compiler rewrites a graph; none otherwise.
  // OpCall::tensor of such a proxy gives this, so decompositions may ask
  // shapes.
  virtual Value val() const { return {}; }
  virtual std::string describe() const = 0;  // "Proxy(add)"
};

}  // namespace fxjit::fx
