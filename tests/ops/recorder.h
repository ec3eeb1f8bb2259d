// A proxy that writes down what the dispatcher asks it to record: stands in for
// fx::Proxy in tests of the op table.
#pragma once

#include <span>
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

// A Python expression of x and y, and the same in C++.
struct Expression {
  const char* python;
  Value (*run)(const Value& x, const Value& y);
};

// The expressions record what the lines of `file_name` in tests/ops say, in
// that order: "expression -> call"; the calls name `source` as their file.
void expect_recorded(const std::string& file_name,
                     std::span<const Expression> expressions,
                     const std::string& source);

}  // namespace fxjit::testing
