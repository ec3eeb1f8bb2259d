// A graph of named sizes, put at sizes, is the graph that the passes make of
// these sizes.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "src/passes/named_graph.h"
#include "src/passes/pipeline.h"
#include "tests/passes/pass_matchers.h"

namespace fxjit::passes {
namespace TEST_FILE {

namespace F = nn::functional;

using Module = nn::Ref<fx::GraphModule>;
using Sizes = std::vector<int64_t>;
// The inputs of a call, for names or numbers.
using Inputs = std::function<ValueList(std::span<const Size>)>;

Tensor weight(const Dims& sizes) { return Tensor::full(sizes, 0.01); }

Value linear(const Value& x, int64_t from, int64_t to) {
  return F::linear(x, weight({to, from}), weight({to}));
}

Value heads(const Value& x, int count, int width) {
  return transpose(unflatten(x, 2, Value::tuple({count, width / count})), 1, 2);
}

Value encoder_layer(const Value& x, bool causal) {
  constexpr int kWidth = 48, kHeads = 4;
  const auto norm = [](const Value& y) {
    return F::layer_norm(y, Dims{kWidth}, weight({kWidth}), weight({kWidth}),
                         1e-5);
  };
  const auto projected = [&](const Value& y) {
    return heads(linear(y, kWidth, kWidth), kHeads, kWidth);
  };
  const Value n = norm(x);
  const Value mixed = F::scaled_dot_product_attention(
      projected(n), projected(n), projected(n), None, 0.0, causal);
  const Value y =
      x + linear(flatten(transpose(mixed, 1, 2), 2), kWidth, kWidth);
  return y + linear(F::gelu(linear(norm(y), kWidth, 4 * kWidth)), 4 * kWidth,
                    kWidth);
}

// Everything of a graph that the planner reads.
void write(const fx::Graph& graph, std::ostream& out) {
  const auto sizes = [&](const Dims& dims) {
    for (const int64_t size : dims) out << ' ' << size;
  };
  for (const fx::Node* node : graph.nodes()) {
    out << node->name();
    for (const Value& arg : node->args())
      visit_leaves(arg, [&](const Value& leaf) {
        if (leaf.is_int()) out << ", " << leaf.as_int();
        if (leaf.is_node()) out << ", " << leaf.as_node()->name();
      });
    visit_leaves(node->val(), [&](const Value& leaf) {
      if (!leaf.is_tensor()) return;
      sizes(leaf.as_tensor().sizes());
      out << " /";
      sizes(leaf.as_tensor().strides());
      out << " at " << int64_t{leaf.as_tensor().offset()};
    });
    out << '\n';
  }
}

std::string text_of(const ModelGraph& model) {
  std::ostringstream out;
  write(*model.graph, out);
  for (const auto& [name, region] : model.regions) {
    out << name << ' ' << static_cast<int>(region.kind) << ' '
        << region.inner_dims << ' ' << region.inner_at;
    for (const int64_t size : region.domain) out << ' ' << size;
    out << '\n';
    write(*region.graph, out);
  }
  return out.str();
}

PipelineOptions serial() {
  PipelineOptions options;
  options.serial = true;
  return options;
}

NamedGraph named_graph(const Module& module, const Inputs& inputs,
                       const Sizes& present) {
  auto table = std::make_unique<SizeTable>();
  const SizeTable::Scope scope(*table);
  std::vector<Size> names;
  for (const int64_t size : present)
    names.push_back(table->name("s" + std::to_string(names.size()), size));
  ModelGraph model = run_pipeline(*module, inputs(names), serial());
  return NamedGraph(std::move(model), std::move(table));
}

// How many of `tuples` the graph named at `present` serves, each as it must.
int served(const Module& module, const Inputs& inputs, const Sizes& present,
           const std::vector<Sizes>& tuples) {
  NamedGraph named = named_graph(module, inputs, present);
  int count = 0;
  for (const Sizes& sizes : tuples) {
    const ModelGraph* const model = named.at(sizes);
    if (!model) continue;
    ++count;
    const std::vector<Size> numbers(sizes.begin(), sizes.end());
    EXPECT_EQ(text_of(*model),
              text_of(run_pipeline(*module, inputs(numbers), serial())))
        << ::testing::PrintToString(sizes);
  }
  return count;
}

std::vector<Sizes> pairs() {
  std::vector<Sizes> result;
  for (const int64_t b : {2, 3, 8, 31, 64})
    for (const int64_t t : {2, 5, 8, 12, 13, 31, 32, 48, 96, 200, 512, 1000})
      result.push_back({b, t});
  return result;
}

Inputs of_shape(const Dims& rest, DType dtype) {
  return [=](std::span<const Size> names) {
    Dims sizes(names);
    for (const Size size : rest) sizes.push_back(size);
    return ValueList{Tensor::meta(sizes, dtype)};
  };
}

TEST(NamedGraph, OfAnEncoder) {
  for (const bool causal : {false, true}) {
    const Module module = fx::symbolic_trace(
        [&](Value x) {
          return encoder_layer(encoder_layer(x, causal), causal);
        },
        {"x"}, "encoder");
    EXPECT_GT(served(module, of_shape({48}, DType::f32), {2, 17}, pairs()), 40);
  }
}

TEST(NamedGraph, OfEmbeddingsAndAMaskedMean) {
  const Module module = fx::symbolic_trace(
      [&](Value ids) {
        Value x = F::embedding(ids, weight({100, 48}));
        x = encoder_layer(x, false);
        const Value mask = method(ne(ids, 0), "to", {DType::f32});
        return sum(x * unsqueeze(mask, -1), Dims{1}) /
               clamp(sum(mask, Dims{1}, true), 1e-9);
      },
      {"ids"}, "embedding");
  EXPECT_GT(served(module, of_shape({}, DType::i64), {2, 17}, pairs()), 25);
}

TEST(NamedGraph, OfAGrowingCache) {
  const Module module = fx::symbolic_trace(
      [&](Value x, Value keys, Value values) {
        const Value k = cat({keys, heads(linear(x, 48, 48), 4, 48)}, 2);
        const Value v = cat({values, heads(linear(x, 48, 48), 4, 48)}, 2);
        const Value mixed = F::scaled_dot_product_attention(
            heads(linear(x, 48, 48), 4, 48), k, v);
        return Value::tuple({flatten(transpose(mixed, 1, 2), 2), k, v});
      },
      {"x", "keys", "values"}, "cache");
  const Inputs inputs = [](std::span<const Size> names) {
    const Tensor cache = Tensor::meta({1, 4, names[0], 12}, DType::f32);
    return ValueList{Tensor::meta({1, 1, 48}, DType::f32), cache, cache};
  };
  EXPECT_GT(served(module, inputs, {17}, {{2}, {3}, {16}, {40}, {1000}}), 3);
}

TEST(NamedGraph, OfSoftmaxAndSlices) {
  const Module module = fx::symbolic_trace(
      [&](Value x) {
        const Value scores = softmax(matmul(x, transpose(x, 1, 2)), -1);
        return Value::tuple(
            {scores, narrow(x, 1, 0, 2), flatten(x, 0, 1), relu(x) + 1});
      },
      {"x"}, "slices");
  EXPECT_GT(served(module, of_shape({16}, DType::f32), {3, 20}, pairs()), 20);
}

TEST(NamedGraph, OfImages) {
  const Module module = fx::symbolic_trace(
      [&](Value x) {
        const Value y = F::relu(F::conv2d(x, weight({8, 3, 3, 3}), None, 2, 1));
        return F::max_pool2d(y, 2);
      },
      {"x"}, "images");
  const Inputs inputs = [](std::span<const Size> names) {
    return ValueList{
        Tensor::meta({names[0], 3, names[1], names[2]}, DType::f32)};
  };
  EXPECT_EQ(served(module, inputs, {2, 32, 40},
                   {{2, 32, 40}, {4, 32, 40}, {2, 48, 40}, {2, 32, 64}}),
            4);
}

TEST(NamedGraph, SaysWhatItAssumed) {
  const Module module = fx::symbolic_trace(
      [&](Value x) { return x + weight({1, 512, 8}); }, {"x"}, "fixed");
  const NamedGraph named =
      named_graph(module, of_shape({8}, DType::f32), {2, 512});
  ASSERT_FALSE(named.table().guards().empty());
  EXPECT_EQ(named.table().guards()[0].text, "s1 == 512");
  EXPECT_THAT(named.table().guards()[0].asker,
              ::testing::HasSubstr("named_graph_test.cpp:"));
}

}  // namespace TEST_FILE
}  // namespace fxjit::passes
