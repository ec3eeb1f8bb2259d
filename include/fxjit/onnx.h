// ONNX models as modules of this library:
//
//   onnx::Program program = onnx::load("model.onnx");
//   program.module->compile();
//   Value y = program(x);
//
// Files of opset 7 and later are read. Weights stay in the mapped files.
// docs/onnx.md says which ops are supported.
#pragma once

#include <string>

#include "fxjit/imported.h"

namespace fxjit::onnx {

using imported::Input;
using imported::Output;
using imported::Program;
using imported::Size;

// A model's inputs keep their names and order; those that the file gives values
// (initialisers) are constants. One output is the result itself, several are a
// tuple. Dims of one name are equal in all inputs of a call.
//
// UserError naming file, node and field: no such file, no ONNX, damage,
// external data outside of the model's folder. Ops, opsets, domains and types
// that are not supported are all named at once. Nothing large is copied.
// Thread-safe; programs of one file share its mapping.
Program load(const std::string& path);

}  // namespace fxjit::onnx
