// Hooks of tracers: what they are given, and what becomes of what they give.
#include <algorithm>

#include "fxjit/fx/tracer_base.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(TracerHooks)

namespace TEST_FILE {

using fx::GraphModule;
using fx::Opcode;
using fx::Target;
using fx::Tracer;

class Block : public nn::Custom<Block> {
 public:
  Block() : Custom("Block", {"x"}) {
    lin = register_module("lin", nn::Linear::create(3, 3));
    scale = register_parameter("scale", Tensor::zeros({3}));
  }
  Value forward(Value x) {
    const Value y = lin(x);
    return y * scale;
  }
  nn::Ref<nn::Linear> lin;
  nn::Parameter scale;
};

class Pair : public nn::Custom<Pair> {
 public:
  Pair() : Custom("Pair", {"x"}) {
    one = register_module("one", Block::create());
    two = register_module("two", Block::create());
  }
  Value forward(Value x) {
    const Value a = one(x);
    const Value b = two(a);
    return relu(a + b);
  }
  nn::Ref<Block> one, two;
};

class Numbered : public Tracer {
 public:
  fx::NodePtr create_node(Opcode kind, const Target& target, ValueList args,
                          Kwargs kwargs, std::string_view,
                          const Value& type) override {
    const std::string wish = std::string(fx::opcode_name(kind)) + "_" +
                             std::to_string(args.size()) + "_" +
                             std::to_string(kwargs.size());
    return Tracer::create_node(kind, target, std::move(args),
                               std::move(kwargs), wish, type);
  }
};

class Swapping : public Tracer {
 public:
  fx::NodePtr create_node(Opcode kind, const Target& target, ValueList args,
                          Kwargs kwargs, std::string_view name,
                          const Value& type) override {
    const bool swap = target.text() == "torch.relu";
    return Tracer::create_node(
        kind, swap ? Target(ops::get_function("torch.tanh")) : target,
        std::move(args), std::move(kwargs), swap ? "bent" : name, type);
  }
};

class Annotating : public Tracer {
 public:
  fx::NodePtr create_node(Opcode kind, const Target& target, ValueList args,
                          Kwargs kwargs, std::string_view name,
                          const Value& type) override {
    return Tracer::create_node(
        kind, target, std::move(args), std::move(kwargs), name,
        kind == Opcode::output ? type : Value("torch.Tensor"));
  }
};

class Counting : public Tracer {
 public:
  Value proxy(fx::NodePtr node) override {
    seen.emplace_back(node->name());
    return Tracer::proxy(node);
  }
  Value create_proxy(Opcode kind, const Target& target, ValueList args,
                     Kwargs kwargs, std::string_view name, const Value& type,
                     const ProxyFactory& factory) override {
    kinds.emplace_back(fx::opcode_name(kind));
    return Tracer::create_proxy(kind, target, std::move(args),
                                std::move(kwargs), name, type, factory);
  }
  ValueList seen;
  std::vector<std::string> kinds;
};

class DoublingFloats : public Tracer {
 public:
  Value create_arg(const Value& value) override {
    if (value.is_float()) return value.as_double() * 2;
    return Tracer::create_arg(value);
  }
};

class Span : public fx::TracedArgument {
 public:
  Span(int64_t low, int64_t high) : low_(low), high_(high) {}
  Value fx_create_arg(fx::TracerBase& tracer) override {
    return tracer.create_arg(Value::tuple({low_, high_}));
  }

 private:
  int64_t low_, high_;
};

class Renaming : public Tracer {
 public:
  std::string path_of_module(const nn::Module& module) const override {
    std::string path = Tracer::path_of_module(module);
    const size_t at = path.find("one");
    return at == path.npos ? path : path.replace(at, 3, "two");
  }
};

class NotingParameters : public Tracer {
 public:
  Value getattr(std::string_view attr, const nn::Parameter& value,
                ParameterProxyCache& cache) override {
    seen.push_back(
        Value::list({attr.substr(attr.rfind('.') + 1), cache.size()}));
    return Tracer::getattr(attr, value, cache);
  }
  ValueList seen;
};

class PlainParameters : public Tracer {
 public:
  Value getattr(std::string_view, const nn::Parameter& value,
                ParameterProxyCache&) override {
    return value.tensor();
  }
};

class Shifted : public Tracer {
 public:
  std::vector<Value> create_args_for_root(
      const nn::Signature& signature,
      const fx::ConcreteArgs& concrete_args) override {
    std::vector<Value> args =
        Tracer::create_args_for_root(signature, concrete_args);
    for (Value& arg : args)
      if (arg.is_proxy()) arg = arg + 1;
    return args;
  }
};

nn::Ref<GraphModule> made_by(Tracer& tracer, nn::Module& root) {
  auto graph = tracer.trace(root);
  return GraphModule::create(*tracer.root, std::move(graph));
}

template <typename F>
nn::Ref<GraphModule> made_by(Tracer& tracer, nn::Signature signature,
                             F function) {
  auto graph = tracer.trace(
      {"f", std::move(signature), [function](std::vector<Value> args) {
         return nn::call_values(function, args);
       }});
  return GraphModule::create(*tracer.root, std::move(graph));
}

MIRROR_CASE(TracerHooks, nodes_named_by_the_hook) {
  const auto root = filled(Pair::create());
  Numbered tracer;
  const auto gm = made_by(tracer, *root);
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(TracerHooks, nodes_changed_by_the_hook) {
  const auto root = filled(Pair::create());
  Swapping tracer;
  const auto gm = made_by(tracer, *root);
  expect_graph(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(TracerHooks, annotated_by_the_hook) {
  Annotating tracer;
  const auto gm = made_by(tracer, {"x"}, [](Value x) { return relu(x + 1); });
  expect_graph(gm);
  expect_code(gm);
}

MIRROR_CASE(TracerHooks, proxies_counted) {
  const auto root = filled(Pair::create());
  Counting tracer;
  made_by(tracer, *root);
  expect_value("seen", tracer.seen);
  std::sort(tracer.kinds.begin(), tracer.kinds.end());
  expect_value("kinds", ValueList(tracer.kinds.begin(), tracer.kinds.end()));
}

MIRROR_CASE(TracerHooks, proxies_of_one_factory) {
  auto graph = std::make_unique<fx::Graph>();
  fx::GraphAppendingTracer tracer(*graph);
  ValueList made;
  const auto factory = [&](fx::NodePtr node) {
    made.emplace_back(node->name());
    return Value::proxy(new fx::Proxy(node, &tracer));
  };
  const Value x =
      tracer.create_proxy(Opcode::placeholder, "x", {}, {}, {}, {}, factory);
  const Value y = tracer.create_proxy(
      Opcode::call_function, ops::get_function("torch.neg"), {x}, {});
  const Value z = tracer.create_proxy(Opcode::call_function,
                                      ops::get_function("torch.add"), {x, y},
                                      {}, "total", {}, factory);
  tracer.create_node(Opcode::output, "output", {fx::node_of(z)}, {});
  expect_value("made", made);
  expect_graph(*graph);
  const auto* const first = dynamic_cast<fx::Proxy*>(x.as_proxy());
  const bool same_graph = tracer.graph == graph.get();
  const bool same_tracer = first && &first->tracer() == &tracer;
  expect_text("tracers", std::string(same_graph ? "True" : "False") + " " +
                             (same_tracer ? "True" : "False"));
  expect_outputs(GraphModule::create(nn::Module("Module"), std::move(graph)),
                 {fill({3})});
}

MIRROR_CASE(TracerHooks, arguments_made_by_the_hook) {
  DoublingFloats tracer;
  const auto gm = made_by(tracer, {"x"}, [](Value x) {
    const Value half = x * 0.5;
    return function("torch.clamp", {half}, {{"min", -0.25}, {"max", 2}}) + 1;
  });
  expect_graph(gm);
  expect_outputs(gm, {fill({4})});
}

MIRROR_CASE(TracerHooks, arguments_that_make_themselves) {
  Tracer tracer;
  const auto gm = made_by(tracer, {"x"}, [](Value x) {
    return method(x, "reshape", {Value::opaque(new Span(3, 2))});
  });
  expect_graph(gm);
  expect_outputs(gm, {fill({6})});
}

MIRROR_CASE(TracerHooks, paths_given_by_the_hook) {
  const auto root = filled(Pair::create());
  Renaming tracer;
  const auto gm = made_by(tracer, *root);
  expect_graph(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(TracerHooks, parameters_given_by_the_hook) {
  const auto root = filled(Pair::create());
  NotingParameters tracer;
  const auto gm = made_by(tracer, *root);
  expect_value("seen", tracer.seen);
  expect_graph(gm);
}

MIRROR_CASE(TracerHooks, parameters_read_as_they_are) {
  const auto root = filled(Pair::create());
  PlainParameters tracer;
  const auto gm = made_by(tracer, *root);
  expect_graph(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(TracerHooks, arguments_of_the_root_changed) {
  Shifted tracer;
  const auto gm =
      made_by(tracer, {"x", "y"}, [](Value x, Value y) { return x * y; });
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3}), fill({3}, 1)});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
