// Cases of whole layers: volumes, sequences, losses.
#include "tests/cpp_code/cases.h"

namespace fxjit::cpp_cases {
namespace {

struct Volumes : nn::Custom<Volumes> {
  Volumes() : Custom("Volumes", {"x"}) {
    body = register_module(
        "body",
        nn::Sequential::create(
            nn::Conv3d::create(2, 4, Value::tuple({1, 3, 3}),
                               nn::ConvOptions{.padding = "same"}),
            nn::BatchNorm3d::create(4, 1e-3), nn::ReLU6::create(),
            nn::MaxPool3d::create(Value::tuple({1, 2, 2})),
            nn::ConvTranspose3d::create(4, 2, 2, nn::ConvOptions{.groups = 2}),
            nn::AvgPool3d::create(2, 1, 0, true, false, 3),
            nn::AdaptiveAvgPool3d::create(Value::tuple({2, None, 1})),
            nn::Flatten::create(1), nn::SELU::create()));
    eval();
  }
  Value forward(Value x) { return body(x); }
  nn::Ref<nn::Sequential> body;
};

// A stack of each kind over recurrent and pooled lines.
struct Stacks : nn::Custom<Stacks> {
  Stacks() : Custom("Stacks", {"x", "mask"}) {
    const nn::TransformerOptions options{
        .dim_feedforward = 6, .activation = "gelu", .batch_first = true};
    encoder = register_module(
        "encoder", nn::TransformerEncoder::create(
                       nn::TransformerEncoderLayer::create(4, 2, options), 2,
                       nn::LayerNorm::create(4)));
    decoder = register_module(
        "decoder", nn::TransformerDecoder::create(
                       nn::TransformerDecoderLayer::create(4, 2, options), 1));
    gru = register_module(
        "gru",
        nn::GRU::create(
            4, 4, nn::RecurrentOptions{.num_layers = 2, .batch_first = true}));
    attention = register_module("attention",
                                nn::MultiheadAttention::create(
                                    4, 2,
                                    nn::MultiheadOptions{.bias = false,
                                                         .add_bias_kv = true,
                                                         .add_zero_attn = true,
                                                         .vdim = 3,
                                                         .batch_first = true}));
    narrow = register_module("narrow", nn::Bilinear::create(4, 4, 3));
    pool = register_module("pool", nn::AvgPool1d::create(2, 2));
    eval();
  }
  Value forward(Value x, Value mask) {
    const Value memory = encoder(x, mask);
    const Value line = getitem(gru(decoder(x, memory)), 0);
    return pool(getitem(attention(line, memory, narrow(line, x)), 0));
  }
  nn::Ref<nn::TransformerEncoder> encoder;
  nn::Ref<nn::TransformerDecoder> decoder;
  nn::Ref<nn::GRU> gru;
  nn::Ref<nn::MultiheadAttention> attention;
  nn::Ref<nn::Bilinear> narrow;
  nn::Ref<nn::AvgPool1d> pool;
};

struct Losses : nn::Custom<Losses> {
  Losses() : Custom("Losses", {"x", "classes", "y"}) {
    const Tensor weights = (Value(ramp({4})) + 1).as_tensor();
    list = register_module(
        "list",
        nn::ModuleList::create(
            nn::CrossEntropyLoss::create(weights, 2, "sum", 0.1),
            nn::NLLLoss::create(Tensor(), -100, "none"),
            nn::BCEWithLogitsLoss::create(Tensor(), "mean", weights),
            nn::KLDivLoss::create("batchmean", true),
            nn::SmoothL1Loss::create("mean", 0.5), nn::HuberLoss::create(),
            nn::MSELoss::create(), nn::L1Loss::create("sum")));
    triplet = register_module(
        "triplet", nn::TripletMarginLoss::create(0.5, 1, 1e-6, true));
    eval();
  }
  Value forward(Value x, Value classes, Value y) {
    ValueList found;
    for (const auto& [name, loss] : list->children()) {
      const bool of_classes = name == "0" || name == "1";
      found.push_back(loss->call({x, of_classes ? classes : y}));
    }
    found.push_back(triplet(x, y, -y));
    return Value::list(std::move(found));
  }
  nn::Ref<nn::ModuleList> list;
  nn::Ref<nn::TripletMarginLoss> triplet;
};

}  // namespace

nn::Ref<fx::GraphModule> volumes() {
  nn::manual_seed(4);
  return fx::symbolic_trace(Volumes::create());
}

nn::Ref<fx::GraphModule> stacks() {
  nn::manual_seed(5);
  return fx::symbolic_trace(Stacks::create());
}

nn::Ref<fx::GraphModule> losses() {
  return fx::symbolic_trace(Losses::create());
}

}  // namespace fxjit::cpp_cases
