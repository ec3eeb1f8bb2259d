#include "tests/onnx/backend_cases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fxjit/compile.h"
#include "fxjit/onnx.h"
#include "src/import/onnx/tensors.h"
#include "tests/onnx/stored_values.h"

namespace fxjit::testing_onnx {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(FXJIT_BINARY_DIR) / "../deps/onnx_cases";

struct Bound {
  double relative, absolute;
};

// The package's own are 1e-3 and 1e-7 for all types.
Bound bound_of(DType dtype) {
  switch (part_type(dtype)) {
    case DType::f32:
    case DType::f64:
      return {1e-3, 2e-6};
    case DType::f16:
      return {2e-3, 1e-3};
    case DType::bf16:
      return {1e-2, 1e-2};
    default:
      return {0, 0};
  }
}

std::string difference(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype() || got.sizes() != expected.sizes())
    return "expected " + expected.describe() + ", got " + got.describe();
  const Bound bound = bound_of(expected.dtype());
  const Tensor a = got.to(DType::f64).contiguous();
  const Tensor b = expected.to(DType::f64).contiguous();
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.data_as<double>()[i], y = b.data_as<double>()[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (std::abs(x - y) <= bound.absolute + bound.relative * std::abs(y))
      continue;
    return "element " + std::to_string(i) + ": expected " + std::to_string(y) +
           ", got " + std::to_string(x);
  }
  return "";
}

std::string difference(const Value& got, const Value& expected) {
  if (expected.is_none())
    return got.is_none() ? "" : "expected nothing";
  if (expected.is_tensor()) {
    if (!got.is_tensor()) return "expected a tensor, got " + repr(got);
    if (is_complex(expected.as_tensor().dtype()))
      return difference(parts_of(got.as_tensor()),
                        parts_of(expected.as_tensor()));
    return difference(got.as_tensor(), expected.as_tensor());
  }
  if (!got.is_sequence() || got.size() != expected.size())
    return "expected a list of " + std::to_string(expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (const auto wrong = difference(got.at(i), expected.at(i));
        !wrong.empty())
      return wrong;
  return "";
}

// Values of the graph's inputs or outputs. Data of those without a name are
// left out of the files.
ValueList read_values(const fs::path& folder, const std::string& kind,
                      const std::vector<onnx::Bytes>& infos) {
  ValueList values;
  for (size_t i = 0; i < infos.size(); ++i) {
    const fs::path file = folder / (kind + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(file)) break;
    values.push_back(read_stored_value(file.string(),
                                       onnx::read_value_info(infos[i]).type));
  }
  return values;
}

std::string run_data_set(const onnx::Program& program,
                         const onnx::GraphInfo& graph,
                         const fs::path& folder) {
  ValueList inputs;
  if (std::ranges::any_of(program.inputs, [](const onnx::Input& input) {
        return !input.texts.empty();
      }))
    for (size_t i = 0; i < program.inputs.size(); ++i)
      inputs.push_back(read_stored_places(
          (folder / ("input_" + std::to_string(i) + ".pb")).string(),
          program.inputs[i].texts));
  else
    inputs = read_values(folder, "input", graph.inputs);
  const ValueList expected = read_values(folder, "output", graph.outputs);
  const Value result = program.run(inputs);
  const ValueList results = program.outputs.size() == 1
                                ? ValueList{result}
                                : result.as_sequence();
  for (size_t i = 0; i < expected.size(); ++i)
    if (const auto wrong = difference(results.at(i), expected[i]);
        !wrong.empty())
      return "output " + std::to_string(i) + ": " + wrong;
  return "";
}

// Without data of its own: one float input that counts up to 1.
std::string run_light(const onnx::Program& program,
                      const onnx::GraphInfo& graph, const BackendCase& one) {
  Dims sizes;
  for (const onnx::Size& size : program.inputs.at(0).sizes)
    sizes.push_back(size.fixed.value_or(1));
  const Tensor input = Tensor::empty(sizes);
  const auto count = static_cast<double>(input.numel());
  for (int64_t i = 0; i < input.numel(); ++i)
    input.data_as<float>()[i] =
        static_cast<float>(static_cast<double>(i) / count);
  const Value expected = read_stored_value(
      one.folder + "/" + one.name + "_output_0.pb",
      onnx::read_value_info(graph.outputs.at(0)).type);
  return difference(program(input), expected);
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find("\n  in "));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

std::vector<BackendCase> backend_cases() {
  std::vector<BackendCase> cases;
  std::error_code error;
  for (const auto& group : fs::directory_iterator(kData, error)) {
    if (!group.is_directory()) continue;
    const std::string name = group.path().filename().string();
    for (const auto& one : fs::directory_iterator(group.path())) {
      const fs::path path = one.path();
      if (fs::exists(path / "model.onnx"))
        cases.push_back({name, path.filename().string(), path.string(),
                         (path / "model.onnx").string()});
      if (path.extension() == ".onnx")
        cases.push_back({name, path.stem().string(),
                         group.path().string(), path.string()});
    }
  }
  std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) {
    return a.key() < b.key();
  });
  return cases;
}

std::string run_case(const BackendCase& one, Way way) {
  try {
    const onnx::Program program = onnx::load(one.model);
    const onnx::TensorFile file(one.model);
    const onnx::GraphInfo graph =
        onnx::read_graph(*onnx::read_model(file.bytes()).graph);
    if (way == Way::compiled) program.module->compile();
    if (one.group == "light") return run_light(program, graph, one);
    for (size_t set = 0;; ++set) {
      const fs::path folder =
          fs::path(one.folder) / ("test_data_set_" + std::to_string(set));
      if (!fs::exists(folder)) return "";
      const std::string wrong = run_data_set(program, graph, folder);
      if (!wrong.empty()) return wrong;
    }
  } catch (const Error& error) {
    std::string text = error.message();
    // The file's path is this machine's.
    for (size_t at = text.find(one.folder); at != text.npos;
         at = text.find(one.folder))
      text.erase(at, one.folder.size() + 1);
    return first_line(text);
  }
}

}  // namespace fxjit::testing_onnx
