#include "src/ops/families/random/random_rows.h"

#include <limits>
#include <sstream>

#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {

void require_floating_type(DType dtype, const char* kernel) {
  if (!is_floating(dtype)) no_kernel(kernel, dtype);
}

std::string shown(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

void check_deviation(double std) {
  if (!(std >= 0))
    runtime_error("normal expects std >= 0.0, but found std ", shown(std));
}

void check_bounds(const Bounds& bounds, DType dtype) {
  if (bounds.low >= bounds.high)
    runtime_error("random_ expects 'from' to be less than 'to', but got from=",
                  bounds.low, " >= to=", bounds.high);
  if (is_floating(dtype)) return;
  visit_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_integral_v<T>) {
      const auto check = [&](int64_t value, const char* what) {
        if (value < static_cast<int64_t>(std::numeric_limits<T>::min()) ||
            value > static_cast<int64_t>(std::numeric_limits<T>::max()))
          runtime_error(
              what, " is out of bounds for ",
              dtype == DType::u8 ? "unsigned char" : cpp_type_name(dtype));
      };
      check(bounds.low, "from");
      check(bounds.high - 1, "to - 1");
    }
  });
}

void fill_between(const Bounds& bounds, const Tensor& out, Draw& draw) {
  fill_integers(
      out,
      static_cast<uint64_t>(bounds.high) - static_cast<uint64_t>(bounds.low),
      bounds.low, draw);
}

}  // namespace fxjit::ops
