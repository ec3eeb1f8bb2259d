// Inputs and results of backend cases: files of one tensor, sequence or
// optional, read by the importer's own decoder.
#pragma once

#include <string>
#include <vector>

#include "fxjit/value.h"
#include "src/import/onnx/model.h"

namespace fxjit::testing_onnx {

// A value of this type, which the file itself does not tell. None for an
// optional that holds nothing.
Value read_stored_value(const std::string& path, const onnx::TypeInfo& type);

// The places of a tensor of strings in the list, -1 of those that are not there.
Tensor read_stored_places(const std::string& path,
                          const std::vector<std::string>& texts);

// Real and imaginary parts as a last dim.
Tensor parts_of(const Tensor& complex);

}  // namespace fxjit::testing_onnx
