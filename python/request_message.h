// Reads the gRPC message of a request of the Open Inference Protocol
// (ModelInferRequest) without the interpreter's lock. The elements of tensors
// go straight into arrays; protobuf reads what stands around them.
#pragma once

#include <nanobind/nanobind.h>

namespace fxjit::python {

// Adds split_message, fill_contents and read_byte_contents to the Python
// module. They raise ValueError that says what is wrong with a message.
void register_request_message(nanobind::module_& module);

}  // namespace fxjit::python
