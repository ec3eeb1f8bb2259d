#include "src/import/onnx/texts.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>

#include "src/import/onnx/ops/estimators.h"
#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

// Ops whose results are elements of their first input, in some order.
constexpr std::string_view kMoving[] = {"ArrayFeatureExtractor",
                                        "Expand",
                                        "Flatten",
                                        "Gather",
                                        "Identity",
                                        "Reshape",
                                        "Slice",
                                        "Squeeze",
                                        "Tile",
                                        "Transpose",
                                        "Unsqueeze"};

// Ops whose rows read texts.
constexpr std::string_view kReading[] = {"LabelEncoder", "OneHotEncoder"};
// Attributes and initialisers with which strings of inputs are compared.
constexpr std::string_view kCompared[] = {"cats_strings", "keys_strings",
                                          "keys_tensor"};

bool has(std::span<const std::string_view> list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

void collect_compared(const GraphInfo& graph, std::vector<std::string>& texts) {
  for (const Bytes& bytes : graph.nodes)
    for (const AttributeInfo& attribute : read_node_info(bytes).attributes) {
      if (has(kCompared, attribute.name)) {
        texts.insert(texts.end(), attribute.texts.begin(),
                     attribute.texts.end());
        if (!attribute.tensor) continue;
        const auto& strings = read_tensor_info(*attribute.tensor).strings;
        texts.insert(texts.end(), strings.begin(), strings.end());
      }
      if (attribute.graph)
        collect_compared(read_graph(*attribute.graph), texts);
    }
}

bool holds_texts(const Operand& operand) {
  return operand.texts != nullptr || operand.columns != nullptr;
}

}  // namespace

Operand text_tensor(const Value& places, std::vector<std::string> texts) {
  Operand made(places);
  made.texts =
      std::make_shared<const std::vector<std::string>>(std::move(texts));
  return made;
}

Operand text_tensor(Recorder& recorder, const TensorInfo& info) {
  Dims sizes;
  for (const int64_t size : info.dims) {
    if (size < 0 || sizes.size() == kMaxRank) fail(info, "dims");
    sizes.push_back(size);
  }
  const auto count = static_cast<int64_t>(info.strings.size());
  int64_t expected = 1;
  for (const int64_t size : sizes)
    if (__builtin_mul_overflow(expected, size, &expected)) fail(info, "dims");
  if (expected != count)
    fail(info, "string_data: expected " + std::to_string(expected) +
                   " texts, got " + std::to_string(count));
  std::vector<int64_t> places(info.strings.size());
  std::iota(places.begin(), places.end(), int64_t{0});
  Operand made =
      recorder.constant(Tensor::from(places, sizes), std::string(info.name));
  made.texts = std::make_shared<const std::vector<std::string>>(
      info.strings.begin(), info.strings.end());
  return made;
}

Texts texts_compared(const GraphInfo& graph) {
  std::vector<std::string> texts;
  collect_compared(graph, texts);
  std::ranges::sort(texts);
  const auto [first, last] = std::ranges::unique(texts);
  texts.erase(first, last);
  return std::make_shared<const std::vector<std::string>>(std::move(texts));
}

std::vector<int64_t> places_in(const std::vector<std::string_view>& list,
                               const Operand& operand) {
  std::unordered_map<std::string_view, int64_t> places;
  for (size_t i = 0; i < list.size(); ++i)
    places.emplace(list[i], static_cast<int64_t>(i));  // The first of several.
  std::vector<int64_t> made{-1};
  for (const std::string& text : *operand.texts) {
    const auto found = places.find(text);
    made.push_back(found == places.end() ? -1 : found->second);
  }
  return made;
}

namespace {

// Concat and Where, of inputs from the number `first` on, in terms of one list
// with the texts of all.
Results joined_texts(Call& call, const OpRow& row, size_t first) {
  std::vector<Operand> inputs = call.operands();
  std::vector<std::string> all;
  bool has_others = false;
  for (size_t i = first; i < inputs.size(); ++i) {
    if (!inputs[i].texts) call.fail("strings beside what is none");
    all.insert(all.end(), inputs[i].texts->begin(), inputs[i].texts->end());
    has_others |= inputs[i].has_other_texts;
  }
  std::ranges::sort(all);
  const auto [begin, end] = std::ranges::unique(all);
  all.erase(begin, end);
  const std::vector<std::string_view> list(all.begin(), all.end());
  for (size_t i = first; i < inputs.size(); ++i)
    inputs[i] = Operand(index_dim(
        integer_list(call, places_in(list, inputs[i])), 0, call[i] + 1));
  Call joined = call.with_inputs(std::move(inputs));
  Results results = run_row(row, joined);
  results.items[0] = text_tensor(results.items[0].value, std::move(all));
  results.items[0].has_other_texts = has_others;
  return results;
}

}  // namespace

std::optional<Results> text_results(Call& call, const OpRow& row) {
  const auto& inputs = call.operands();
  if (std::ranges::none_of(inputs, holds_texts)) return std::nullopt;
  const Operand& first = inputs[0];
  const bool others_hold =
      std::any_of(inputs.begin() + 1, inputs.end(), holds_texts);
  if (first.texts && has(kReading, row.op)) return run_row(row, call);
  if (row.op == "Concat" && first.texts) return joined_texts(call, row, 0);
  if (row.op == "Where" && !holds_texts(first))
    return joined_texts(call, row, 1);
  const bool moves =
      !others_hold &&
      (first.columns == nullptr ? has(kMoving, row.op) : row.op == "Identity");
  if (!moves)
    call.fail("strings and maps are read by encoders or moved; " +
              std::string(row.op) + " of them is not supported");
  Results results = run_row(row, call);
  results.items[0].texts = first.texts;
  results.items[0].has_other_texts = first.has_other_texts;
  results.items[0].columns = first.columns;
  return results;
}

}  // namespace fxjit::onnx
