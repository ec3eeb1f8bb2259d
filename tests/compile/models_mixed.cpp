#include <limits>

#include "fxjit/functions.h"
#include "tests/compile/models.h"

namespace fxjit::testing {
namespace {

namespace F = nn::functional;

class Experts : public nn::Custom<Experts> {
 public:
  Experts() : Custom("Experts", {"x"}) {
    gate_ = register_module("gate", nn::Linear::create(8, kExperts, false));
    up_ = register_parameter("up", Tensor::zeros({kExperts, 8, 20}));
    down_ = register_parameter("down", Tensor::zeros({kExperts, 20, 8}));
  }

  Value forward(Value x) {
    const Value shares = softmax(gate_(x), -1);
    const Value best = argmax(shares, -1, true);
    const Value taken = F::one_hot(squeeze(best, -1), kExperts);
    const Value others = masked_fill(shares, method(taken, "bool"),
                                     -std::numeric_limits<double>::infinity());
    const Value chosen = cat({best, argmax(others, -1, true)}, 1);
    Value weights = gather(shares, 1, chosen);
    weights = weights / sum(weights, 1, true);
    const Value spread = scatter(zeros_like(shares), 1, chosen, weights);
    const Value hidden = F::silu(einsum("td,edh->teh", {x, up_.value()}));
    const Value results = einsum("teh,ehd->ted", {hidden, down_.value()});
    return Value::tuple({sum(results * unsqueeze(spread, -1), 1), chosen});
  }

 private:
  static constexpr int64_t kExperts = 4;
  nn::Ref<nn::Linear> gate_;
  nn::Parameter up_, down_;
};

class Interactions : public nn::Custom<Interactions> {
 public:
  Interactions() : Custom("Interactions", {"numbers", "ids"}) {
    dense_ = register_module("dense", nn::Linear::create(3, kDim));
    for (int i = 0; i < kTables; ++i)
      tables_.push_back(register_module("table" + std::to_string(i),
                                        nn::Embedding::create(10, kDim)));
    top_ = register_module("top", nn::Linear::create(kDim + 10, 1));
    first_ = register_buffer("first", pairs(true));
    second_ = register_buffer("second", pairs(false));
  }

  Value forward(Value numbers, Value ids) {
    const Value x = relu(dense_(numbers));
    ValueList features{x};
    for (int64_t i = 0; i < kTables; ++i) {
      const Value bag = getitem(ids, Value::slice(None, None), i);
      features.push_back(sum(tables_[static_cast<size_t>(i)](bag), 1));
    }
    const Value all = stack(Value::list(features), 1);
    const Value products = bmm(all, transpose(all, 1, 2));
    const Value picked =
        getitem(products, Value::slice(None, None), first_, second_);
    return sigmoid(top_(cat({x, picked}, 1)));
  }

 private:
  static constexpr int64_t kDim = 6;
  static constexpr int kTables = 4;

  static Tensor pairs(bool first) {
    std::vector<int64_t> places;
    for (int64_t i = 0; i <= kTables; ++i)
      for (int64_t j = i + 1; j <= kTables; ++j)
        places.push_back(first ? i : j);
    return Tensor::from(places, {static_cast<int64_t>(places.size())});
  }

  nn::Ref<nn::Linear> dense_, top_;
  std::vector<nn::Ref<nn::Embedding>> tables_;
  nn::Buffer first_, second_;
};

class Squeezed : public nn::Custom<Squeezed> {
 public:
  Squeezed() : Custom("Squeezed", {"x"}) {
    const auto conv = [&](const char* name, int64_t in, int64_t out,
                          int64_t size, int64_t groups, bool bias) {
      nn::ConvOptions options;
      options.padding = size / 2;
      options.groups = groups;
      options.bias = bias;
      return register_module(name, nn::Conv2d::create(in, out, size, options));
    };
    expand_ = conv("expand", 4, 12, 1, 1, false);
    norm_ = register_module("norm", nn::BatchNorm2d::create(12));
    deep_ = conv("deep", 12, 12, 5, 12, false);
    less_ = conv("less", 12, 3, 1, 1, true);
    more_ = conv("more", 3, 12, 1, 1, true);
    project_ = conv("project", 12, 4, 1, 1, true);
  }

  Value forward(Value x) {
    Value y = F::hardswish(norm_(expand_(x)));
    y = F::relu6(deep_(y));
    const Value share = more_(F::silu(less_(F::adaptive_avg_pool2d(y, 1))));
    return x + project_(y * F::hardsigmoid(share));
  }

 private:
  nn::Ref<nn::Conv2d> expand_, deep_, less_, more_, project_;
  nn::Ref<nn::BatchNorm2d> norm_;
};

}  // namespace

nn::ModuleRef make_experts() { return Experts::create(); }
nn::ModuleRef make_interactions() { return Interactions::create(); }
nn::ModuleRef make_squeezed() { return Squeezed::create(); }

}  // namespace fxjit::testing
