// Where a node comes from, as the exporter wrote it into the node's metadata.
#pragma once

#include <string_view>

#include "fxjit/error.h"
#include "fxjit/fx/meta.h"

namespace fxjit::import {

// The innermost line outside torch's own code, or the innermost of all. The
// text is a Python traceback; not known where it has no line.
SourceLocation innermost_source(std::string_view trace);

// "key,path,type;key,path,type": modules, the outermost first.
fx::ModuleStack read_module_stack(std::string_view text);

}  // namespace fxjit::import
