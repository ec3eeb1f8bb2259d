#include "tests/import/model_cases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fxjit/fx/pytree.h"
#include "fxjit/safetensors.h"

namespace fxjit::testing_import {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(FXJIT_SOURCE_DIR) / "tests/import/models";

std::string difference(const Tensor& got, const Tensor& expected,
                       double tolerance) {
  if (got.sizes() != expected.sizes())
    return "expected sizes " + expected.sizes().str() + ", got " +
           got.sizes().str();
  const Tensor a = got.to(DType::f64).contiguous();
  const Tensor b = expected.to(DType::f64).contiguous();
  double largest = 0, error = 0;
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.data_as<double>()[i], y = b.data_as<double>()[i];
    if (std::isnan(x) != std::isnan(y)) return "a NaN in one of both";
    if (std::isnan(x) || x == y) continue;
    largest = std::max(largest, std::abs(y));
    error = std::max(error, std::abs(x - y));
  }
  if (error <= tolerance * std::max(largest, 1e-6)) return "";
  return "off by " + std::to_string(error) + " of " + std::to_string(largest);
}

}  // namespace

std::string model_path(const std::string& name) {
  return (kModels / (name + ".pt2")).string();
}

std::string answers_path(const std::string& name) {
  return (kModels / (name + ".safetensors")).string();
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kModels))
    if (entry.path().extension() == ".pt2")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

ModelCase read_case(const std::string& name) {
  constexpr std::string_view kOutput = "output.";
  ModelCase one{name, pt2::load(model_path(name)), {}, {}};
  std::map<std::string, Tensor> tensors;
  for (auto& [key, tensor] :
       load_safetensors(answers_path(name))) {
    if (key.starts_with(kOutput))
      one.expected.emplace(std::stoul(key.substr(kOutput.size())), tensor);
    else
      tensors.emplace(key, tensor);
  }
  for (const pt2::Input& input : one.program.inputs)
    one.inputs.push_back(input.kind == pt2::Input::Kind::constant
                             ? input.constant
                             : Value(tensors.at(input.name)));
  return one;
}

ValueList run(const ModelCase& one) {
  ValueList inputs;
  for (const Value& input : one.inputs)
    inputs.push_back(input.is_tensor() ? Value(input.as_tensor().clone())
                                       : input);
  const auto [args, kwargs] = one.program.arguments_of(inputs);
  return fx::tree_leaves(one.program.run(args, kwargs));
}

std::string difference(const ModelCase& one, const ValueList& leaves,
                       double tolerance) {
  for (const auto& [place, expected] : one.expected) {
    if (place >= leaves.size() || !leaves[place].is_tensor())
      return "leaf " + std::to_string(place) + " is no tensor";
    const std::string wrong =
        difference(leaves[place].as_tensor(), expected, tolerance);
    if (!wrong.empty()) return "leaf " + std::to_string(place) + ": " + wrong;
  }
  return "";
}

}  // namespace fxjit::testing_import
