#include "src/compile/dump.h"

#include <atomic>
#include <cstdio>

#include "src/support/disk/dump_file.h"

namespace fxjit {
namespace {

// Numbers are per process, so that dumps of several compilations sort by time.
std::atomic<int> next_number{0};

void write(const std::string& folder, std::string_view pass,
           const passes::ModelGraph& model) {
  char number[8];
  std::snprintf(number, sizeof number, "%03d", next_number++ % 1000);
  support::write_dump(folder, number + ("_" + std::string(pass)) + ".txt",
                      model.str() + "\n");
}

}  // namespace

std::function<void(std::string_view, const passes::ModelGraph&)> graph_dumper(
    const std::string& folder) {
  if (folder.empty()) return nullptr;
  return [folder](std::string_view pass, const passes::ModelGraph& model) {
    write(folder, pass, model);
  };
}

}  // namespace fxjit
