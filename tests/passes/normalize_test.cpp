// Normalised and lowered graphs: canonical calls, sizes as numbers, merged and
// folded calls, decompositions, views.
#include "src/passes/normalize.h"

#include "src/passes/lowering/lower.h"
#include "src/passes/pipeline.h"
#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

using passes::ModelGraph;
using ::testing::AllOf;
using testing::calls;
using testing::evaluate;
using ::testing::UnorderedElementsAre;

template <typename F>
ModelGraph normalized(F f, const ValueList& inputs) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs.size(); ++i)
    names.emplace_back("x" + std::to_string(i));
  const auto gm = fx::symbolic_trace(f, nn::Signature(names), "f");
  ModelGraph model = passes::normalize(*gm, inputs);
  passes::verify(model);
  return model;
}

template <typename F>
ModelGraph lowered(F f, const ValueList& inputs) {
  ModelGraph model = passes::lower(normalized(f, inputs));
  passes::verify(model);
  return model;
}

const Tensor kX = random_tensor({4, 6});
const Tensor kTurned = random_tensor({6, 4}).as_strided({4, 6}, {1, 4}, 0);

TEST(Normalize, EverySpellingIsOneCall) {
  EXPECT_THAT(calls(normalized(
                  [](Value x) {
                    return relu(x) + function("F.relu", {x}) +
                           method(x, "relu") + function("torch.add", {x, x}) +
                           function("operator.add", {x, x});
                  },
                  {kX})),
              UnorderedElementsAre("relu", "add", "add", "add", "add", "add"));
}

TEST(Normalize, LeafModulesAreTheirCalls) {
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      up = register_module("up", nn::Linear::create(6, 8));
      norm = register_module("norm", nn::LayerNorm::create(8));
      act = register_module("act", nn::GELU::create());
    }
    Value forward(Value x) { return act(norm(up(x))); }
    nn::Ref<nn::Linear> up;
    nn::Ref<nn::LayerNorm> norm;
    nn::Ref<nn::GELU> act;
  };
  const auto gm = fx::symbolic_trace(Net::create());
  const ValueList inputs{kX};
  EXPECT_THAT(calls(passes::normalize(*gm, inputs)),
              ElementsAre("linear", "layer_norm", "gelu"));
  EXPECT_EQ(wrong_result(run_passes(gm, inputs)), "");
}

TEST(Normalize, SizesAreNumbers) {
  const ModelGraph model = normalized(
      [](Value x) {
        return view(x, {getitem(method(x, "size"), 0), 2, 3}) +
               getitem(method(x, "size"), 1);
      },
      {kX});
  EXPECT_THAT(calls(model), ElementsAre("add"));
  EXPECT_EQ(evaluate(model, {kX}).as_tensor().sizes(), (Dims{4, 2, 3}));
}

TEST(Normalize, EqualCallsAreMerged) {
  EXPECT_THAT(
      calls(normalized([](Value x) { return exp(x) * 2 + exp(x) * 2; }, {kX})),
      ElementsAre("exp", "mul", "add"));
}

TEST(Normalize, CallsWithOtherArgumentsAreNot) {
  const auto f = [](Value x) {
    return Value::tuple({x / 0.0, x / -0.0, x * 1, x * 1.0, x + true});
  };
  const auto passed = run_passes(f, {random_tensor({3})});
  EXPECT_THAT(calls(normalized(f, {kX})),
              ElementsAre("div", "div", "mul", "mul", "add"));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(Normalize, DeadCallsAreDropped) {
  EXPECT_THAT(calls(normalized(
                  [](Value x) {
                    softmax(x, -1);
                    return tanh(x);
                  },
                  {kX})),
              ElementsAre("tanh"));
}

TEST(Normalize, CallsOnConstantsAreComputed) {
  const Tensor weight = random_tensor({8, 6});
  const auto f = [&](Value x) {
    return F::linear(x, Value(weight) * 2) + zeros({8}) + arange(8);
  };
  EXPECT_THAT(calls(normalized(f, {kX})), ElementsAre("linear", "add", "add"));
  EXPECT_EQ(wrong_result(run_passes(f, {kX})), "");
}

TEST(Normalize, ViewsOfConstantsAreMerged) {
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      weight = register_parameter("weight", random_tensor({6, 8}));
    }
    Value forward(Value x) {
      return F::linear(x, transpose(weight, 0, 1)) +
             relu(F::linear(x, transpose(weight, 0, 1)));
    }
    nn::Parameter weight;
  };
  const auto gm = fx::symbolic_trace(Net::create());
  const ValueList inputs{kX};
  EXPECT_THAT(calls(passes::normalize(*gm, inputs)),
              ElementsAre("linear", "relu", "add"));
}

// A parameter may be part of a larger block of memory, and too large to copy.
TEST(Normalize, ConstantsThatStartWithinTheirMemory) {
  const Tensor block = random_tensor({3, 600, 600});
  const Tensor weight = block.as_strided({600, 600}, {600, 1}, 360000);
  const auto f = [&](Value x) {
    const Value w = reshape(Value(weight), {300, 1200});
    return x + getitem(w, Value(7), Value::slice(0, 6));
  };
  EXPECT_EQ(wrong_result(run_passes(f, {kX})), "");
}

TEST(Normalize, ContiguousCopiesAreKeptForViews) {
  const auto f = [](Value x) {
    return view(method(transpose(x, 0, 1), "contiguous"), {24}) * 2;
  };
  EXPECT_EQ(wrong_result(run_passes(f, {kX})), "");
}

TEST(Normalize, ResultsKeepTheirOrderInMemory) {
  EXPECT_EQ(
      wrong_result(run_passes(
          [](Value x) { return method(transpose(x, 0, 1), "contiguous"); },
          {kX})),
      "");
  EXPECT_EQ(wrong_result(run_passes(
                [](Value x) {
                  return index_select(x, 1, Value(random_index({3}, 6)));
                },
                {kX})),
            "");
}

TEST(Normalize, InputsInContainers) {
  const auto f = [](Value pair, Value named) {
    return getitem(pair, 0) + getitem(pair, 1) * getitem(named, "scale");
  };
  const ValueList inputs{
      Value::tuple({kX, random_tensor({4, 6}, 2)}),
      Value::dict({{Value("scale"), Value(random_tensor({6}, 3))}})};
  EXPECT_EQ(wrong_result(run_passes(f, inputs)), "");
}

TEST(Normalize, PlainResults) {
  const auto passed = run_passes(
      [](Value x) {
        return Value::list(
            {method(x, "size"), method(x, "dim"), Value(2.5), relu(x)});
      },
      {kX});
  EXPECT_EQ(wrong_result(passed), "");
}

// --- What compiled graphs cannot hold. ---

template <typename F>
std::string refusal(F f, const ValueList& inputs) {
  try {
    normalized(f, inputs);
  } catch (const NotImplementedError& error) {
    return error.what();
  }
  return "";
}

TEST(Normalize, RefusesCallsThatWrite) {
  // Views of inputs in another order are not followed.
  EXPECT_THAT(
      refusal([](Value x) { return method(x, "add_", {1}); }, {kTurned}),
      AllOf(HasSubstr("%add_"), HasSubstr("in place"),
            HasSubstr("normalize_test.cpp")));
  EXPECT_THAT(
      refusal(
          [](Value x) { return function("F.relu", {x}, {{"inplace", true}}); },
          {kTurned}),
      HasSubstr("in place"));
}

TEST(Normalize, RefusesModulesThatWrite) {
  class Leaf : public nn::Custom<Leaf, nn::LeafModule> {
   public:
    Leaf() : Custom("Leaf", {"x"}) {}
    Value forward(Value x) {
      return function("F.relu", {x}, {{"inplace", true}});
    }
  };
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      act = register_module("act", Leaf::create());
    }
    Value forward(Value x) { return act(x); }
    nn::Ref<Leaf> act;
  };
  const auto gm = fx::symbolic_trace(Net::create());
  const ValueList inputs{kTurned};
  EXPECT_THROW(passes::normalize(*gm, inputs), NotImplementedError);
}

TEST(Normalize, ShapeErrorsNameNodeAndLine) {
  try {
    normalized([](Value x, Value y) { return matmul(x, y); },
               {kX, random_tensor({5, 3})});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.context().op, "matmul");
    EXPECT_EQ(error.context().node, "matmul");
    EXPECT_THAT(error.what(), HasSubstr("4x6 and 5x3"));
    EXPECT_THAT(error.what(), HasSubstr("normalize_test.cpp"));
  }
}

// --- Lowering. ---

TEST(Lower, CompositesBecomeScalarsAndReductions) {
  EXPECT_THAT(calls(lowered([](Value x) { return softmax(x, -1); }, {kX})),
              ElementsAre("amax", "sub", "exp", "sum", "div"));
}

TEST(Lower, ProductsBecomeContractions) {
  const Tensor weight = random_tensor({8, 6}), bias = random_tensor({8});
  EXPECT_THAT(
      calls(lowered([&](Value x) { return F::linear(x, weight, bias); }, {kX})),
      ElementsAre("contract", "add"));
  for (const auto& [a, b] :
       std::vector<std::pair<Dims, Dims>>{{{4, 6}, {6, 3}},
                                          {{2, 4, 6}, {6, 3}},
                                          {{2, 4, 6}, {2, 6, 3}},
                                          {{4, 6}, {2, 6, 3}},
                                          {{2, 1, 4, 6}, {3, 6, 2}},
                                          {{0, 6}, {6, 3}},
                                          {{4, 0}, {0, 3}},
                                          {{2, 0, 4, 6}, {6, 3}}}) {
    const auto passed =
        run_passes([](Value x, Value y) { return matmul(x, y); },
                   {random_tensor(a, 1), random_tensor(b, 2)});
    EXPECT_EQ(wrong_result(passed), "") << a.str() << " @ " << b.str();
    EXPECT_THAT(testing::regions(passed.model),
                Contains("contraction: contract"))
        << a.str() << " @ " << b.str();
  }
}

TEST(Lower, ProductsInOtherTypesKeepTheirKernel) {
  const Tensor weight = random_tensor({8, 6}).to(DType::f64);
  EXPECT_THAT(calls(lowered([&](Value x) { return F::linear(x, weight); },
                            {kX.to(DType::f64)})),
              ElementsAre("linear"));
}

TEST(Lower, ChainsOfViewsAreOneView) {
  const ModelGraph model = lowered(
      [](Value x) {
        const Value y = transpose(reshape(x, {2, 2, 6}), 1, 2);
        return sum(getitem(unsqueeze(y, 0), Value(0), Value(1)));
      },
      {kX});
  int views = 0;
  for (const fx::Node* node : model.graph->nodes())
    views += node->called_op() &&
             node->called_op()->row.lowering == ops::Lowering::view;
  EXPECT_EQ(views, 1);
}

TEST(Lower, ViewsBackToTheWholeVanish) {
  const ModelGraph model = lowered(
      [](Value x) { return transpose(transpose(x, 0, 1), 0, 1) + 1; }, {kX});
  EXPECT_EQ(model.graph->size(), 3u);
}

TEST(Lower, PartsOfASplit) {
  EXPECT_EQ(
      wrong_result(run_passes(
          [](Value x) {
            const Value parts = split(x, {1, 2, 3}, 1);
            return Value::tuple({getitem(parts, 0) + 1, getitem(parts, 1) * 2,
                                 getitem(parts, -1)});
          },
          {kX})),
      "");
  EXPECT_EQ(wrong_result(run_passes(
                [](Value x) {
                  return getitem(unbind(x, 1), 2) + getitem(chunk(x, 4, 1), 0);
                },
                {random_tensor({1, 4})})),
            "");
}

TEST(Lower, PlacesInMemory) {
  // Within the input, counted from it: fine.
  EXPECT_EQ(
      wrong_result(run_passes(
          [](Value x) { return as_strided(x, {3, 2}, {1, 3}) * 2; }, {kX})),
      "");
  const auto outside = [](Value x) { return as_strided(x, {3, 20}, {1, 3}); };
  EXPECT_THROW(lowered(outside, {kX}), UserError);
  const auto counted = [](Value x) { return as_strided(x, {3}, {1}, 2); };
  EXPECT_THROW(lowered(counted, {kX}), NotImplementedError);
}

// --- The pipeline. ---

Value model_of_everything(Value x) {
  const Tensor w = random_tensor({6, 6}, 7), v = random_tensor({6, 6}, 8);
  const Value q = F::linear(x, w), k = F::linear(x, v);
  const Value p = softmax(matmul(q, transpose(k, -2, -1)) / 2.0, -1);
  const Value y = F::layer_norm(x + matmul(p, k), Value::tuple({6}));
  return F::gelu(F::linear(y, w)) + mean(y, 1, true);
}

TEST(Pipeline, ResultIsRightWithAnyPassDisabled) {
  std::vector<std::vector<std::string>> choices{{}};
  choices.push_back(passes::optional_passes());
  for (const std::string& pass : passes::optional_passes())
    choices.push_back({pass});
  for (const auto& disabled : choices) {
    const auto passed =
        run_passes(model_of_everything, {random_tensor({2, 4, 6})}, disabled);
    EXPECT_EQ(wrong_result(passed), "")
        << (disabled.empty() ? "none" : disabled.front()) << " disabled";
    for (const std::string& pass : disabled) {
      if (pass.starts_with("fuse") && !pass.ends_with("attention")) continue;
      EXPECT_THAT(passed.changed, ::testing::Not(Contains(pass)));
    }
  }
}

TEST(Pipeline, UnfusedIsOneOpARegion) {
  const auto passed =
      run_passes(model_of_everything, {random_tensor({2, 4, 6})}, {"fuse"});
  for (const std::string& region : testing::regions(passed.model))
    EXPECT_EQ(region.find('+'), region.npos) << region;
}

TEST(Pipeline, RegionsNameCapturedNodes) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        return F::layer_norm(x, Value::tuple({6})) + softmax(x, -1);
      },
      {"x"}, "f");
  const auto passed = run_passes(gm, {kX});
  for (const auto& [name, region] : passed.model.regions)
    for (const std::string& node : *region.nodes)
      EXPECT_NE(gm->graph().find_node(node), nullptr) << node;
}

TEST(Pipeline, CapturedGraphIsUntouched) {
  const auto gm = fx::symbolic_trace(model_of_everything, {"x"}, "f");
  const std::string graph = gm->graph().str(), code = gm->code();
  run_passes(gm, {random_tensor({2, 4, 6})});
  EXPECT_EQ(gm->graph().str(), graph);
  EXPECT_EQ(gm->code(), code);
}

}  // namespace TEST_FILE
}  // namespace fxjit
