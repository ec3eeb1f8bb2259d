#include "tools/fxjit/numbers.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "fxjit/error.h"

namespace fxjit::command {
namespace {

using nlohmann::json;

constexpr int kMostDims = 8;
constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max();

// The numbers below `list`, whose rows all have the sizes of the first.
void collect(const json& list, const Dims& sizes, int depth,
             std::vector<json>& numbers, bool& fits) {
  if (depth == sizes.size()) {
    fits = fits && list.is_number() &&
           (!list.is_number_unsigned() || list.get<uint64_t>() <= kLargest);
    numbers.push_back(list);
    return;
  }
  fits = fits && list.is_array() &&
         static_cast<int64_t>(list.size()) == sizes[depth];
  for (size_t i = 0; fits && i < list.size(); ++i)
    collect(list[i], sizes, depth + 1, numbers, fits);
}

Dims sizes_of(const json& list) {
  Dims sizes;
  for (const json* row = &list; row->is_array() && sizes.size() < kMostDims;
       row = &row->front()) {
    sizes.push_back(static_cast<int64_t>(row->size()));
    if (row->empty()) break;
  }
  return sizes;
}

}  // namespace

bool is_number(const std::string& text) {
  return json::parse(text, nullptr, false).is_number();
}

Tensor parse_numbers(const std::string& text, const std::string& name) {
  const json list = json::parse(text, nullptr, false);
  const Dims sizes = sizes_of(list);
  std::vector<json> numbers;
  bool fits = list.is_array() || list.is_number();
  if (fits) collect(list, sizes, 0, numbers, fits);
  if (!fits)
    throw UserError("--input " + name + "=" + text +
                    ": expected rows of numbers like [[1, 2], [3, 4]]");
  bool whole = true;
  for (const json& number : numbers)
    whole = whole && number.is_number_integer();
  const Tensor values = Tensor::empty(sizes, whole ? DType::i64 : DType::f32);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (whole)
      values.data_as<int64_t>()[i] = numbers[i].get<int64_t>();
    else
      values.data_as<float>()[i] = numbers[i].get<float>();
  return values;
}

}  // namespace fxjit::command
