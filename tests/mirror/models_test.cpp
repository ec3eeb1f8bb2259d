// Whole models: their graphs, their code and what they compute.
#include <cmath>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Models)

namespace TEST_FILE {

namespace F = nn::functional;
using fx::symbolic_trace;

class ResidualBlock : public nn::Custom<ResidualBlock> {
 public:
  explicit ResidualBlock(int64_t channels, int64_t stride = 1)
      : Custom("ResidualBlock", {"x"}) {
    const int64_t wide = channels * stride;
    nn::ConvOptions same;
    same.bias = false;
    same.padding = 1;
    nn::ConvOptions options = same;
    options.stride = stride;
    conv1 = register_module("conv1",
                            nn::Conv2d::create(channels, wide, 3, options));
    bn1 = register_module("bn1", nn::BatchNorm2d::create(wide));
    conv2 = register_module("conv2", nn::Conv2d::create(wide, wide, 3, same));
    bn2 = register_module("bn2", nn::BatchNorm2d::create(wide));
    options.padding = 0;
    if (stride != 1)
      downsample = register_module(
          "downsample", nn::Sequential::create(
                            nn::Conv2d::create(channels, wide, 1, options),
                            nn::BatchNorm2d::create(wide)));
    relu = register_module("relu", nn::ReLU::create());
  }
  Value forward(Value x) {
    Value identity = x;
    Value out = relu(bn1(conv1(x)));
    out = bn2(conv2(out));
    if (downsample) identity = downsample(x);
    out += identity;
    return relu(out);
  }
  nn::Ref<nn::Conv2d> conv1, conv2;
  nn::Ref<nn::BatchNorm2d> bn1, bn2;
  nn::Ref<nn::Sequential> downsample;
  nn::Ref<nn::ReLU> relu;
};

class ResNet : public nn::Custom<ResNet> {
 public:
  ResNet() : Custom("ResNet", {"x"}) {
    nn::ConvOptions options;
    options.stride = 2;
    options.padding = 3;
    options.bias = false;
    conv1 = register_module("conv1", nn::Conv2d::create(3, 4, 7, options));
    bn1 = register_module("bn1", nn::BatchNorm2d::create(4));
    relu = register_module("relu", nn::ReLU::create());
    maxpool = register_module("maxpool", nn::MaxPool2d::create(3, 2, 1));
    layer1 = register_module(
        "layer1", nn::Sequential::create(ResidualBlock::create(4),
                                         ResidualBlock::create(4)));
    layer2 = register_module(
        "layer2", nn::Sequential::create(ResidualBlock::create(4, 2),
                                         ResidualBlock::create(8)));
    avgpool = register_module(
        "avgpool", nn::AdaptiveAvgPool2d::create(Value::tuple({1, 1})));
    fc = register_module("fc", nn::Linear::create(8, 5));
  }
  Value forward(Value x) {
    x = maxpool(relu(bn1(conv1(x))));
    x = layer2(layer1(x));
    x = flatten(avgpool(x), 1);
    return fc(x);
  }
  nn::Ref<nn::Conv2d> conv1;
  nn::Ref<nn::BatchNorm2d> bn1;
  nn::Ref<nn::ReLU> relu;
  nn::Ref<nn::MaxPool2d> maxpool;
  nn::Ref<nn::Sequential> layer1, layer2;
  nn::Ref<nn::AdaptiveAvgPool2d> avgpool;
  nn::Ref<nn::Linear> fc;
};

class TransformerBlock : public nn::Custom<TransformerBlock> {
 public:
  TransformerBlock(int64_t width, int64_t heads)
      : Custom("TransformerBlock", {"x"}), heads(heads) {
    norm1 = register_module("norm1", nn::LayerNorm::create(width));
    qkv = register_module("qkv", nn::Linear::create(width, 3 * width));
    proj = register_module("proj", nn::Linear::create(width, width));
    norm2 = register_module("norm2", nn::LayerNorm::create(width));
    up = register_module("up", nn::Linear::create(width, 4 * width));
    down = register_module("down", nn::Linear::create(4 * width, width));
  }
  Value forward(Value x) {
    const Value b = method(x, "size", {0});
    const Value t = method(x, "size", {1});
    const Value c = method(x, "size", {2});
    const Value joined =
        method(qkv(norm1(x)), "chunk", {3}, {{"dim", -1}});
    const auto parts = fx::unpack(joined, 3);
    const Value depth = operators::floordiv(c, heads);
    ValueList split;
    for (const Value& part : parts)
      split.push_back(method(method(part, "view", {b, t, heads, depth}),
                             "transpose", {1, 2}));
    Value scores = operators::matmul(
        split[0], method(split[1], "transpose", {-2, -1}));
    scores = scores / std::sqrt(8.0);
    Value y = operators::matmul(F::softmax(scores, -1), split[2]);
    y = method(method(y, "transpose", {1, 2}), "contiguous");
    y = method(y, "view", {b, t, c});
    x = x + proj(y);
    return x + down(F::gelu(up(norm2(x))));
  }
  const int64_t heads;
  nn::Ref<nn::LayerNorm> norm1, norm2;
  nn::Ref<nn::Linear> qkv, proj, up, down;
};

class Mlp : public nn::Custom<Mlp> {
 public:
  Mlp() : Custom("Mlp", {"batch", {"scale", 1.0}}) {
    hidden = register_module(
        "hidden", nn::ModuleDict::create({{"wide", nn::Linear::create(4, 8)},
                                          {"deep", nn::Linear::create(6, 8)}}));
    out = register_module("out", nn::Linear::create(8, 3));
  }
  Value forward(Value batch, Value scale) {
    const Value wide = relu((*hidden)["wide"](getitem(batch, "wide")));
    const Value deep = tanh((*hidden)["deep"](getitem(batch, "deep")));
    const Value both = (wide + deep) * scale;
    return Value::dict({{"logits", out(both)},
                        {"hidden", Value::tuple({both, wide})}});
  }
  nn::Ref<nn::ModuleDict> hidden;
  nn::Ref<nn::Linear> out;
};

class Classifier : public nn::Custom<Classifier> {
 public:
  Classifier() : Custom("Classifier", {"tokens", "mask"}) {
    embedding = register_module("embedding", nn::Embedding::create(10, 6));
    norm = register_module("norm", nn::LayerNorm::create(6));
    dropout = register_module("dropout", nn::Dropout::create(0.1));
    fc = register_module("fc", nn::Linear::create(6, 4));
  }
  Value forward(Value tokens, Value mask) {
    const Value x = dropout(norm(embedding(tokens)));
    const Value weight =
        method(method(mask, "unsqueeze", {-1}), "to", {DType::f32});
    const Value total = method(x * weight, "sum", {1});
    const Value count =
        method(method(weight, "sum", {1}), "clamp", {}, {{"min", 1e-9}});
    return log_softmax(fc(total / count), -1);
  }
  nn::Ref<nn::Embedding> embedding;
  nn::Ref<nn::LayerNorm> norm;
  nn::Ref<nn::Dropout> dropout;
  nn::Ref<nn::Linear> fc;
};

class Autoencoder : public nn::Custom<Autoencoder> {
 public:
  Autoencoder() : Custom("Autoencoder", {"x"}) {
    nn::ConvOptions half;
    half.stride = 2;
    half.padding = 1;
    nn::ConvOptions grouped = half;
    grouped.groups = 2;
    encoder = register_module(
        "encoder",
        nn::Sequential::create(nn::Conv2d::create(1, 4, 3, half),
                               nn::SiLU::create(), nn::GroupNorm::create(2, 4),
                               nn::Conv2d::create(4, 8, 3, grouped)));
    nn::ConvOptions twice;
    twice.stride = 2;
    decoder = register_module(
        "decoder", nn::Sequential::create(
                       nn::ConvTranspose2d::create(8, 4, 2, twice),
                       nn::LeakyReLU::create(0.1),
                       nn::ConvTranspose2d::create(4, 1, 2, twice),
                       nn::Sigmoid::create()));
  }
  Value forward(Value x) {
    const Value code = encoder(x);
    const Value image = decoder(code);
    return Value::tuple(
        {image, method(method(code, "flatten", {1}), "mean", {-1})});
  }
  nn::Ref<nn::Sequential> encoder, decoder;
};

class Cell : public nn::Custom<Cell> {
 public:
  Cell() : Custom("Cell", {"x", "h"}) {
    inputs = register_module("inputs", nn::Linear::create(3, 12));
    state = register_module("state", nn::Linear::create(4, 12));
  }
  Value forward(Value x, Value h) {
    const Value gi = inputs(x);
    const Value gh = state(h);
    const auto i = fx::unpack(method(gi, "chunk", {3, 1}), 3);
    const auto s = fx::unpack(method(gh, "chunk", {3, 1}), 3);
    const Value r = sigmoid(i[0] + s[0]);
    const Value z = sigmoid(i[1] + s[1]);
    const Value a = tanh(i[2] + r * s[2]);
    return a + z * (h - a);
  }
  nn::Ref<nn::Linear> inputs, state;
};

class Rnn : public nn::Custom<Rnn> {
 public:
  Rnn() : Custom("Rnn", {"x", "h"}) {
    cell = register_module("cell", Cell::create());
  }
  Value forward(Value x, Value h) {
    ValueList out;
    for (int t = 0; t < 3; ++t) {
      h = cell(getitem(x, Value::slice(None, None), t), h);
      out.push_back(h);
    }
    return stack(Value::list(out), 1);
  }
  nn::Ref<Cell> cell;
};

MIRROR_CASE(Models, resnet) {
  const auto gm = symbolic_trace(filled(ResNet::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3, 32, 32})}, {.relative = 1e-4});
}

MIRROR_CASE(Models, transformer) {
  const auto gm = symbolic_trace(filled(TransformerBlock::create(16, 2)));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 5, 16})}, {.absolute = 1e-5});
}

MIRROR_CASE(Models, mlp_with_dicts) {
  const auto gm = symbolic_trace(filled(Mlp::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  expect_outputs(
      gm, {Value::dict({{"wide", fill({3, 4})}, {"deep", fill({3, 6}, 1)}})});
  expect_outputs(
      gm,
      {Value::dict({{"wide", fill({2, 4})}, {"deep", fill({2, 6}, 1)}}), 0.5});
}

MIRROR_CASE(Models, embedding_classifier) {
  const auto gm = symbolic_trace(filled(Classifier::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm,
                 {fill({2, 7}, 3, DType::i64), fill({2, 7}, 1, DType::boolean)});
}

MIRROR_CASE(Models, convolutional_autoencoder) {
  const auto gm = symbolic_trace(filled(Autoencoder::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 1, 8, 8})});
}

MIRROR_CASE(Models, gated_recurrence) {
  const auto gm = symbolic_trace(filled(Rnn::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3, 3}), fill({2, 4}, 2)});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
