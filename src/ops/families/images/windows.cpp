// Windows that slide over images: Tensor.unfold, unfold and fold (im2col and
// col2im); pixels moved between channels and places.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Value infer_windows(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Size size = call[2].as_size();
  const int64_t step = call.integer(3);
  if (step <= 0) runtime_error("step is ", step, " but must be > 0");
  if (input.dim() == 0) {
    if (size > 1)
      runtime_error("maximum size for tensor at dimension 0 is 1 but size is ",
                    size);
    return Tensor::meta(Dims{size}, input.dtype(), Dims{1}, input.offset());
  }
  const int axis = dim_arg(call, 1, input.dim());
  if (size < 0 || size > input.sizes()[axis])
    runtime_error("maximum size for tensor at dimension ", axis, " is ",
                  input.sizes()[axis], " but size is ", size);
  Dims sizes = input.sizes(), strides = input.strides();
  sizes.push_back(size);
  strides.push_back(strides[axis]);
  sizes[axis] = (sizes[axis] - size) / step + 1;
  // The stride of a single window means nothing.
  const Size stride = strides[axis];
  if (mul_overflow(stride, step, &strides[axis])) strides[axis] = stride;
  return Tensor::meta(sizes, input.dtype(), strides, input.offset());
}

struct Sliding {
  Dims kernel, dilation, padding, stride;
  Dims image, places;  // Padded sizes; how many windows along each dim.
};

Sliding sliding_of(const OpCall& call, size_t first, const Dims& sizes) {
  Sliding s{per_axis_arg(call, first, 2),
            per_axis_arg(call, first + 1, 2),
            per_axis_arg(call, first + 2, 2),
            per_axis_arg(call, first + 3, 2),
            {},
            {}};
  for (int d = 0; d < 2; ++d) {
    if (s.kernel[d] <= 0 || s.dilation[d] <= 0 || s.stride[d] <= 0 ||
        s.padding[d] < 0)
      runtime_error(call.op.name(), ": expected sizes above zero, got kernel ",
                    s.kernel, ", dilation ", s.dilation, ", padding ",
                    s.padding, ", stride ", s.stride);
    s.image.push_back(ExactInt(sizes[d]) + 2 * s.padding[d]);
    const ExactInt reach = ExactInt(s.dilation[d]) * (s.kernel[d] - 1) + 1;
    const Size room = s.image[d] - reach;
    s.places.push_back((room < 0 ? Size(room - s.stride[d] + 1) : Size(room)) /
                           s.stride[d] +
                       1);
  }
  if (s.places[0] <= 0 || s.places[1] <= 0)
    runtime_error("Given input with spatial size ", repr(axes_value(sizes)),
                  ", kernel_size=", repr(axes_value(s.kernel)),
                  ", dilation=", repr(axes_value(s.dilation)),
                  ", padding=", repr(axes_value(s.padding)),
                  ", calculated shape of the array of sliding blocks as ",
                  repr(axes_value(s.places)),
                  ", but its components must be at least one.");
  return s;
}

// Along dim d: where element i of window j lies, i outermost.
Tensor window_places(const Sliding& s, int d) {
  std::vector<int64_t> at;
  for (int64_t i = 0; i < s.kernel[d]; ++i)
    for (int64_t j = 0; j < s.places[d]; ++j)
      at.push_back(i * s.dilation[d] + j * s.stride[d]);
  return tensor_of(at);
}

Value unfold(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  if (input.dim() != 4 && input.dim() != 3)
    runtime_error("Expected 3D or 4D (batch mode) tensor for input, got ",
                  input.sizes());
  if (empty_dim(input, 3) >= 0)
    runtime_error(
        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and "
        "other non-zero dimensions for input, but got: ",
        input.sizes());
  Value x = input.dim() == 3 ? fxjit::unsqueeze(call[0], 0) : call[0];
  const Dims sizes = meta_of(x).sizes();
  const Sliding s = sliding_of(call, 1, Dims{sizes[2], sizes[3]});
  const ExactInt columns = ExactInt(sizes[1]) * s.kernel[0] * s.kernel[1];
  const ExactInt places = ExactInt(s.places[0]) * s.places[1];
  const Dims result{sizes[0], columns, places};
  check_memory(result, input.dtype());
  if (numel(result) == 0) return fxjit::zeros(result, input.dtype());
  if (s.padding[0] > 0 || s.padding[1] > 0)
    x = nn::functional::pad(
        x, Value(Dims{s.padding[1], s.padding[1], s.padding[0], s.padding[0]}));
  for (int d = 0; d < 2; ++d)
    x = fxjit::index_select(x, 2 + d, window_places(s, d));
  x = fxjit::reshape(x, Dims{sizes[0], sizes[1], s.kernel[0], s.places[0],
                             s.kernel[1], s.places[1]});
  x = fxjit::permute(x, {0, 1, 2, 4, 3, 5});
  x = fxjit::reshape(x, result);
  return input.dim() == 3 ? fxjit::squeeze(x, 0) : x;
}

Value fold(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  if (empty_dim(input, 2) >= 0)
    runtime_error(
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch "
        "size and non-zero dimensions for input, but got: ",
        input.sizes());
  const Dims wanted = per_axis_arg(call, 1, 2);
  const Sliding s = sliding_of(call, 2, wanted);
  const int64_t block = ExactInt(s.kernel[0]) * s.kernel[1];
  const int64_t windows = ExactInt(s.places[0]) * s.places[1];
  if (input.dim() < 2 || input.dim() > 3 ||
      input.sizes()[input.dim() - 2] % block != 0 ||
      input.sizes().back() != windows)
    runtime_error("fold: expected [N, C * ", block, ", ", windows, "], got ",
                  input.sizes());
  const Value wide = widened(call[0], input.dtype());
  const Value x = input.dim() == 2 ? fxjit::unsqueeze(wide, 0) : wide;
  const int64_t batch = meta_of(x).sizes()[0];
  const int64_t channels = meta_of(x).sizes()[1] / block;
  Value parts = fxjit::reshape(x, Dims{batch, channels, s.kernel[0],
                                       s.kernel[1], s.places[0], s.places[1]});
  parts = fxjit::permute(parts, {0, 1, 2, 4, 3, 5});
  parts = fxjit::reshape(parts, Dims{batch, channels, s.kernel[0] * s.places[0],
                                     s.kernel[1] * s.places[1]});
  Dims sizes{batch, channels, s.image[0], s.kernel[1] * s.places[1]};
  for (int d = 0; d < 2; ++d) {
    sizes[2 + d] = s.image[d];
    const Value sums = fxjit::zeros(sizes, meta_of(x).dtype());
    parts = call_row("index_add", {sums, 2 + d, window_places(s, d), parts});
  }
  for (int d = 0; d < 2; ++d)
    parts = fxjit::narrow(parts, 2 + d, s.padding[d], wanted[d]);
  if (input.dim() == 2) parts = fxjit::squeeze(parts, 0);
  return narrowed(method(parts, "contiguous"), wide, input.dtype());
}

// Sizes in front of the last three, then [parts of the channels ...].
Value regrouped(const Value& x, const Dims& inner, const Dims& order,
                const Dims& result) {
  const Tensor meta = meta_of(x);
  const int outer = meta.dim() - 3;
  Dims sizes = meta.sizes(), permutation = dims_between(0, outer);
  sizes.resize(outer);
  for (const int64_t d : order) permutation.push_back(outer + d);
  const Value parts = fxjit::reshape(x, joined(sizes, inner));
  return reshaped_copy(fxjit::permute(parts, permutation),
                       joined(sizes, result));
}

Tensor image_of(const OpCall& call) {
  const Tensor meta = meta_of(call[0]);
  if (meta.dim() < 3)
    runtime_error(
        call.op.name(),
        " expects input to have at least 3 dimensions, but got input with ",
        meta.dim(), " dimension(s)");
  return meta;
}

Value pixel_shuffle(const OpCall& call) {
  const Tensor meta = image_of(call);
  const int rank = meta.dim();
  const ExactInt r = call.integer(1);
  const Size c = meta.sizes()[rank - 3], h = meta.sizes()[rank - 2],
             w = meta.sizes()[rank - 1];
  if (r <= 0)
    runtime_error("pixel_shuffle expects a positive upscale_factor, but got ",
                  int64_t{r});
  int64_t square = 0;
  if (__builtin_mul_overflow(int64_t{r}, int64_t{r}, &square))
    throw ValueError(
        "upscale factor is too large, (upscale_factor)^2 overflowed: "
        "upscale_factor=" +
        std::to_string(r));
  if (c % square != 0)
    runtime_error(
        "pixel_shuffle expects its input's 'channel' dimension to be divisible "
        "by the square of upscale_factor, but input.size(-3)=",
        c, " is not divisible by ", square);
  const Size channels = c / square;
  return regrouped(call[0], {channels, r, r, h, w}, {0, 3, 1, 4, 2},
                   {channels, h * r, w * r});
}

Value pixel_unshuffle(const OpCall& call) {
  const Tensor meta = image_of(call);
  const int rank = meta.dim();
  const ExactInt r = call.integer(1);
  const Size c = meta.sizes()[rank - 3], h = meta.sizes()[rank - 2],
             w = meta.sizes()[rank - 1];
  if (r <= 0)
    runtime_error(
        "pixel_unshuffle expects a positive downscale_factor, but got ",
        int64_t{r});
  const auto check = [&](const char* what, int dim, Size size) {
    if (size % r != 0)
      runtime_error("pixel_unshuffle expects ", what,
                    " to be divisible by downscale_factor, but input.size(",
                    dim, ")=", size, " is not divisible by ", int64_t{r});
  };
  check("height", -2, h);
  check("width", -1, w);
  return regrouped(call[0], {c, h / r, r, w / r, r}, {0, 2, 4, 1, 3},
                   {c * r * r, h / r, w / r});
}

Value channel_shuffle(const OpCall& call) {
  const Tensor meta = meta_of(call[0]);
  const int64_t groups = call.integer(1);
  if (meta.dim() < 3 || groups <= 0 || meta.sizes()[1] % groups != 0)
    runtime_error("Number of channels must be divisible by groups. Got ",
                  meta.sizes(), " channels and ", groups, " groups.");
  Dims sizes{meta.sizes()[0], groups, meta.sizes()[1] / groups};
  for (int d = 2; d < meta.dim(); ++d) sizes.push_back(meta.sizes()[d]);
  const Value parts = fxjit::reshape(call[0], sizes);
  return reshaped_copy(fxjit::transpose(parts, 1, 2), meta.sizes());
}

constexpr OpRow kWindowsRows[] = {
    view_row("unfold_method", "input, dimension, size, step", ".unfold",
             infer_windows),
    composed_row("unfold",
                 "input, kernel_size, dilation=1, padding=0, stride=1",
                 "F.unfold! torch._C._nn.im2col nn.Unfold", unfold),
    composed_row(
        "fold",
        "input, output_size, kernel_size, dilation=1, padding=0, stride=1",
        "F.fold! torch._C._nn.col2im nn.Fold", fold),
    composed_row("pixel_shuffle", "input, upscale_factor",
                 "torch.pixel_shuffle =F.pixel_shuffle", pixel_shuffle)
        .stating({.layout = Layout::image}),
    composed_row("pixel_unshuffle", "input, downscale_factor",
                 "torch.pixel_unshuffle =F.pixel_unshuffle", pixel_unshuffle)
        .stating({.layout = Layout::image}),
    composed_row(
        "channel_shuffle", "input, groups",
        "torch.channel_shuffle =F.channel_shuffle torch.native_channel_shuffle "
        "=F.native_channel_shuffle nn.ChannelShuffle",
        channel_shuffle)
        .stating({.layout = Layout::image}),
};

}  // namespace

std::span<const OpRow> window_rows() { return kWindowsRows; }

}  // namespace fxjit::ops
