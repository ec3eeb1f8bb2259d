// Blocks of transformers and recurrent nets.
#include <limits>

#include "tools/kernel_pack/corpus.h"

namespace fxjit::corpus {
namespace {

namespace F = nn::functional;

using Inputs = std::vector<Value>;

// Widths of published models.
constexpr int64_t kHiddenWidths[] = {64,   96,   128,  192,  256,  312,
                               320,  384,  512,  640,  768,  896,
                               1024, 1152, 1280, 1536, 2048, 4096};

// Norms alone and behind additions, whose sum is needed again or not.
void add_norms(Corpus& to, int64_t width, double eps) {
  const auto each = [=] { return weights({width}); };
  const Value shape = Value::tuple({width});
  const std::vector<Tensor> rows(2, floats({4, width}));
  using Norm = std::function<Value(const Value&)>;
  for (const Norm& norm :
       {Norm([=](const Value& x) {
          return F::layer_norm(x, shape, each(), each(), eps);
        }),
        Norm(
            [=](const Value& x) { return F::rms_norm(x, shape, each(), eps); }),
        Norm([=](const Value& x) {
          return each() * (x * rsqrt(mean(pow(x, 2), -1, true) + eps));
        })}) {
    to.add([=](Inputs in) { return norm(in[0]); }, {{rows[0]}});
    to.add([=](Inputs in) { return norm(in[0] + in[1]); }, {rows});
    to.add(
        [=](Inputs in) {
          const Value sum = in[0] + in[1];
          return Value::tuple({sum, norm(sum)});
        },
        {rows});
  }
}

// Token, position and type embeddings, summed and normed (BERT); of tokens and
// positions (GPT).
void add_embeddings(Corpus& to, int64_t width) {
  const Tensor ids = Tensor::meta({1, 4}, DType::i64);
  const auto row = [=](const Value& of) {
    return F::embedding(of, weights({16, width}));
  };
  const Value shape = Value::tuple({width});
  to.add(
      [=](Inputs in) {
        return F::layer_norm(row(in[0]) + row(in[1]) + row(in[2]), shape,
                             weights({width}), weights({width}), 1e-12);
      },
      {{ids, ids, ids}});
  to.add(
      [=](Inputs in) {
        const Value sum = row(in[0]) + weights({1, 4, width});
        return Value::tuple({sum, F::layer_norm(sum, shape, weights({width}),
                                                weights({width}))});
      },
      {{ids}});
  to.add([=](Inputs in) { return row(in[0]) + row(in[1]); }, {{ids, ids}});
  to.add([=](Inputs in) { return row(in[0]); }, {{ids}});
}

// Sentence embeddings: what a mask hides is left out of attention and of the
// mean over the tokens, which is normalized.
void add_pooling(Corpus& to, int64_t width) {
  for (DType type : {DType::i64, DType::f32})
    to.add(
        [](Inputs in) {
          const Value kept = method(in[1], "to", {DType::f32});
          const Value hidden =
              (1.0 - kept) * std::numeric_limits<float>::lowest();
          const Value each = unsqueeze(kept, -1);
          const Value count = clamp(sum(each, 1), 1e-9);
          const Value mean = sum(in[0] * each, 1) / count;
          return Value::tuple({F::normalize(mean, 2.0, 1), hidden});
        },
        {{floats({2, 4, width}), Tensor::meta({2, 4}, type)},
         {floats({1, 16, width}), Tensor::meta({1, 16}, type)}});
}

// An encoder of sentences, of one layer: types and positions are constants, the
// mask is one of attention and of the mean, and what each step reads and writes
// lies as between products.
void add_sentences(Corpus& to, int64_t width) {
  constexpr int64_t kWidest = 1024;
  if (width > kWidest) return;
  const int64_t depth = width % 64 == 0 ? 64 : width % 32 == 0 ? 32 : 26;
  const auto norm = [=](const Value& x) {
    return F::layer_norm(x, Value::tuple({width}), weights({width}),
                         weights({width}), 1e-12);
  };
  const auto linear = [=](const Value& x) {
    return F::linear(x, weights({width, width}), weights({width}));
  };
  for (const auto& [batch, tokens] :
       {std::pair<int64_t, int64_t>{1, 8}, {1, 16}, {2, 16}}) {
    const Dims sizes{batch, tokens, width};
    const auto encoder = [=](Inputs in) {
      const Value kept = method(in[1], "to", {DType::f32});
      const Value hidden = (1.0 - unsqueeze(unsqueeze(kept, 1), 2)) *
                           std::numeric_limits<float>::lowest();
      const Value words = F::embedding(in[0], weights({16, width}));
      const Value x =
          norm(words + weights({width}) + weights({1, tokens, width}));
      const Value heads = transpose(
          reshape(linear(x), {batch, tokens, width / depth, depth}), 1, 2);
      const Value attended = transpose(
          F::scaled_dot_product_attention(heads, heads, heads, hidden), 1, 2);
      const Value y = norm(linear(reshape(attended, sizes)) + x);
      const Value each = unsqueeze(kept, -1);
      const Value count = clamp(sum(each, 1), 1e-9);
      return F::normalize(sum(y * each, 1) / count, 2.0, 1);
    };
    const Tensor ids = Tensor::meta({batch, tokens}, DType::i64);
    to.add(encoder, {{ids, ids}});
  }
}

// Few and many queries, with and without masks.
void add_attention(Corpus& to, int64_t depth) {
  const auto heads = [&](int64_t tokens) {
    return floats({1, 4, tokens, depth});
  };
  for (const auto& [queries, keys] :
       {std::pair{1, 16}, {4, 4}, {4, 16}, {16, 16}, {128, 128}}) {
    const std::vector<Tensor> qkv{heads(queries), heads(keys), heads(keys)};
    for (bool causal : {false, true})
      to.add(
          [=](Inputs in) {
            return F::scaled_dot_product_attention(in[0], in[1], in[2], None,
                                                   None, causal);
          },
          {qkv});
    for (DType type : {DType::f32, DType::boolean})
      for (int64_t rows : {int64_t{1}, int64_t{queries}}) {
        std::vector<Tensor> masked = qkv;
        masked.push_back(Tensor::meta({1, 1, rows, keys}, type));
        to.add(
            [](Inputs in) {
              return F::scaled_dot_product_attention(in[0], in[1], in[2],
                                                     in[3]);
            },
            {masked});
      }
  }
}

// Rotary positions: the halves of each head turned, as Hugging Face's models
// and LLaMA's own code spell it.
void add_rotary(Corpus& to, int64_t depth) {
  const auto halves = [=](const Value& x, const Value& cos, const Value& sin) {
    const Value first = narrow(x, -1, 0, depth / 2);
    const Value second = narrow(x, -1, depth / 2, depth / 2);
    return x * cos + cat(Value::list({neg(second), first}), -1) * sin;
  };
  const Tensor heads = floats({1, 8, 4, depth}), angles = floats({4, depth});
  to.add([=](Inputs in) { return halves(in[0], in[1], in[2]); },
         {{heads, angles, angles}});
  to.add(
      [=](Inputs in) {
        const Value x = transpose(reshape(in[0], {1, 4, 8, depth}), 1, 2);
        return halves(x, in[1], in[2]);
      },
      {{floats({1, 4, 8 * depth}), angles, angles}});
}

void add_recurrent(Corpus& to) {
  const std::vector<Tensor> steps{floats({2, 3, 64})};
  const nn::RecurrentOptions options{.batch_first = true};
  to.add_layer(nn::LSTM::create(64, 64, options), {steps});
  to.add_layer(nn::GRU::create(64, 64, options), {steps});
}

// A softmax over what a head gives.
void add_softmax(Corpus& to) {
  for (int64_t length : {2, 4, 8, 10, 16, 32, 64, 100, 128, 256, 512, 1000}) {
    to.add([](Inputs in) { return softmax(in[0], -1); },
           {{floats({4, length})}});
    to.add([](Inputs in) { return log_softmax(in[0], -1); },
           {{floats({4, length})}});
  }
}

}  // namespace

void add_sequences(Corpus& to) {
  for (int64_t width : kHiddenWidths) {
    for (double eps : {1e-5, 1e-6, 1e-12}) add_norms(to, width, eps);
    add_embeddings(to, width);
    add_pooling(to, width);
    add_sentences(to, width);
  }
  for (int64_t depth : {32, 64, 80, 96, 128}) {
    add_attention(to, depth);
    add_rotary(to, depth);
  }
  add_recurrent(to);
  add_softmax(to);
}

}  // namespace fxjit::corpus
