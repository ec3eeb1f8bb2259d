#include "bench/graph_file.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <sstream>

namespace fxjit::bench {
namespace {

class InputText {
 public:
  explicit InputText(const std::string& text) : text_(text) {}

  Tensor tensor() {
    const size_t open = text_.find('['), close = text_.find(']');
    if (open == text_.npos || close == text_.npos || close < open) fail();
    const auto dtype = dtype_from_name(text_.substr(0, open));
    if (!dtype) fail();
    const Tensor values = Tensor::empty(
        sizes(text_.substr(open + 1, close - open - 1)), DType::f64);
    const std::string bound = text_.substr(close + 1);
    if (!bound.empty() && bound[0] != '<') fail();
    fill(values, *dtype, bound.empty() ? 2 : number(bound.substr(1)));
    return values.to(*dtype);
  }

 private:
  [[noreturn]] void fail() const {
    throw UserError(
        "--input: expected a text like float32[8, 64] or "
        "int64[1, 16]<1000, got " +
        text_);
  }

  int64_t number(const std::string& text) const {
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
      fail();
    return value;
  }

  // "2, 3"; nothing for a tensor of no dims.
  Dims sizes(const std::string& text) const {
    Dims sizes;
    if (text.empty()) return sizes;
    std::istringstream parts(text + ",");
    for (std::string part; std::getline(parts, part, ',');) {
      const size_t digits = std::min(part.find_first_not_of(' '), part.size());
      sizes.push_back(number(part.substr(digits)));
    }
    return sizes;
  }

  static void fill(const Tensor& values, DType dtype, int64_t bound) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> real(-1, 1);
    auto* const data = values.data_as<double>();
    for (int64_t i = 0; i < values.numel(); ++i)
      data[i] = is_floating(dtype)
                    ? real(random)
                    : static_cast<double>(
                          random() %
                          static_cast<uint64_t>(std::max<int64_t>(bound, 1)));
  }

  const std::string& text_;
};

}  // namespace

Workload load_workload(const std::string& file,
                       const std::vector<std::string>& inputs) {
  Workload work{fx::load(file), {}};
  std::vector<std::string> names;
  for (const fx::Node* node : work.module->graph().placeholders())
    names.emplace_back(node->name());
  if (names.size() != inputs.size()) {
    std::string text = "--input: expected one for each of ";
    for (const std::string& name : names) text += name + " ";
    throw UserError(text + "in this order, got " +
                    std::to_string(inputs.size()));
  }
  for (const std::string& input : inputs)
    work.inputs.push_back(InputText(input).tensor());
  return work;
}

}  // namespace fxjit::bench
