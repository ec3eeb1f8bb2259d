// The FXJIT_* variables, read once per process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fxjit/compile.h"

namespace fxjit {

struct Environment {
  bool interpreter_only = false;      // FXJIT_BACKEND=interpreter
  bool plain_windows = false;         // FXJIT_INTERPRETER=plain
  std::string dump_folder;            // FXJIT_DUMP
  std::vector<std::string> disabled;  // FXJIT_DISABLE=pass,pass
};

// Also sets the log level from FXJIT_DEBUG (0 warnings .. 2 debug). Unknown
// values are reported by a warning and ignored.
const Environment& environment();

// Where a module with these options writes dumps; empty: nowhere.
const std::string& dump_folder(const CompileOptions& options);

// Those that may be left out, for messages: "fuse, fuse_attention, ...".
std::string pass_names();

}  // namespace fxjit
