// The gRPC message of a request of the Open Inference Protocol
// (ModelInferRequest), read without the interpreter's lock: the tensors'
// elements go straight into arrays, and what stands around them is left to
// protobuf.
#pragma once

#include <nanobind/nanobind.h>

namespace fxjit::python {

// Gives Python split_message, fill_contents and read_byte_contents. ValueError
// says what is wrong with a message.
void register_request_message(nanobind::module_& module);

}  // namespace fxjit::python
