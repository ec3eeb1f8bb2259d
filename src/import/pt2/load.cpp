#include "fxjit/error.h"
#include "fxjit/pt2.h"
#include "src/import/pt2/program_reader.h"

namespace fxjit::pt2 {

Program load(const std::string& path, const LoadOptions& options) {
  try {
    return import::ProgramReader(path, options).run();
  } catch (Error& error) {
    // Errors of the graph and of the modules know no file.
    if (error.message().find(path) == std::string::npos)
      error.extend("\n  in file " + path, {});
    throw;
  }
}

}  // namespace fxjit::pt2
