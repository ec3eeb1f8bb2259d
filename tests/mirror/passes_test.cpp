// ShapeProp, CSE, constant folding.
#include "fxjit/fx/passes/const_fold.h"
#include "fxjit/fx/passes/cse_pass.h"
#include "fxjit/fx/passes/shape_prop.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {
namespace TEST_FILE {

using fx::symbolic_trace;
namespace passes = fx::passes;

class Layered : public nn::Custom<Layered> {
 public:
  Layered() : Custom("M", {"x"}) {
    param = register_parameter("param", Tensor::zeros({3, 4}));
    linear = register_module("linear", nn::Linear::create(4, 5));
  }
  Value forward(Value x) {
    Value y = method(linear(x + param), "clamp", {}, {{"min", 0.0}});
    return method(relu(y), "t");
  }
  nn::Parameter param;
  nn::Ref<nn::Linear> linear;
};

class Reader : public nn::Custom<Reader> {
 public:
  Reader() : Custom("M", {"x"}) {
    w = register_parameter("w", Tensor::zeros({4}));
  }
  Value forward(Value x) {
    Value first = relu(x + w);
    return first * relu(x + w);
  }
  nn::Parameter w;
};

class Foldable : public nn::Custom<Foldable> {
 public:
  using Forward = Value (*)(Foldable&, Value);
  explicit Foldable(Forward run) : Custom("Foldable", {"x"}), run_(run) {
    a = register_parameter("a", Tensor::zeros({4}));
    b = register_parameter("b", Tensor::zeros({4}));
    lin = register_module("lin", nn::Linear::create(4, 4));
  }
  Value forward(Value x) { return run_(*this, std::move(x)); }
  nn::Parameter a, b;
  nn::Ref<nn::Linear> lin;

 private:
  Forward run_;
};

Value fold_all(Foldable& m, Value x) {
  Value a = m.a.value();
  Value c = a + m.b;
  Value left = x - c;
  Value product = left * method(a, "abs");
  return product + m.lin(m.b);
}

class Passes : public Case {
 protected:
  static std::string text_of(const Value& value) {
    return repr(value, [](const Value& leaf, const void*) {
      const passes::TensorMetadata* facts = passes::tensor_metadata(leaf);
      return facts ? facts->str() : std::string(leaf.kind_name());
    });
  }
  void expect_metadata(const fx::GraphModule& gm, bool with_output = true) {
    std::string lines;
    for (const fx::Node* node : gm.graph().nodes()) {
      if (!with_output && node->is(fx::Opcode::output)) continue;
      const Value* const facts = node->meta().find("tensor_meta");
      if (!facts) continue;
      lines += (lines.empty() ? "" : "\n") + std::string(node->name()) + ": " +
               text_of(*facts);
    }
    expect_text("meta", lines);
  }
  nn::Ref<fx::GraphModule> cse(const nn::Ref<fx::GraphModule>& gm) {
    const std::string before = gm->graph().str();
    const auto result = passes::CSEPass(passes::get_CSE_banned_ops())(gm);
    EXPECT_EQ(gm->graph().str(), before);
    expect_value("modified", result.modified);
    expect_graph(result.graph_module);
    expect_code(result.graph_module);
    return result.graph_module;
  }
  nn::Ref<fx::GraphModule> cse(Value (*f)(Value), const char* name = "x") {
    return cse(symbolic_trace(f, {name}));
  }
  void fold(Foldable::Forward run,
            const std::function<bool(const fx::Node&)>& skip = nullptr) {
    const auto gm = symbolic_trace(filled(Foldable::create(run)));
    const auto folded = passes::split_const_subgraphs(*gm, skip);
    expect_graph(folded->graph());
    expect_code(nn::Ref<fx::GraphModule>(folded));
    if (folded->const_subgraph_module()) {
      expect_graph(folded->const_subgraph_module());
      folded->run_folding();
    }
    expect_outputs(folded, {fill({3, 4}, 1)});
  }
};

MIRROR_CASE(Passes, shapes_of_a_net) {
  const auto gm = symbolic_trace(filled(Layered::create()));
  expect_value("result", passes::ShapeProp(*gm).propagate({fill({3, 4}, 1)}));
  expect_metadata(*gm);
}

MIRROR_CASE(Passes, shapes_of_images) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        Value y = method(x, "permute", {0, 2, 3, 1});
        Value z = method(y, "permute", {0, 3, 1, 2});
        Value first = z + 1;
        Value second = method(y, "sum");
        return Value::tuple(
            {first, second,
             getitem(method(x, "view", {2, 48}),
                     Value::tuple({Value::slice(None, None), 0}))});
      },
      {"x"});
  for (const bool fake : {true, false})
    passes::ShapeProp(*gm, fake).propagate({fill({2, 3, 4, 4}, 1)});
  expect_metadata(*gm, /*with_output=*/false);
}

MIRROR_CASE(Passes, numbers_have_no_metadata) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return method(x, "size", {0}) + 1; }, {"x"});
  passes::ShapeProp(*gm).propagate({fill({2, 3}, 1)});
  expect_metadata(*gm);
}

MIRROR_CASE(Passes, cse_nothing) {
  cse([](Value x) -> Value {
    Value a = x + 1;
    Value b = x + a;
    return a + b + x;
  });
}

MIRROR_CASE(Passes, cse_simple) {
  const auto gm = cse([](Value x) -> Value {
    Value a = method(x, "cos");
    Value b = method(x, "cos");
    Value c = a + a;
    Value d = b + b;
    return c + d;
  });
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(Passes, cse_chains) {
  cse([](Value x) -> Value {
    Value a = method(x, "sum");
    Value b = method(x, "sum");
    Value c = a + b;
    Value d = method(x, "sum");
    Value sum = c + d;
    Value first = cat({x, x}, 0);
    return Value::tuple({sum, first, cat({x, x}, 0)});
  });
}

MIRROR_CASE(Passes, cse_keywords) {
  cse(
      [](Value a) -> Value {
        Value b = method(a, "sum", {}, {{"dim", 1}});
        Value c = method(a, "sum", {}, {{"dim", 1}});
        Value d = method(a, "sum", {}, {{"dim", 0}});
        return Value::tuple({b + c, d});
      },
      "a");
}

MIRROR_CASE(Passes, cse_keeps_attributes) {
  cse(symbolic_trace(filled(Reader::create())));
}

MIRROR_CASE(Passes, fold_several) { fold(fold_all); }

MIRROR_CASE(Passes, fold_one) {
  fold([](Foldable& m, Value x) -> Value {
    Value left = relu(x);
    Value a = m.a.value();
    return left + relu(a + m.b);
  });
}

MIRROR_CASE(Passes, fold_nothing) {
  fold([](Foldable& m, Value x) -> Value { return x + m.a; });
}

MIRROR_CASE(Passes, fold_with_exceptions) {
  fold(fold_all,
       [](const fx::Node& node) { return node.target_name() == "abs"; });
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
