// Facts that programs ask of proxies, errors, matches and comparisons.
#include <algorithm>
#include <cmath>

#include "fxjit/fx/passes.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(SmallFacts)

namespace TEST_FILE {

namespace passes = fx::passes;
using fx::symbolic_trace;

ValueList names_of(const std::vector<fx::NodePtr>& nodes) {
  ValueList names;
  for (const fx::Node* node : nodes) names.emplace_back(node->name());
  return names;
}

class Weighted : public nn::Custom<Weighted> {
 public:
  Weighted() : Custom("Weighted", {"x"}) {
    weight = register_parameter("weight", Tensor::zeros({2, 3}));
  }
  Value forward(Value x) {
    const Value w = weight;
    auto* const proxy = dynamic_cast<fx::ParameterProxy*>(w.as_proxy());
    seen.push_back(Value::list(
        {proxy != nullptr, proxy ? proxy->name() : "", proxy->describe()}));
    const Value dim = method(w, "dim");
    seen.push_back(Value::list({dim, fx::getattr(w, "ndim"),
                                method(w, "numel"), method(w, "nelement"),
                                method(w, "size").at(1)}));
    return dim.as_int() == 2 ? x * w : x;
  }
  ValueList seen;
  nn::Parameter weight;
};

class Affine : public nn::Custom<Affine> {
 public:
  Affine() : Custom("Affine", {"x"}) {
    weight = register_parameter("weight", Tensor::zeros({3}));
    shift = register_buffer("shift", Tensor::zeros({3}));
  }
  Value forward(Value x) {
    const Value y = x * weight;
    return y + shift;
  }
  nn::Parameter weight;
  nn::Buffer shift;
};

class Activated : public nn::Custom<Activated> {
 public:
  Activated() : Custom("M", {"x"}) {
    act = register_module("act", nn::ReLU::create());
  }
  Value forward(Value x) { return act(x) + 1; }
  nn::Ref<nn::ReLU> act;
};

class Through : public fx::Tracer {
  bool is_leaf_module(const nn::Module&, std::string_view) const override {
    return false;
  }
};

class Doubling : public passes::NetMinimizer {
 public:
  using NetMinimizer::NetMinimizer;
  Value run_a(fx::GraphModule& part, const ValueList& inputs) override {
    return part.forward(inputs);
  }
  Value run_b(fx::GraphModule& part, const ValueList& inputs) override {
    return part.forward(inputs) * 2;
  }
};

std::pair<double, bool> farthest(const Value& a, const Value& b,
                                 const std::vector<std::string>&) {
  double worst = 0;
  for (const float number : (a - b).as_tensor().to_floats())
    worst = std::max(worst, double{std::abs(number)});
  return {worst, worst == 0};
}

MIRROR_CASE(SmallFacts, attributes_as_objects) {
  ValueList seen;
  const auto note = [&](const Value& value) {
    const auto* const attribute =
        dynamic_cast<const fx::Attribute*>(value.as_proxy());
    seen.push_back(Value::list(
        {attribute != nullptr, attribute ? Value(attribute->name())
                                         : Value(fx::node_of(value)->name())}));
  };
  const auto gm = symbolic_trace(
      [&](Value x) -> Value {
        const Value shape = fx::getattr(x, "shape");
        note(shape);
        note(fx::getattr(shape, "more"));
        note(getitem(shape, 0));
        return x;
      },
      {"x"});
  expect_value("seen", seen);
  expect_graph(gm);
}

MIRROR_CASE(SmallFacts, parameters_as_objects) {
  const auto root = filled(Weighted::create());
  fx::Tracer tracer({.param_shapes_constant = true});
  const auto graph = tracer.trace(*root);
  expect_value("seen", root->seen);
  expect_graph(*graph);
}

MIRROR_CASE(SmallFacts, errors_of_traces_caught) {
  const auto gm = symbolic_trace(
      [&](Value x) -> Value {
        try {
          if (method(x, "sum") > 0) return x;
        } catch (const TraceError& error) {
          expect_text("caught", std::string(error.message()));
        }
        return -x;
      },
      {"x"});
  expect_graph(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(SmallFacts, tracing_or_exporting) {
  const auto tracing = [] { return fx::active_tracer() != nullptr; };
  ValueList seen{tracing()};
  symbolic_trace(
      [&](Value x) -> Value {
        seen.emplace_back(tracing());
        return x;
      },
      {"x"});
  seen.emplace_back(tracing());
  expect_value("seen", seen);
}

MIRROR_CASE(SmallFacts, symbols_told_from_values) {
  ValueList symbols;
  for (const Value& value : ValueList{fx::PH(), 1, None, "PH"})
    symbols.emplace_back(fx::is_placeholder(value));
  expect_value("symbols", symbols);
}

MIRROR_CASE(SmallFacts, gradients_wanted) {
  const auto gm = symbolic_trace(filled(Affine::create()));
  passes::ShapeProp(*gm).propagate({fill({2, 3})});
  ValueList grad;
  for (const fx::Node* node : gm->graph().nodes())
    if (node->is(fx::Opcode::placeholder) || node->is(fx::Opcode::get_attr))
      grad.push_back(Value::list(
          {node->name(), passes::get_tensor_meta(*node).requires_grad}));
  expect_value("grad", grad);
}

MIRROR_CASE(SmallFacts, sources_by_name) {
  const auto model = Activated::create();
  Through tracer;
  const auto graph = tracer.trace(*model);
  for (const auto& [source, parts] :
       passes::get_source_partitions(*graph, {"ReLU"})) {
    ValueList sources, nodes;
    for (const passes::SourcePartition& part : parts) {
      sources.emplace_back(part.source);
      nodes.push_back(Value::list(names_of(part.nodes)));
    }
    expect_value("sources", sources);
    expect_value("nodes", nodes);
  }
}

MIRROR_CASE(SmallFacts, literals_of_matchers) {
  const auto clamped = [](const Value& x, int low, int high) {
    return function("torch.clamp", {x, low, high});
  };
  const auto pattern = symbolic_trace(
      [&](Value x) -> Value { return clamped(x, 0, 1); }, {"x"});
  const auto gm = symbolic_trace(
      [&](Value x) -> Value {
        const Value left = clamped(x, 0, 1);
        return left + clamped(x, 2, 3);
      },
      {"x"});
  for (const bool ignore : {false, true}) {
    const passes::SubgraphMatcher matcher(pattern->graph(),
                                          {.ignore_literals = ignore});
    expect_value("ignores", matcher.options().ignore_literals);
    expect_value("inputs", names_of(matcher.pattern().placeholders()));
    ValueList found;
    for (const passes::InternalMatch& match : matcher.match(gm->graph()))
      found.push_back(Value::list(names_of(match.returning_nodes)));
    expect_value("found", found);
  }
}

MIRROR_CASE(SmallFacts, results_of_comparisons) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return relu(function("torch.neg", {x})); },
      {"x"});
  Doubling minimizer(gm, {Tensor::full({2}, -3)}, farthest,
                     {.find_all = true});
  expect_value("culprits", names_of(minimizer.minimize()));
  ValueList results;
  for (const auto& [names, difference] : minimizer.results())
    results.push_back(
        Value::list({ValueList(names.begin(), names.end()), difference}));
  expect_value("results", results);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
