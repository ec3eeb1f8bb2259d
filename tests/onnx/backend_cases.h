// The cases of the onnx package's backend tests: models of one op or a few,
// with inputs and the results that the standard asks for. scripts/setup puts
// them below build/deps.
#pragma once

#include <string>
#include <vector>

#include "fxjit/value.h"

namespace fxjit::testing_onnx {

struct BackendCase {
  std::string group, name;  // "node", "test_abs"
  std::string folder, model;

  std::string key() const { return group + "/" + name; }
};

// Sorted. Empty where the cases are not there.
std::vector<BackendCase> backend_cases();

enum class Way { interpreted, compiled };

// What is wrong; empty where all results are those of the case. The first line
// of an error's text where the model cannot be loaded or run.
std::string run_case(const BackendCase& one, Way way);

}  // namespace fxjit::testing_onnx
