// Reads the small text files of /proc and /sys. Not for user files: those go
// through MappedFile, with typed errors.
#pragma once

#include <string>

namespace fxjit::support {

// The whole text; empty when the file cannot be read.
std::string read_text_file(const std::string& path);

}  // namespace fxjit::support
