// Files that are written for people to read (FXJIT_DUMP): graphs, IR, assembly.
#pragma once

#include <string>
#include <string_view>

namespace fxjit::support {

// Writes `text` to folder/name and makes the folder. Nothing depends on it:
// what cannot be written is logged, once for the process. Thread-safe.
void write_dump(const std::string& folder, const std::string& name,
                std::string_view text);

}  // namespace fxjit::support
