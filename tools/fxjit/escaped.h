// Text of models in documents.
#pragma once

#include <string>

namespace fxjit::command {

// As text of HTML and SVG, also within double quotes; control characters become
// blanks.
std::string escaped(const std::string& text);

}  // namespace fxjit::command
