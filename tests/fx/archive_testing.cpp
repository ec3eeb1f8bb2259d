#include "tests/fx/archive_testing.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace fxjit::fx::testing_archive {

namespace fs = std::filesystem;

fs::path folder() {
  struct Folder {
    Folder()
        : path(fs::temp_directory_path() /
               ("fxjit-archive-" + std::to_string(getpid()))) {
      fs::create_directories(path);
    }
    ~Folder() { fs::remove_all(path); }
    const fs::path path;
  };
  static const Folder made;
  return made.path;
}

nn::Ref<GraphModule> round_trip(const GraphModule& module) {
  const std::string path = folder() / "round_trip.safetensors";
  save(module, path);
  auto loaded = load(path);
  const std::string again = folder() / "round_trip_again.safetensors";
  save(*loaded, again);
  EXPECT_TRUE(read_bytes(path) == read_bytes(again))
      << "written again it is another file";
  return loaded;
}

std::string all_text(const GraphModule& module) {
  std::string all;
  for (const auto& [name, child] : module.named_modules()) {
    all += name + ": " + child->repr() + (child->training() ? " training" : "");
    if (const auto* graph = dynamic_cast<const GraphModule*>(child))
      all += "\n" + text(graph->graph(), {.meta = true}) +
             graph->graph().str() + graph->code();
    all += "\n";
  }
  for (const auto& [name, parameter] : module.named_parameters())
    all += name + (parameter.slot()->requires_grad ? " grad " : " ") +
           parameter.tensor().describe() + "\n";
  for (const auto& [name, buffer] : module.named_buffers())
    all += name + (buffer.slot()->persistent ? " kept " : " ") +
           buffer.tensor().describe() + "\n";
  return all;
}

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace fxjit::fx::testing_archive
