#include "src/ops/families/views/view_rules.h"

namespace fxjit::ops {

namespace {

// Where element `index` along `axis` lies in the storage.
Size place_of(const Tensor& input, int axis, Size index) {
  return ExactInt(input.offset()) + ExactInt(index) * input.strides()[axis];
}

}  // namespace

Tensor view_of(const Tensor& input, const Dims& sizes, const Dims& strides) {
  return Tensor::meta(sizes, input.dtype(), strides, input.offset());
}

Dims resolved_shape(const Dims& shape, Size elements) {
  Dims sizes = shape;
  int inferred = -1;
  Dims known;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] >= 0) {
      known.push_back(shape[d]);
      continue;
    }
    if (shape[d] != -1)
      runtime_error("invalid shape dimension ", shape[d], " at index ", d,
                    " of shape ", shape);
    if (inferred >= 0) runtime_error("only one dimension can be inferred");
    inferred = d;
  }
  const Size product = numel(known);
  if (inferred >= 0 && product == 0 && elements == 0)
    runtime_error("cannot reshape tensor of 0 elements into shape ", shape,
                  " because the unspecified dimension size -1 can be any value "
                  "and is ambiguous");
  const bool fits = inferred < 0 ? product == elements
                                 : product != 0 && elements % product == 0;
  if (!fits)
    runtime_error("shape '", shape, "' is invalid for input of size ",
                  elements);
  if (inferred >= 0) sizes[inferred] = elements / product;
  return sizes;
}

Tensor reshaped(const Tensor& input, const Dims& sizes) {
  const auto strides = view_strides(input.sizes(), input.strides(), sizes);
  return strides ? view_of(input, sizes, *strides)
                 : Tensor::meta(sizes, input.dtype());
}

Tensor expanded(const Tensor& input, const Dims& sizes) {
  const int shift = sizes.size() - input.dim();
  if (shift < 0)
    runtime_error("expand(torch.", torch_type_name(input.dtype()), "Tensor{",
                  input.sizes(), "}, size=", sizes,
                  "): the number of sizes provided (", sizes.size(),
                  ") must be greater or equal to the number of dimensions in "
                  "the tensor (",
                  input.dim(), ")");
  Dims out = sizes, strides(sizes.size(), 0);
  for (int d = sizes.size() - 1; d >= 0; --d) {
    const bool fresh = d < shift;
    const Size size = fresh ? Size(1) : input.sizes()[d - shift];
    if (fresh && d + 1 < sizes.size())
      strides[d] = ExactInt(out[d + 1]) * strides[d + 1];
    else
      strides[d] = fresh ? Size(1) : input.strides()[d - shift];
    if (out[d] == -1) {
      if (fresh)
        runtime_error(
            "The expanded size of the tensor (-1) isn't allowed in a leading, "
            "non-existing dimension ",
            d);
      out[d] = size;
    }
    if (out[d] == size) continue;
    if (size != 1 || out[d] < 0)
      runtime_error("The expanded size of the tensor (", out[d],
                    ") must match the existing size (", size,
                    ") at non-singleton dimension ", d,
                    ".  Target sizes: ", sizes,
                    ".  Tensor sizes: ", input.sizes());
    strides[d] = 0;
  }
  return view_of(input, out, strides);
}

Tensor unsqueezed(const Tensor& input, int axis) {
  Dims sizes = input.sizes(), strides = input.strides();
  const Size stride =
      axis < input.dim() ? sizes[axis] * strides[axis] : Size(1);
  sizes.insert(axis, 1);
  strides.insert(axis, stride);
  return view_of(input, sizes, strides);
}

Tensor selected(const Tensor& input, int axis, Size index) {
  const Size size = input.sizes()[axis];
  if (index < 0) index += size;
  Dims sizes = input.sizes(), strides = input.strides();
  sizes.erase(axis);
  strides.erase(axis);
  return Tensor::meta(sizes, input.dtype(), strides,
                      place_of(input, axis, index));
}

Tensor sliced(const Tensor& input, int axis, const Value& start,
              const Value& stop, Size step) {
  const Size size = input.sizes()[axis];
  const auto bound = [&](const Value& value, Size fallback) {
    if (value.is_none()) return fallback;
    Size at = value.as_size();
    if (at < 0) at += size;
    return smaller(larger(at, 0), size);
  };
  const Size first = bound(start, 0);
  const Size last = larger(first, bound(stop, size));
  Dims sizes = input.sizes(), strides = input.strides();
  // Without overflow for steps close to the largest integer.
  sizes[axis] = last == first ? Size(0) : (last - first - 1) / step + 1;
  const Size stride = strides[axis];
  if (mul_overflow(stride, step, &strides[axis])) strides[axis] = stride;
  return Tensor::meta(sizes, input.dtype(), strides,
                      place_of(input, axis, first));
}

Tensor range_of(const Tensor& input, int axis, Size start, Size length) {
  Dims sizes = input.sizes();
  sizes[axis] = length;
  return Tensor::meta(sizes, input.dtype(), input.strides(),
                      place_of(input, axis, start));
}

}  // namespace fxjit::ops
