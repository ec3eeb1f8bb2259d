// Fourier transforms over the last dims of tensors, by loops of their own.
// Calculated in double precision whatever the type.
#include <cmath>

#include "src/ops/eager/fourier.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

using Numbers = std::vector<Complex>;

// The elements in row-major order, with imaginary parts of 0 where real.
Numbers read(const Tensor& input) {
  const bool complex = is_complex(input.dtype());
  Numbers numbers(static_cast<size_t>(input.numel()));
  const Tensor plain =
      input.to(complex ? DType::c128 : DType::f64).contiguous();
  const auto* const from = static_cast<const double*>(plain.data());
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        complex ? Complex{from[2 * i], from[2 * i + 1]} : Complex{from[i], 0};
  return numbers;
}

void write(const Numbers& numbers, double scale, const Tensor& out) {
  const bool complex = is_complex(out.dtype());
  const Tensor wide =
      Tensor::empty(out.sizes(), complex ? DType::c128 : DType::f64);
  auto* const to = static_cast<double*>(wide.data());
  for (size_t i = 0; i < numbers.size(); ++i) {
    to[complex ? 2 * i : i] = numbers[i].re * scale;
    if (complex) to[2 * i + 1] = numbers[i].im * scale;
  }
  out.copy_from(wide);
}

// Each line of `numbers`, which have these sizes, along dim `axis`.
void transform(Numbers& numbers, const Dims& sizes, int axis, bool forward) {
  if (numbers.empty()) return;
  FourierPlan plan(sizes[axis]);
  int64_t inner = 1;
  for (int d = axis + 1; d < sizes.size(); ++d) inner *= sizes[d];
  const int64_t length = sizes[axis];
  const auto lines = static_cast<int64_t>(numbers.size()) / length;
  Numbers line(static_cast<size_t>(length));
  for (int64_t i = 0; i < lines; ++i) {
    Complex* const first =
        numbers.data() + i / inner * inner * length + i % inner;
    if (inner == 1) {
      plan.run(first, forward);
      continue;
    }
    for (int64_t k = 0; k < length; ++k)
      line[static_cast<size_t>(k)] = first[k * inner];
    plan.run(line.data(), forward);
    for (int64_t k = 0; k < length; ++k)
      first[k * inner] = line[static_cast<size_t>(k)];
  }
}

// The first `kept` of each last line.
Numbers cut(const Numbers& numbers, int64_t length, int64_t kept) {
  Numbers result;
  for (size_t at = 0; at < numbers.size(); at += static_cast<size_t>(length))
    result.insert(result.end(), numbers.begin() + static_cast<int64_t>(at),
                  numbers.begin() + static_cast<int64_t>(at) + kept);
  return result;
}

// fxjit.fft_c2c(input, dims, forward, scale): over the last `dims` dims.
void run_c2c(const OpCall& call, std::span<const Tensor> results) {
  Numbers numbers = read(call.tensor(0));
  const Dims& sizes = call.tensor(0).sizes();
  for (int64_t d = 0; d < call.integer(1); ++d)
    transform(numbers, sizes, sizes.size() - 1 - static_cast<int>(d),
              call.flag(2));
  write(numbers, call.number(3), results[0]);
}

// fxjit.fft_r2c(input, dims, onesided, scale): forward.
Value infer_r2c(const OpCall& call) {
  Dims sizes = call.tensor(0).sizes();
  if (call.flag(2)) sizes[sizes.size() - 1] = sizes.back() / 2 + 1;
  return Tensor::meta(
      sizes, call.tensor(0).dtype() == DType::f64 ? DType::c128 : DType::c64);
}

void run_r2c(const OpCall& call, std::span<const Tensor> results) {
  Numbers numbers = read(call.tensor(0));
  const Dims& given = call.tensor(0).sizes();
  const Dims& sizes = results[0].sizes();
  transform(numbers, given, given.size() - 1, true);
  if (sizes.back() != given.back())
    numbers = cut(numbers, given.back(), sizes.back());
  for (int64_t d = 1; d < call.integer(1); ++d)
    transform(numbers, sizes, sizes.size() - 1 - static_cast<int>(d), true);
  write(numbers, call.number(3), results[0]);
}

// fxjit.fft_c2r(input, length, scale): backward over the last dim, whose second
// half is the conjugate of the first.
Value infer_c2r(const OpCall& call) {
  Dims sizes = call.tensor(0).sizes();
  sizes[sizes.size() - 1] = call.integer(1);
  return Tensor::meta(sizes, part_type(call.tensor(0).dtype()));
}

void run_c2r(const OpCall& call, std::span<const Tensor> results) {
  const Numbers half = read(call.tensor(0));
  const auto given = static_cast<size_t>(call.tensor(0).size(-1));
  const auto length = static_cast<size_t>(call.integer(1));
  Numbers numbers(static_cast<size_t>(results[0].numel()));
  for (size_t line = 0; line * length < numbers.size(); ++line) {
    const Complex* const from = half.data() + line * given;
    Complex* const to = numbers.data() + line * length;
    to[0] = {from[0].re, 0};
    for (size_t k = 1; 2 * k <= length; ++k) {
      to[length - k] = {from[k].re, -from[k].im};
      to[k] = 2 * k == length ? Complex{from[k].re, 0} : from[k];
    }
  }
  const Dims& sizes = results[0].sizes();
  transform(numbers, sizes, sizes.size() - 1, false);
  write(numbers, call.number(2), results[0]);
}

constexpr OpRow kernel(const char* name, const char* schema, InferFn infer,
                       DirectFn direct) {
  return direct_row(name, schema, "", infer, direct);
}

constexpr OpRow kFftLoopsRows[] = {
    kernel("fxjit.fft_c2c", "input, dims, forward, scale", infer_like_first,
           run_c2c),
    kernel("fxjit.fft_r2c", "input, dims, onesided, scale", infer_r2c, run_r2c),
    kernel("fxjit.fft_c2r", "input, length, scale", infer_c2r, run_c2r),
};

}  // namespace

std::span<const OpRow> fft_kernel_rows() { return kFftLoopsRows; }

}  // namespace fxjit::ops
