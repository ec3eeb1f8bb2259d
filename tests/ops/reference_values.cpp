#include "tests/ops/reference_values.h"

#include <cmath>
#include <cstring>
#include <sstream>

namespace fxjit::testing {
namespace {

bool close(double got, double expected, const Tolerance& allowed) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::abs(got - expected) <=
         allowed.absolute + allowed.relative * std::abs(expected);
}

}  // namespace

std::string decode_base64(const std::string& text) {
  const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    const size_t digit = alphabet.find(c);
    if (digit == alphabet.npos) break;  // Padding, or "-" for no data.
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  return out;
}

DType dtype(const std::string& name) {
  const auto found = dtype_from_name(name);
  if (!found) throw UserError("reference: unknown dtype " + name);
  return *found;
}

Tensor tensor_of(const std::string& base64, DType type, const Dims& sizes) {
  const std::string bytes = decode_base64(base64);
  const Tensor tensor = Tensor::empty(sizes, type);
  if (bytes.size() != static_cast<size_t>(tensor.numel()) * dtype_size(type))
    throw UserError("reference: data does not fit " + tensor.describe());
  if (!bytes.empty()) std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

std::string first_difference(const Tensor& got, const Tensor& expected,
                             const Tolerance& allowed) {
  const Tensor a = got.to(DType::f64).contiguous();
  const Tensor b = expected.to(DType::f64).contiguous();
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.data_as<double>()[i], y = b.data_as<double>()[i];
    if (close(x, y, allowed)) continue;
    std::ostringstream text;
    text.precision(17);
    text << "element " << i << ": expected " << y << ", got " << x;
    return text.str();
  }
  return "";
}

}  // namespace fxjit::testing
