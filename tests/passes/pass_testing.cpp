#include "tests/passes/pass_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "src/ops/table/aliasing.h"
#include "src/passes/evaluate.h"
#include "src/tensor/memory_order.h"
#include "tests/ops/storages.h"

namespace fxjit::testing {

using passes::ModelGraph;
using passes::Region;

Tensor random_tensor(const Dims& sizes, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor made = Tensor::empty(sizes);
  float* const values = made.data_as<float>();
  for (int64_t i = 0; i < made.numel(); ++i)
    values[i] = static_cast<float>(random()) / 2147483648.0f - 1;
  return made;
}

Tensor random_index(const Dims& sizes, int64_t bound, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor made = Tensor::empty(sizes, DType::i64);
  auto* const values = made.data_as<int64_t>();
  for (int64_t i = 0; i < made.numel(); ++i)
    values[i] = static_cast<int64_t>(random()) % bound;
  return made;
}

Passed run_passes(nn::Ref<fx::GraphModule> module, ValueList inputs,
                  std::vector<std::string> disabled) {
  passes::PipelineOptions options;
  options.disabled = std::move(disabled);
  return run_passes_with(std::move(options), std::move(module),
                         std::move(inputs));
}

Passed run_passes_with(passes::PipelineOptions options,
                       nn::Ref<fx::GraphModule> module, ValueList inputs) {
  Passed passed;
  options.hooks.observer = [&](std::string_view pass, const ModelGraph&) {
    passed.changed.emplace_back(pass);
  };
  passed.model = passes::run_pipeline(*module, inputs, options);
  passed.module = std::move(module);
  passed.inputs = std::move(inputs);
  return passed;
}

namespace {

std::string_view short_name(const fx::Node& node) {
  std::string_view name = node.called_op()->name();
  if (name.starts_with("fxjit.")) name.remove_prefix(6);
  return name;
}

const char* kind_name(Region::Kind kind) {
  constexpr const char* kNames[] = {"rows",      "columns", "contraction",
                                    "attention", "copies",  "call"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

std::vector<std::string> regions(const ModelGraph& model) {
  std::vector<std::string> texts;
  for (const fx::Node* node : model.graph->nodes()) {
    if (!node->is(fx::Opcode::call_module)) continue;
    const Region& region = model.region(*node);
    std::string text = kind_name(region.kind);
    char separator = ':';
    for (const fx::Node* member : region.graph->nodes()) {
      if (!member->called_op()) continue;
      text += separator;
      if (separator == ':') text += ' ';
      text += short_name(*member);
      separator = '+';
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> calls(const ModelGraph& model) {
  std::vector<std::string> names;
  for (const fx::Node* node : model.graph->nodes())
    if (node->called_op() &&
        node->called_op()->row.lowering != ops::Lowering::view)
      names.emplace_back(short_name(*node));
  return names;
}

namespace {

bool close(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  return std::abs(got - expected) <= 1e-6 + 1e-5 * std::abs(expected);
}

std::string tensor_difference(const Tensor& got, const Tensor& expected) {
  if (got.describe() != expected.describe())
    return "expected " + expected.describe() + ", got " + got.describe();
  if (!same_places(expected.sizes(), expected.strides(), got.strides()))
    return "expected strides " + expected.strides().str() + ", got " +
           got.strides().str();
  const Tensor a = got.to(DType::f64).contiguous();
  const Tensor b = expected.to(DType::f64).contiguous();
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.data_as<double>()[i], y = b.data_as<double>()[i];
    if (close(x, y)) continue;
    std::ostringstream text;
    text << "element " << i << ": expected " << y << ", got " << x;
    return text.str();
  }
  return "";
}

std::string difference(const Value& got, const Value& expected) {
  if (got.kind() != expected.kind())
    return "expected " + std::string(expected.kind_name()) + ", got " +
           std::string(got.kind_name());
  if (got.is_tensor())
    return tensor_difference(got.as_tensor(), expected.as_tensor());
  if (!got.is_sequence()) return same(got, expected) ? "" : "values differ";
  if (got.size() != expected.size()) return "sizes differ";
  for (size_t i = 0; i < got.size(); ++i)
    if (const std::string text = difference(got.at(i), expected.at(i));
        !text.empty())
      return "item " + std::to_string(i) + ": " + text;
  return "";
}

}  // namespace

Value evaluate(const ModelGraph& model, const ValueList& inputs) {
  return passes::evaluate(
      model, inputs,
      [](const fx::Node& node, const ValueList& args, const Value& result) {
        const ops::OpCall call{*node.called_op(), args};
        EXPECT_EQ(memories(result, args),
                  memories(ops::result_memory(call, result)))
            << node.name() << ": " << node.called_op()->name();
      });
}

std::string wrong_result(const Passed& passed) {
  return difference(evaluate(passed.model, passed.inputs),
                    passed.module->interpret(passed.inputs));
}

}  // namespace fxjit::testing
