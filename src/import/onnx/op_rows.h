// The table of ONNX ops: how a node becomes calls of torch's functions. A row
// is one version of an op; one file for each family of ops in ops/.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "src/import/onnx/call.h"

namespace fxjit::onnx {

struct OpRow {
  std::string_view op;
  // The first opset with this behaviour; it holds up to the next row of the op.
  int64_t since = 1;
  Results (*run)(Call& call) = nullptr;
  // In place of `run`: the torch function that takes the inputs as they are.
  std::string_view function = {};
  std::string_view domain = {};  // "ai.onnx" is empty.
};

// The row for an op of this version of its domain; null when absent.
const OpRow* find_row(std::string_view domain, std::string_view op,
                      int64_t opset);
// Whether any version is there.
bool has_rows(std::string_view domain, std::string_view op);

// Records what the row says.
Results run_row(const OpRow& row, Call& call);

// "ai.onnx" and "" are one domain.
std::string_view plain_domain(std::string_view domain);

}  // namespace fxjit::onnx
