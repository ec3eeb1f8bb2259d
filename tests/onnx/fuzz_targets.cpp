#include "tests/onnx/fuzz_targets.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fxjit/error.h"
#include "fxjit/onnx.h"
#include "src/import/onnx/model.h"
#include "tests/onnx/model_writer.h"

namespace fxjit::testing_onnx {
namespace {

namespace fs = std::filesystem;

// One folder for the process, removed at its end.
struct ScratchFolder {
  fs::path path = fs::temp_directory_path() /
                  ("fxjit_onnx_fuzz_" + std::to_string(getpid()));
  ScratchFolder() { fs::create_directories(path); }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

std::string written(const char* name, std::string_view bytes) {
  static const ScratchFolder folder;
  const fs::path path = folder.path / name;
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path.string();
}

void read_all(const onnx::GraphInfo& graph, int depth) {
  if (depth > onnx::kMaxDepth) return;
  for (const onnx::Bytes& bytes : graph.nodes)
    for (const onnx::AttributeInfo& attribute :
         onnx::read_node_info(bytes).attributes) {
      if (attribute.tensor) onnx::read_tensor_info(*attribute.tensor);
      if (attribute.graph)
        read_all(onnx::read_graph(*attribute.graph), depth + 1);
    }
  for (const onnx::Bytes& bytes : graph.initializers)
    onnx::read_tensor_info(bytes);
  for (const auto* infos : {&graph.inputs, &graph.outputs, &graph.values})
    for (const onnx::Bytes& bytes : *infos) onnx::read_value_info(bytes);
}

void decode(std::string_view text) {
  const onnx::Bytes bytes(reinterpret_cast<const std::byte*>(text.data()),
                          text.size());
  const onnx::ModelInfo model = onnx::read_model(bytes);
  for (const onnx::Bytes& function : model.functions)
    onnx::read_function(function);
  if (model.graph) read_all(onnx::read_graph(*model.graph), 0);
}

// A weight whose file, place and length the bytes say:
// "location\0offset\0length".
void read_external(std::string_view text) {
  Message weight;
  weight.number(1, 3).number(2, 1).text(8, "w").number(14, 1);
  for (const char* const key : {"location", "offset", "length"}) {
    const size_t end = std::min(text.find('\0'), text.size());
    weight.add(13, Message().text(1, key).text(2, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  written("data.bin", std::string(64, 'x'));
  onnx::load(
      written("external.onnx",
              model_of({node("Add", {"x", "w"}, {"y"})}, {weight}).bytes()));
}

}  // namespace

void run_fuzz_target(FuzzTarget target, std::string_view bytes) {
  try {
    switch (target) {
      case FuzzTarget::decoder:
        return decode(bytes);
      case FuzzTarget::importer:
        static_cast<void>(onnx::load(written("model.onnx", bytes)));
        return;
      case FuzzTarget::external:
        return read_external(bytes);
    }
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    // Damaged, and said so.
  }
}

}  // namespace fxjit::testing_onnx

// The first byte chooses the target.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fxjit::testing_onnx::FuzzTarget;
  if (size == 0) return 0;
  fxjit::testing_onnx::run_fuzz_target(
      static_cast<FuzzTarget>(data[0] % 3),
      {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
