// max_unpool1d, 2d, 3d: elements put back where max pools with indices found
// them, zeros elsewhere. Composed of one scatter.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// Sizes without `output_size`: those whose pool gave the input's.
Dims smallest_sizes(const OpCall& call, const Dims& input, int spatial) {
  const Dims kernel = per_axis_arg(call, 2, spatial);
  const Dims stride = call.has(3) ? per_axis_arg(call, 3, spatial) : kernel;
  const Dims padding = per_axis_arg(call, 4, spatial);
  Dims sizes;
  for (int d = 0; d < spatial; ++d)
    sizes.push_back(ExactInt(input[input.size() - spatial + d] - 1) *
                        stride[d] +
                    kernel[d] - 2 * padding[d]);
  return sizes;
}

// The sizes asked for, which are less than a stride from the smallest.
Dims output_sizes(const OpCall& call, const Dims& input, int spatial) {
  const Dims smallest = smallest_sizes(call, input, spatial);
  if (!call.has(5)) return smallest;
  const Dims stride = per_axis_arg(call, call.has(3) ? 3 : 2, spatial);
  Dims asked = call.dims(5);
  if (asked.size() == spatial + 2)
    for (int i = 0; i < 2; ++i) asked.erase(0);
  if (asked.size() != spatial)
    throw ValueError(concat(
        "output_size should be a sequence containing ", spatial, " or ",
        spatial + 2, " elements, but it has a length of '", asked.size(), "'"));
  for (int d = 0; d < spatial; ++d) {
    const int64_t low = smallest[d] - stride[d], high = smallest[d] + stride[d];
    if (asked[d] <= low || asked[d] >= high)
      throw ValueError(
          concat("invalid output_size \"",
                 repr(Value::tuple(ValueList(asked.begin(), asked.end()))),
                 "\" (dim ", d, " must be between ", low, " and ", high, ")"));
  }
  return asked;
}

void check_indices(const Tensor& input, const Tensor& indices, int spatial) {
  if (indices.dtype() != DType::i64)
    runtime_error("elements in indices should be type int64");
  if (!(indices.sizes() == input.sizes()))
    runtime_error(
        "Expected shape of indices to be same as that of the input tensor (",
        input.sizes(),
        ") but got indices tensor with shape: ", indices.sizes());
  if (input.dim() != spatial + 1 && input.dim() != spatial + 2)
    runtime_error("Input to max_unpooling", spatial, "d should be a ",
                  spatial + 1, "d or ", spatial + 2,
                  "d Tensor, but got a tensor with ", input.dim(),
                  " dimensions.");
}

template <int kSpatial>
Value max_unpool(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  check_indices(input, meta_of(call[1]), kSpatial);
  Dims sizes = input.sizes();
  const Dims places = output_sizes(call, sizes, kSpatial);
  sizes.resize(sizes.size() - kSpatial);
  const int64_t lines = numel(sizes);
  const int64_t count = lines == 0 ? Size(0) : input.numel() / lines;
  const Value flat{Dims{lines, count}};
  const Value put = fxjit::scatter(
      fxjit::zeros(Dims{lines, numel(places)}, input.dtype()), 1,
      fxjit::reshape(call[1], flat), fxjit::reshape(call[0], flat));
  return fxjit::reshape(put, joined(sizes, places));
}

constexpr const char* kUnpoolSchema =
    "input, indices, kernel_size, stride=None, padding=0, output_size=None";

constexpr OpRow kUnpoolingRows[] = {
    composed_row("max_unpool1d", kUnpoolSchema,
                 "torch.nn.functional.max_unpool1d!", max_unpool<1>),
    composed_row("max_unpool2d", kUnpoolSchema,
                 "torch.nn.functional.max_unpool2d!", max_unpool<2>)
        .stating({.layout = Layout::image}),
    composed_row("max_unpool3d", kUnpoolSchema,
                 "torch.nn.functional.max_unpool3d!", max_unpool<3>),
};

}  // namespace

std::span<const OpRow> unpooling_rows() { return kUnpoolingRows; }

}  // namespace fxjit::ops
