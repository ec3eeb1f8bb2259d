// A proxy that writes down what the dispatcher asks it to record: stands in for
// fx::Proxy in tests of the op table.
#pragma once

#include <string>
#include <vector>

#include "fxjit/op.h"
#include "fxjit/proxy_base.h"

namespace fxjit::testing {

struct RecordedCall {
  std::string text;  // "call_function torch.add (x, 2) {'alpha': 3}"
  SourceLocation source;
};

// Collects the calls of its proxies; must outlive them.
struct Recorder {
  std::vector<RecordedCall> calls;
  Value proxy(const std::string& name);
};

}  // namespace fxjit::testing
