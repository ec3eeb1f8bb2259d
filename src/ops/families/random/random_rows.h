// Makers of random rows and the checks that they share. Used by the random
// families.
#pragma once

#include <string>

#include "src/ops/families/random/draws.h"
#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {

using Draw = Generator::Draw;

// The kernel of a row: `kFill` writes numbers into a contiguous tensor.
template <void (*kFill)(const OpCall&, const Tensor&, Draw&)>
void drawn(const OpCall& call, std::span<const Tensor> results) {
  const Tensor& out = results[0];
  if (out.numel() == 0) return;
  fill_contiguous(out, [&](const Tensor& whole) {
    Draw draw = generator_of(call).draw();
    kFill(call, whole, draw);
  });
}

constexpr OpRow random_row(const char* name, const char* schema,
                           const char* names, InferFn infer, DirectFn direct) {
  return direct_row(name, schema, names, infer, direct, Purity::random);
}

// NotImplementedError with torch's text, where `kernel` is torch's name.
void require_floating_type(DType dtype, const char* kernel);
// RuntimeError for a negative standard deviation.
void check_deviation(double std);
// A number as torch's messages show it.
std::string shown(double number);

// A half-open range of integers.
struct Bounds {
  int64_t low = 0, high = 0;
};
// RuntimeError for an empty range and for one that `dtype` does not hold.
void check_bounds(const Bounds& bounds, DType dtype);
void fill_between(const Bounds& bounds, const Tensor& out, Draw& draw);

}  // namespace fxjit::ops
