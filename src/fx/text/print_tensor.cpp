#include "src/fx/text/print_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "fxjit/value.h"
#include "src/ops/python/items.h"
#include "src/tensor/visit.h"

namespace fxjit::fx {
namespace {

// The defaults of torch.set_printoptions.
constexpr int kPrecision = 4;
constexpr int64_t kThreshold = 1000;  // Longer tensors are summarised.
constexpr int64_t kEdgeItems = 3;     // Shown at either end of a dimension.
constexpr size_t kLineWidth = 80;

constexpr std::string_view kPrefix = "tensor(";

std::string formatted(const char* format, int precision, double value) {
  char text[400];  // "%.4f" of the largest double has 314 characters.
  const int length =
      std::snprintf(text, sizeof(text), format, precision, value);
  return {text, static_cast<size_t>(length)};
}

// One notation and width for all numbers of a tensor, chosen from those shown.
class NumberFormat {
 public:
  explicit NumberFormat(const std::vector<Value>& shown) {
    double least = HUGE_VAL, most = 0;
    for (const Value& value : shown) {
      if (!counts(value) || !value.is_float()) continue;
      const double size = std::abs(value.as_double());
      least = std::min(least, size);
      most = std::max(most, size);
      whole_ = whole_ && size == std::ceil(size);
    }
    scientific_ =
        most > 0 && (most / least > 1000 || most > 1e8 || least < 1e-4);
    for (const Value& value : shown)
      if (counts(value)) width_ = std::max(width_, bare(value).size());
  }

  size_t width() const { return width_; }
  std::string operator()(const Value& value) const {
    const std::string text = bare(value);
    return std::string(width_ - std::min(width_, text.size()), ' ') + text;
  }

 private:
  // torch looks at nonzero finite floats only, and at all others.
  static bool counts(const Value& value) {
    return !value.is_float() ||
           (std::isfinite(value.as_double()) && value.as_double() != 0);
  }

  std::string bare(const Value& value) const {
    if (!value.is_float()) return repr(value);
    const double number = value.as_double();
    if (scientific_) return formatted("%.*e", kPrecision, number);
    if (!whole_) return formatted("%.*f", kPrecision, number);
    return formatted("%.*f", 0, number) + (std::isfinite(number) ? "." : "");
  }

  bool whole_ = true;
  bool scientific_ = false;
  size_t width_ = 1;
};

class TensorPrinter {
 public:
  explicit TensorPrinter(const Tensor& tensor)
      : tensor_(tensor), summarise_(tensor.numel() > kThreshold) {}

  std::string print() const {
    std::vector<Value> shown;
    collect(0, 0, shown);
    return text(NumberFormat(shown), 0, 0, kPrefix.size());
  }

 private:
  // Positions shown along `d`; -1 stands for those left out.
  std::vector<int64_t> shown_along(int d) const {
    const int64_t size = tensor_.sizes()[d];
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < size; ++i) {
      if (summarise_ && size > 2 * kEdgeItems && i == kEdgeItems) {
        positions.push_back(-1);
        i = size - kEdgeItems;
      }
      positions.push_back(i);
    }
    return positions;
  }

  Value element(int64_t offset) const {
    return visit_dtype(tensor_.dtype(), [&](auto type) -> Value {
      using T = typename decltype(type)::type;
      const T value = tensor_.data_as<T>()[offset];
      if constexpr (std::is_same_v<T, bool>)
        return Value(value);
      else if constexpr (std::is_integral_v<T>)
        return Value(int64_t{value});
      else
        return Value(convert<double>(value));
    });
  }

  void collect(int d, int64_t offset, std::vector<Value>& shown) const {
    if (d == tensor_.dim()) return shown.push_back(element(offset));
    for (int64_t i : shown_along(d))
      if (i >= 0) collect(d + 1, offset + i * tensor_.strides()[d], shown);
  }

  std::string text(const NumberFormat& format, int d, int64_t offset,
                   size_t indent) const {
    if (d == tensor_.dim()) return format(element(offset));
    const bool innermost = d + 1 == tensor_.dim();
    const size_t per_line =
        !innermost
            ? 1
            : std::max<size_t>(1, (kLineWidth - std::min(indent, kLineWidth)) /
                                      (format.width() + 2));
    const std::string line_break =
        "," + std::string(innermost ? 1 : tensor_.dim() - d - 1, '\n') +
        std::string(indent + 1, ' ');
    std::string out = "[";
    size_t count = 0;
    for (int64_t i : shown_along(d)) {
      if (count > 0) out += count % per_line == 0 ? line_break : ", ";
      ++count;
      if (i < 0) {
        out += innermost ? " ..." : "...";
      } else {
        out +=
            text(format, d + 1, offset + i * tensor_.strides()[d], indent + 1);
      }
    }
    return out + "]";
  }

  const Tensor& tensor_;
  const bool summarise_;
};

// What follows the numbers: what they do not tell by themselves.
std::vector<std::string> suffixes_of(const Tensor& tensor) {
  std::vector<std::string> suffixes;
  const bool empty = tensor.numel() == 0;
  if (tensor.is_meta()) suffixes.push_back("device='meta'");
  if (tensor.is_meta() || (empty && tensor.dim() != 1))
    suffixes.push_back("size=" +
                       repr(ops::python::size_tuple(tensor.sizes())));
  const DType dtype = tensor.dtype();
  const bool evident =
      dtype == DType::f32 || (!empty && !tensor.is_meta() &&
                              (dtype == DType::i64 || dtype == DType::boolean));
  if (!evident) suffixes.push_back("dtype=" + repr(Value(dtype)));
  return suffixes;
}

}  // namespace

std::string tensor_text(const Tensor& tensor) {
  std::string out(kPrefix);
  out += tensor.is_meta()      ? "..."
         : tensor.numel() == 0 ? "[]"
                               : TensorPrinter(tensor).print();
  // Two more than stand there, as torch counts.
  size_t line = out.size() - (out.rfind('\n') + 1) + 2;
  for (const std::string& suffix : suffixes_of(tensor)) {
    if (line + suffix.size() + 2 > kLineWidth) {
      out += ",\n" + std::string(kPrefix.size(), ' ') + suffix;
      line = kPrefix.size() + suffix.size();
    } else {
      out += ", " + suffix;
      line += suffix.size() + 2;
    }
  }
  return out + ")";
}

}  // namespace fxjit::fx
