// Reads the JSON of a request of the Open Inference Protocol without the
// interpreter's lock. The elements of tensors go straight into arrays; Python
// reads what stands around them. The only user of simdjson.
#pragma once

#include <nanobind/nanobind.h>

namespace fxjit::python {

// Adds split_json, json_index_bytes, fill_numbers and read_texts to the Python
// module. They raise ValueError that says what is wrong with a text.
void register_request_json(nanobind::module_& module);

}  // namespace fxjit::python
