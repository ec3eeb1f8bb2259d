// The exported models in tests/import/models, their inputs and torch's answers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fxjit/pt2.h"

namespace fxjit::testing_import {

std::string model_path(const std::string& name);  // ".../models/name.pt2"
std::string answers_path(const std::string& name);  // ".../models/name.safetensors"
std::vector<std::string> model_names();           // Sorted.

struct ModelCase {
  std::string name;
  pt2::Program program;
  ValueList inputs;                   // One for each input of the program.
  std::map<size_t, Tensor> expected;  // By leaf of the result; tensors only.
};

// Loads the model anew, so that buffers are as in the file.
ModelCase read_case(const std::string& name);

// The leaves of a call with copies of the inputs.
ValueList run(const ModelCase& one);

// What is wrong with the leaves of a result; empty where nothing is.
// `tolerance` is relative to the largest expected number of each tensor.
std::string difference(const ModelCase& one, const ValueList& leaves,
                       double tolerance);

}  // namespace fxjit::testing_import
