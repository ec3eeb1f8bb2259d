#include <cmath>

#include "fxjit/functions.h"
#include "tests/compile/models.h"

namespace fxjit::testing {
namespace {

namespace F = nn::functional;

const Value kAll = Value::slice(None, None);

Value from(int64_t start, int64_t step) {
  return Value::slice(start, None, step);
}

class WindowBlock : public nn::Custom<WindowBlock> {
 public:
  static constexpr int64_t kSide = 8, kWindow = 4, kDim = 8, kHeads = 2;
  static constexpr int64_t kTokens = kWindow * kWindow, kPer = kSide / kWindow;

  explicit WindowBlock(int64_t shift)
      : Custom("WindowBlock", {"x"}), shift_(shift) {
    norm_ = register_module("norm", nn::LayerNorm::create(kDim));
    qkv_ = register_module("qkv", nn::Linear::create(kDim, 3 * kDim));
    proj_ = register_module("proj", nn::Linear::create(kDim, kDim));
    table_ = register_parameter("table", Tensor::zeros({49, kHeads}));
    places_ = register_buffer("places", places());
    mask_ = register_buffer("mask", mask());
  }

  Value forward(Value x) {
    const Value batch = method(x, "size", {0});
    Value y = method(norm_(x), "view", {batch, kSide, kSide, kDim});
    if (shift_) y = roll(y, {-shift_, -shift_}, {1, 2});
    y = method(y, "view", {batch, kPer, kWindow, kPer, kWindow, kDim});
    y = method(permute(y, {0, 1, 3, 2, 4, 5}), "reshape", {-1, kTokens, kDim});
    y = proj_(attended(y, batch));
    y = method(y, "view", {batch, kPer, kPer, kWindow, kWindow, kDim});
    y = method(permute(y, {0, 1, 3, 2, 4, 5}), "reshape",
               {batch, kSide, kSide, kDim});
    if (shift_) y = roll(y, {shift_, shift_}, {1, 2});
    return x + method(y, "view", {batch, kSide * kSide, kDim});
  }

 private:
  Value attended(const Value& windows, const Value& batch) {
    const Value heads =
        permute(method(qkv_(windows), "reshape", {-1, kTokens, 3, kHeads, 4}),
                {2, 0, 3, 1, 4});
    const Value parts = unbind(heads, 0);
    const Value q = getitem(parts, 0) * 0.5, k = getitem(parts, 1);
    Value scores = matmul(q, transpose(k, -2, -1));
    const Value bias = getitem(table_, method(places_, "view", {-1}));
    scores =
        scores + unsqueeze(permute(method(bias, "view", {kTokens, kTokens, -1}),
                                   {2, 0, 1}),
                           0);
    if (shift_) {
      scores = method(scores, "view",
                      {batch, kPer * kPer, kHeads, kTokens, kTokens}) +
               unsqueeze(unsqueeze(mask_, 1), 0);
      scores = method(scores, "view", {-1, kHeads, kTokens, kTokens});
    }
    const Value mixed = matmul(F::softmax(scores, -1), getitem(parts, 2));
    return method(transpose(mixed, 1, 2), "reshape", {-1, kTokens, kDim});
  }

  static Tensor places() {
    const Tensor made = Tensor::empty({kTokens, kTokens}, DType::i64);
    int64_t* next = made.data_as<int64_t>();
    for (int64_t i = 0; i < kTokens; ++i)
      for (int64_t j = 0; j < kTokens; ++j)
        *next++ = (i / 4 - j / 4 + 3) * 7 + i % 4 - j % 4 + 3;
    return made;
  }

  // -100 between tokens that were not neighbours before the shift.
  static Tensor mask() {
    const Tensor made = Tensor::zeros({kPer * kPer, kTokens, kTokens});
    const auto part = [](int64_t at) { return at < 4 ? 0 : at < 6 ? 1 : 2; };
    float* next = made.data_as<float>();
    for (int64_t w = 0; w < kPer * kPer; ++w) {
      const auto region = [&](int64_t t) {
        return part(w / kPer * kWindow + t / kWindow) * 3 +
               part(w % kPer * kWindow + t % kWindow);
      };
      for (int64_t i = 0; i < kTokens; ++i)
        for (int64_t j = 0; j < kTokens; ++j)
          *next++ = region(i) == region(j) ? 0.0f : -100.0f;
    }
    return made;
  }

  int64_t shift_;
  nn::Ref<nn::LayerNorm> norm_;
  nn::Ref<nn::Linear> qkv_, proj_;
  nn::Parameter table_;
  nn::Buffer places_, mask_;
};

class Windows : public nn::Custom<Windows> {
 public:
  Windows() : Custom("Windows", {"x"}) {
    plain_ = register_module("plain", WindowBlock::create(0));
    shifted_ = register_module("shifted", WindowBlock::create(2));
    merge_ = register_module("merge", nn::Linear::create(32, 16, false));
  }
  Value forward(Value x) {
    const Value batch = method(x, "size", {0});
    x = method(shifted_(plain_(x)), "view", {batch, 8, 8, 8});
    ValueList parts;
    for (auto [row, column] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}})
      parts.push_back(getitem(x, kAll, from(row, 2), from(column, 2), kAll));
    return merge_(method(cat(Value::list(parts), -1), "view", {batch, -1, 32}));
  }
  nn::Ref<WindowBlock> plain_, shifted_;
  nn::Ref<nn::Linear> merge_;
};

class RmsNorm : public nn::Custom<RmsNorm> {
 public:
  explicit RmsNorm(int64_t size) : Custom("RmsNorm", {"x"}) {
    weight_ = register_parameter("weight", Tensor::full({size}, 1));
  }
  Value forward(Value x) {
    return weight_ * (x * rsqrt(mean(pow(x, 2), -1, true) + 1e-6));
  }
  nn::Parameter weight_;
};

class Rotary : public nn::Custom<Rotary> {
 public:
  static constexpr int64_t kDim = 16, kHeads = 4, kKeys = 2, kDepth = 4;

  Rotary() : Custom("Rotary", {"ids"}) {
    const auto linear = [&](const char* name, int64_t in, int64_t out) {
      return register_module(name, nn::Linear::create(in, out, false));
    };
    tokens_ = register_module("tokens", nn::Embedding::create(20, kDim));
    first_ = register_module("first", RmsNorm::create(kDim));
    q_ = linear("q", kDim, kDim);
    k_ = linear("k", kDim, kKeys * kDepth);
    v_ = linear("v", kDim, kKeys * kDepth);
    o_ = linear("o", kDim, kDim);
    second_ = register_module("second", RmsNorm::create(kDim));
    gate_ = linear("gate", kDim, 24);
    up_ = linear("up", kDim, 24);
    down_ = linear("down", 24, kDim);
    cosines_ = register_buffer("cosines", angles(std::cos));
    sines_ = register_buffer("sines", angles(std::sin));
  }

  Value forward(Value ids) {
    Value x = tokens_(ids);
    x = x + attended(first_(x));
    const Value y = second_(x);
    x = x + down_(F::silu(gate_(y)) * up_(y));
    return F::linear(x, tokens_->weight);
  }

 private:
  Value attended(const Value& x) {
    const Value batch = method(x, "size", {0}), length = method(x, "size", {1});
    const auto heads = [&](const Value& y, int64_t count) {
      return transpose(method(y, "view", {batch, length, count, kDepth}), 1, 2);
    };
    const Value until = Value::slice(None, length);
    const Value cosines = getitem(cosines_, until);
    const Value sines = getitem(sines_, until);
    const auto rotated = [&](const Value& y) {
      const Value half = cat({-getitem(y, Ellipsis, from(2, 1)),
                              getitem(y, Ellipsis, Value::slice(None, 2))},
                             -1);
      return y * cosines + half * sines;
    };
    const Value k = rotated(heads(k_(x), kKeys));
    const Value mixed = F::scaled_dot_product_attention(
        rotated(heads(q_(x), kHeads)), repeat_interleave(k, 2, 1),
        repeat_interleave(heads(v_(x), kKeys), 2, 1), None, None, true);
    return o_(method(transpose(mixed, 1, 2), "reshape", {batch, length, kDim}));
  }

  static Tensor angles(double (*wave)(double)) {
    const Tensor made = Tensor::empty({10, kDepth});
    for (int64_t i = 0; i < made.numel(); ++i)
      made.data_as<float>()[i] =
          static_cast<float>(wave(double(i / 4) / (i % 2 ? 100.0 : 1.0)));
    return made;
  }

  nn::Ref<nn::Embedding> tokens_;
  nn::Ref<RmsNorm> first_, second_;
  nn::Ref<nn::Linear> q_, k_, v_, o_, gate_, up_, down_;
  nn::Buffer cosines_, sines_;
};

class Buckets : public nn::Custom<Buckets> {
 public:
  static constexpr int64_t kDim = 8, kHeads = 2, kBuckets = 8;

  Buckets() : Custom("Buckets", {"ids", "mask"}) {
    tokens_ = register_module("tokens", nn::Embedding::create(20, kDim));
    qkv_ = register_module("qkv", nn::Linear::create(kDim, 3 * kDim, false));
    distances_ =
        register_module("distances", nn::Embedding::create(kBuckets, kHeads));
  }

  Value forward(Value ids, Value mask) {
    const Value x = tokens_(ids);
    const Value batch = method(x, "size", {0}), length = method(x, "size", {1});
    const auto head = [&](const Value& y) {
      return transpose(method(y, "view", {batch, length, kHeads, 4}), 1, 2);
    };
    const Value parts = chunk(qkv_(x), 3, -1);
    Value scores = matmul(head(getitem(parts, 0)),
                          transpose(head(getitem(parts, 1)), 3, 2));
    scores = scores + bias(length);
    scores = scores + (1.0 - getitem(mask, kAll, None, None, kAll)) * -1e9;
    const Value mixed = matmul(F::softmax(scores, -1), head(getitem(parts, 2)));
    return method(transpose(mixed, 1, 2), "reshape", {batch, length, kDim});
  }

 private:
  Value bias(const Value& length) {
    const int64_t side = kBuckets / 2, exact = side / 2;
    const Value distance = getitem(arange(length), None, kAll) -
                           getitem(arange(length), kAll, None);
    const Value far = fxjit::abs(distance);
    Value steps =
        log(method(far, "float") / exact) / std::log(8.0) * (side - exact);
    steps = method(steps, "to", {DType::i64}) + exact;
    steps = min(steps, full_like(steps, side - 1));
    const Value bucket = method(distance > 0, "to", {DType::i64}) * side +
                         where(far < exact, far, steps);
    return unsqueeze(permute(distances_(bucket), {2, 0, 1}), 0);
  }

  nn::Ref<nn::Embedding> tokens_, distances_;
  nn::Ref<nn::Linear> qkv_;
};

}  // namespace

nn::ModuleRef make_windows() { return Windows::create(); }
nn::ModuleRef make_rotary() { return Rotary::create(); }
nn::ModuleRef make_buckets() { return Buckets::create(); }

}  // namespace fxjit::testing
