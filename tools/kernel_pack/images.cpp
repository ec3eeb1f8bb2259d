// Blocks of convolutional nets.
#include <utility>

#include "tools/kernel_pack/corpus.h"

namespace fxjit::corpus {
namespace {

namespace F = nn::functional;

using Inputs = std::vector<Value>;

Value conv(const Value& x, int64_t in, int64_t out, int64_t window,
           int64_t groups = 1) {
  return F::conv2d(x, weights({out, in / groups, window, window}),
                   weights({out}), 1, window / 2, 1, groups);
}

Value batch_norm(const Value& x, int64_t channels) {
  const auto each = [&] { return weights({channels}); };
  return F::batch_norm(x, each(), each(), each(), each());
}

std::vector<std::vector<Tensor>> images(int64_t channels, int count = 1) {
  std::vector<std::vector<Tensor>> shapes;
  for (int64_t side : {7, 8, 14, 16, 28, 32, 56, 64})
    shapes.emplace_back(count, floats({1, channels, side, side}));
  return shapes;
}

Value conv_without_bias(const Value& x, int64_t in, int64_t out,
                        int64_t window) {
  return F::conv2d(x, weights({out, in, window, window}), None, 1, window / 2);
}

// 3x3 windows, transformed where that takes less time.
void add_windows(Corpus& to) {
  using Tail = std::function<Value(const Value&, const Value&)>;
  const std::vector<Tail> tails = {
      [](const Value& x, const Value&) { return x; },
      [](const Value& x, const Value&) { return relu(x); },
      [](const Value& x, const Value&) { return F::silu(x); },
      [](const Value& x, const Value&) { return F::leaky_relu(x, 0.1); },
      [](const Value& x, const Value& y) { return x + y; },
      [](const Value& x, const Value& y) { return y + x; },
      [](const Value& x, const Value& y) { return relu(x + y); },
  };
  for (const Tail& tail : tails)
    for (int64_t channels : {64, 128, 512})
      to.add(
          [=](Inputs in) {
            const Value plain = conv_without_bias(in[0], channels, channels, 3);
            return Value::tuple(
                {tail(conv(in[0], channels, channels, 3), in[1]),
                 tail(plain, in[1])});
          },
          {{floats({1, channels, 7, 7}), floats({1, channels, 7, 7})},
           {floats({1, channels, 28, 28}), floats({1, channels, 28, 28})}});
}

// 3x3 windows over images whose sides are powers of two; images with sides of 7
// and 28 are cut into other tiles. One has few channels, one has weights larger
// than a cache.
void add_windows_of_powers(Corpus& to) {
  using Tail = std::function<Value(const Value&)>;
  const std::vector<Tail> tails = {
      [](const Value& x) { return x; },
      [](const Value& x) { return relu(x); },
      [](const Value& x) { return F::silu(x); },
  };
  const std::vector<std::pair<int64_t, int64_t>> channels = {
      {16, 16}, {16, 32}, {32, 16}, {32, 32}, {128, 128}};
  for (const Tail& tail : tails)
    for (const auto& [in, out] : channels)
      to.add([=](Inputs x) { return tail(conv(x[0], in, out, 3)); },
             {{floats({1, in, 64, 64})}});
}

// Epilogues of convolutions that the C++ loops do not know and that are
// generated: for rows of places, and for single places where another
// convolution reads the result.
void add_generated_work(Corpus& to) {
  using Work = std::function<Value(const Value&)>;
  const std::vector<Work> works = {
      [](const Value& x) { return F::gelu(x); },
      [](const Value& x) { return F::mish(x); },
      [](const Value& x) { return F::elu(x); },
      [](const Value& x) { return tanh(x); },
  };
  constexpr int64_t kChannels = 64;
  for (const Work& work : works)
    for (bool depthwise : {false, true})
      to.add(
          [=](Inputs in) {
            const Value sums =
                conv(in[0], kChannels, kChannels, depthwise ? 3 : 5,
                     depthwise ? kChannels : 1);
            return conv(work(sums), kChannels, 24, 1);
          },
          {{floats({1, kChannels, 28, 28})}});
}

// Squeeze and excitation, as EfficientNet and MobileNetV3 have it.
void add_excitation(Corpus& to) {
  const auto block = [](int64_t channels, bool hard) {
    return [=](Inputs in) {
      const Value x = F::silu(conv(in[0], channels, channels, 3, channels));
      Value s = hard ? F::adaptive_avg_pool2d(x, 1)
                     : mean(x, Value::tuple({2, 3}), true);
      s = conv(s, channels, 8, 1);
      s = conv(hard ? relu(s) : F::silu(s), 8, channels, 1);
      return conv(x * (hard ? F::hardsigmoid(s) : sigmoid(s)), channels, 24, 1);
    };
  };
  for (int64_t channels : {32, 40, 72, 96})
    for (bool hard : {false, true})
      to.add(block(channels, hard), images(channels));
}

// Means over all places, whose code depends on how many vectors are left of the
// channels.
void add_means(Corpus& to) {
  const auto means = [](Inputs in) {
    const Value x = flatten(F::adaptive_avg_pool2d(in[0], 1), 1);
    return Value::tuple({x, mean(in[0], Value::tuple({2, 3}), true)});
  };
  for (int64_t channels = 8; channels <= 512; channels += 8)
    to.add(
        [=](Inputs in) {
          return means({conv(in[0], channels, channels, 3, channels)});
        },
        {{floats({1, channels, 7, 7})}});
}

// Norms before convolutions, what they give joined (DenseNet).
void add_dense(Corpus& to) {
  for (int64_t channels : {32, 64})
    to.add(
        [=](Inputs in) {
          const Value n = relu(batch_norm(in[0], channels));
          const Value y = conv_without_bias(n, channels, 32, 3);
          const Value z = cat(Value::list({in[0], y}), 1);
          const Value w = relu(batch_norm(z, channels + 32));
          return F::avg_pool2d(conv_without_bias(w, channels + 32, 16, 1), 2);
        },
        images(channels));
}

// Group norms, upsampling and joining (U-Net).
void add_unet(Corpus& to) {
  for (int64_t channels : {32, 64, 128, 256})
    for (int64_t groups : {8, 32})
      to.add(
          [=](Inputs in) {
            const Value x = conv(in[0], channels, channels, 3);
            Value y = F::silu(F::group_norm(x, groups, weights({channels}),
                                            weights({channels})));
            y = F::max_pool2d(conv(y, channels, channels, 3), 2);
            y = F::interpolate(y, None, 2, "nearest");
            return conv(cat(Value::list({y, x}), 1), 2 * channels, 16, 3);
          },
          {{floats({1, channels, 16, 16})}, {floats({1, channels, 32, 32})}});
}

// Depthwise windows, norms of channels, products (ConvNeXt).
void add_convnext(Corpus& to) {
  for (int64_t channels : {96, 128, 192, 256, 384, 768})
    to.add(
        [=](Inputs in) {
          const auto each = [=] { return weights({channels}); };
          const Value x = conv(in[0], 8, channels, 1);
          Value y = conv(x, channels, channels, 7, channels);
          y = permute(y, Value::tuple({0, 2, 3, 1}));
          y = F::layer_norm(y, Value::tuple({channels}), each(), each(), 1e-6);
          y = F::gelu(F::linear(y, weights({4 * channels, channels}),
                                weights({4 * channels})));
          y = F::linear(y, weights({channels, 4 * channels}), each());
          return x + permute(each() * y, Value::tuple({0, 3, 1, 2}));
        },
        images(8));
}

}  // namespace

void add_images(Corpus& to) {
  add_windows(to);
  add_windows_of_powers(to);
  add_generated_work(to);
  add_excitation(to);
  add_means(to);
  add_dense(to);
  add_unet(to);
  add_convnext(to);
}

}  // namespace fxjit::corpus
