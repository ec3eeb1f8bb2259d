// Convolutions of 8-bit integers become contractions of windows over an image
// with channels last, which the step gathers row by row. Those of one channel
// each become windows, whose sums of f32 are whole; other groups one
// convolution each.
#include "src/passes/channels_last.h"
#include "src/passes/lowering/integers.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/passes/lowering/window_combine.h"

namespace fxjit::passes {
namespace {

// A convolution over two dims.
struct Window {
  Dims kernel, stride, before, after, dilation;

  int64_t output(int dim, int64_t padded) const {
    return (padded - dilation[dim] * (kernel[dim] - 1) - 1) / stride[dim] + 1;
  }
  Dims pads() const {  // Of [N, H, W, C], the last dim first.
    return {0, 0, before[1], after[1], before[0], after[0]};
  }
  bool is_padded() const { return pads() != Dims(6, 0); }
};

int64_t number_of(const Tensor& t) {
  return *t.to(DType::i64).contiguous().data_as<int64_t>();
}

// Places outside of [N, H, W, C] are `zero`, which only the call knows.
Value padded_by(GraphBuilder& b, const Value& x, const Window& window,
                const Value& zero) {
  const Tensor t = val_of(x);
  const Value inside = b.constant(
      Tensor::full({1, t.size(1), t.size(2), 1}, 1, DType::boolean), true);
  return call(b, "where",
              {call(b, "constant_pad_nd", {inside, window.pads(), false}),
               call(b, "constant_pad_nd", {x, window.pads(), 0}), zero});
}

// [N, H, W, C] with the zero point around it.
Value padded(GraphBuilder& b, const Value& x, const Window& window,
             const Value& zero) {
  if (!window.is_padded()) return x;
  const Tensor* const known = b.constant_of(zero);
  if (!known && !zero.is_none()) return padded_by(b, x, window, zero);
  return call(b, "constant_pad_nd",
              {x, window.pads(), known ? number_of(*known) : 0});
}

// An image [N, C, H, W] so. Planes are padded before they are turned: their
// rows are copied whole.
Value padded_image(GraphBuilder& b, const Value& x, const Window& window,
                   const Value& zero) {
  const Value image = channels_to_back(b, x);
  const bool are_planes = val_of(image).stride(-1) != 1;
  const Tensor* const known = b.constant_of(zero);
  if (!are_planes || !window.is_padded() || (!known && !zero.is_none()))
    return padded(b, image, window, zero);
  const Dims pads{window.before[1], window.after[1], window.before[0],
                  window.after[0]};
  return channels_to_back(
      b, call(b, "constant_pad_nd", {x, pads, known ? number_of(*known) : 0}));
}

// [N, OH, OW, ...] with the numbers of each window behind.
Value windows_of(GraphBuilder& b, const Value& x, const Window& window) {
  const Tensor t = val_of(x);
  Dims sizes{t.size(0), window.output(0, t.size(1)),
             window.output(1, t.size(2))};
  Dims strides{t.stride(0), window.stride[0] * t.stride(1),
               window.stride[1] * t.stride(2)};
  for (const int d : {0, 1})
    if (window.kernel[d] > 1) {
      sizes.push_back(window.kernel[d]);
      strides.push_back(window.dilation[d] * t.stride(1 + d));
    }
  sizes.push_back(t.size(3));
  strides.push_back(1);
  return call(b, "as_strided", {x, sizes, strides, t.offset()});
}

// [KH * KW * C, O]
Value window_matrix(GraphBuilder& b, const Value& filter) {
  const Tensor t = *b.constant_of(filter);
  const Dims& by = t.strides();
  const Tensor turned =
      t.as_strided({t.size(2), t.size(3), t.size(1), t.size(0)},
                   {by[2], by[3], by[1], by[0]}, t.offset())
          .contiguous();
  return b.constant(
      turned.as_strided({t.numel() / t.size(0), t.size(0)}, {t.size(0), 1}, 0),
      true);
}

// Places of a window of which so many products and what is added for what lies
// outside are whole numbers of f32, and that loops over windows have at most.
constexpr int64_t kMostPlaces = 121;

// What all sums of a channel begin with: sum w (x - zero) = sum wx - zero sum w
Value window_start(GraphBuilder& b, const Tensor& filter, int64_t zero) {
  if (zero == 0) return {};
  const int64_t channels = filter.size(0);
  const int64_t places = filter.numel() / channels;
  const Tensor numbers = filter.to(DType::i32).contiguous();
  const Tensor starts = Tensor::empty({channels}, DType::f32);
  for (int64_t c = 0; c < channels; ++c) {
    int64_t sum = 0;
    for (int64_t i = 0; i < places; ++i)
      sum += numbers.data_as<int32_t>()[c * places + i];
    starts.data_as<float>()[c] = static_cast<float>(-zero * sum);
  }
  return b.constant(starts, true);
}

// Sums of whole f32 of the windows of each channel, [N, OH, OW, C]. Places
// outside are `zero`, which is taken off all numbers.
Value sums_by_channel(GraphBuilder& b, const Value& image, const Window& window,
                      const Tensor& filter, int64_t zero) {
  const Tensor t = val_of(image);
  const Dims output{
      t.size(0), t.size(3),
      window.output(0, t.size(1) + window.before[0] + window.after[0]),
      window.output(1, t.size(2) + window.before[1] + window.after[1])};
  return b.call(
      window_op(),
      {channels_to_front(b, image), b.constant(filter.to(DType::f32), true),
       window_start(b, filter, zero),
       static_cast<int64_t>(WindowCombine::products), window.kernel,
       window.stride, window.before, window.after, window.dilation, output,
       true, zero, 0});
}

// [places, C]
Value place_matrix(GraphBuilder& b, const Tensor& filter) {
  const Tensor dense = filter.contiguous();
  const int64_t places = filter.size(2) * filter.size(3);
  return b.constant(dense.as_strided({places, filter.size(0)}, {1, places}, 0),
                    true);
}

bool is_taken(const GraphBuilder& b, const ValueList& args) {
  const Value &x = args[0], &w = args[1], &zero = args[7];
  return is_byte(val_of(x).dtype()) && is_byte(val_of(w).dtype()) &&
         b.constant_of(w) && val_of(w).dim() == 4 && val_of(x).dim() == 4 &&
         val_of(w).numel() > 0 && val_of(x).numel() > 0 &&
         (zero.is_none() || val_of(zero).numel() == 1);
}

// Each group of channels on its own, side by side.
Value by_groups(GraphBuilder& b, const ValueList& args) {
  const int64_t groups = args[6].as_int();
  const int64_t features = val_of(args[1]).size(0) / groups;
  const int64_t channels = val_of(args[0]).size(1) / groups;
  ValueList parts;
  for (int64_t g = 0; g < groups; ++g) {
    ValueList part = args;
    part[0] = call(b, "narrow", {args[0], 1, g * channels, channels});
    part[1] = call(b, "narrow", {args[1], 0, g * features, features});
    const Value& zero = args[8];
    if (!zero.is_none() && val_of(zero).numel() > 1)
      part[8] = call(b, "narrow", {zero, 0, g * features, features});
    part[6] = 1;
    parts.push_back(call(b, "fxjit.integer_conv", part));
  }
  return call(b, "cat", {Value::list(parts), 1});
}

bool is_by_channel(const ValueList& args) {
  const Tensor w = val_of(args[1]);
  return args[6].as_int() == val_of(args[0]).size(1) &&
         args[6].as_int() == w.size(0) && w.size(2) * w.size(3) <= kMostPlaces;
}

}  // namespace

namespace {

// The sums in the type that is asked for.
Value typed(GraphBuilder& b, const Value& sums, const Value& dtype) {
  const DType wanted = dtype.is_none() ? DType::i32 : dtype.as_dtype();
  if (val_of(sums).dtype() == wanted) return sums;
  return call(b, "cast", {sums, wanted});
}

Value lower_by_channel(GraphBuilder& b, const ValueList& args, Window window,
                       const Tensor& filter) {
  const GraphBuilder::WayScope scope(b, ImageWay::shifted_views);
  const Value &x = args[0], &zero = args[7];
  const Value image = channels_to_back(b, x);
  const Tensor* const known = b.constant_of(zero);
  if (known || zero.is_none()) {
    const Value sums = sums_by_channel(b, with_last_dim_dense(b, image), window,
                                       filter, known ? number_of(*known) : 0);
    return channels_to_front(b, typed(b, sums, args[9]));
  }
  const Value inside =
      with_last_dim_dense(b, padded_by(b, image, window, zero));
  window.before = window.after = {0, 0};
  const Value sums =
      typed(b, sums_by_channel(b, inside, window, filter, 0), Value());
  const Value moved =
      without_zeros(b, sums, {x, zero}, {place_matrix(b, filter), {}});
  return channels_to_front(b, typed(b, moved, args[9]));
}

// The sums of all windows by transforms, [N, OH, OW, O]; none where direct ones
// are better.
Value transformed_sums(GraphBuilder& b, const Value& x, const Value& filter,
                       Window window, const Value& zero) {
  const Dims ones(2, 1);
  if (window.stride != ones || window.dilation != ones) return {};
  Value image = channels_to_back(b, x);
  const Tensor* const known = b.constant_of(zero);
  if (window.is_padded() && !known && !zero.is_none()) {
    image = padded_by(b, image, window, zero);
    window.before = window.after = {0, 0};
  }
  return lower_integer_winograd(b, with_last_dim_dense(b, image), filter,
                                window.before, window.after,
                                known ? number_of(*known) : 0);
}

}  // namespace

Value lower_integer_conv(GraphBuilder& b, const ops::Op&,
                         const ValueList& args) {
  if (!is_taken(b, args)) return {};
  const bool by_channel = args[6].as_int() > 1 && is_by_channel(args);
  if (args[6].as_int() > 1 && !by_channel) return by_groups(b, args);
  const Value &x = args[0], &w = args[1], &zero = args[7];
  const IntegerFactor weight = without_zero(b, {w, args[8]});
  if (!weight.zero.is_none()) return {};
  const Window window{{val_of(w).size(2), val_of(w).size(3)},
                      args[2].as_dims(),
                      args[3].as_dims(),
                      args[4].as_dims(),
                      args[5].as_dims()};
  if (by_channel)
    return lower_by_channel(b, args, window,
                            Tensor(*b.constant_of(weight.numbers)));
  const Value matrix = window_matrix(b, weight.numbers);
  Value sums = transformed_sums(b, x, weight.numbers, window, zero);
  if (sums.is_none()) {
    const Value image =
        with_last_dim_dense(b, padded_image(b, x, window, zero));
    const GraphBuilder::WayScope scope(b, ImageWay::window_rows);
    sums = b.call(contract_op(),
                  {windows_of(b, image, window), Value::list({matrix})});
  }
  const Value moved = without_zeros(b, sums, {x, zero}, {matrix, {}});
  return channels_to_front(b, typed(b, moved, args[9]));
}

}  // namespace fxjit::passes
