#include "src/import/onnx/texts.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>

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

std::optional<Results> text_results(Call& call, const OpRow& row) {
  const auto& inputs = call.operands();
  if (std::ranges::none_of(inputs, holds_texts)) return std::nullopt;
  const Operand& first = inputs[0];
  const bool moves =
      first.columns == nullptr
          ? std::ranges::find(kMoving, row.op) != std::end(kMoving)
          : row.op == "Identity";
  if (!moves ||
      std::ranges::any_of(inputs.begin() + 1, inputs.end(), holds_texts))
    call.fail("strings and maps are results of a model, and moved before; " +
              std::string(row.op) + " of them is not supported");
  Results results = run_row(row, call);
  results.items[0].texts = first.texts;
  results.items[0].columns = first.columns;
  return results;
}

}  // namespace fxjit::onnx
