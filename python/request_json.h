// The JSON of a request of the Open Inference Protocol, read without the
// interpreter's lock. Python reads what stands around the tensors' elements;
// the elements go straight into arrays. The only user of simdjson.
#pragma once

#include <nanobind/nanobind.h>

namespace fxjit::python {

// Gives Python split_json, json_index_bytes, fill_numbers and read_texts.
// ValueError says what is wrong with a text.
void register_request_json(nanobind::module_& module);

}  // namespace fxjit::python
