#include "src/compile/dump.h"

#include <atomic>
#include <filesystem>
#include <fstream>

#include "fxjit/log.h"

namespace fxjit {
namespace {

// Numbers are per process, so that dumps of several compilations sort by time.
std::atomic<int> next_number{0};

void write(const std::string& folder, std::string_view pass,
           const passes::ModelGraph& model) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  char number[8];
  std::snprintf(number, sizeof number, "%03d", next_number++ % 1000);
  const std::string path =
      folder + "/" + number + "_" + std::string(pass) + ".txt";
  std::ofstream file(path);
  file << model.str() << "\n";
  static std::atomic<bool> reported = false;
  if (!file && !reported.exchange(true))
    log(LogLevel::warning, "cannot write the dump " + path);
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
