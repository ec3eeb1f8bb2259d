// Malformed ONNX files, one for each way to be wrong.
#pragma once

#include <string>
#include <vector>

#include "tests/onnx/model_writer.h"

namespace fxjit::testing_onnx {

struct Damaged {
  const char* name;
  std::string bytes;
  std::vector<const char*> says;  // Parts of the error.
};

std::vector<Damaged> damaged_files();

// x: float[2, 3], to which `constant`, named c, is added.
Message adding(const Message& constant);
// A tensor named c with three floats in another file. Empty texts are left out.
Message external(const std::string& location, const std::string& offset = "",
                 const std::string& length = "");

}  // namespace fxjit::testing_onnx
