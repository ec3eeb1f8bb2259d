// What tracers know while they run: names, paths, scopes, lines, symbols.
#include "fxjit/fx/tracer_base.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(TracerScopes)

namespace TEST_FILE {

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

class Twice : public nn::Custom<Twice> {
 public:
  Twice() : Custom("Twice", {"x"}) {
    block = register_module("block", Block::create());
    act = register_module("act", nn::ReLU::create());
  }
  Value forward(Value x) {
    const Value y = act(block(x));
    return act(block(y));
  }
  nn::Ref<Block> block;
  nn::Ref<nn::ReLU> act;
};

ValueList keys_of(const std::shared_ptr<const fx::ModuleStack>& stack) {
  ValueList keys;
  if (stack)
    for (const fx::ModuleFrame& frame : *stack) keys.emplace_back(frame.key);
  return keys;
}

class NotingScopes : public Tracer {
 public:
  fx::NodePtr create_node(Opcode kind, const Target& target, ValueList args,
                          Kwargs kwargs, std::string_view name,
                          const Value& type) override {
    seen.push_back(Value::list({fx::opcode_name(kind), scope.module_path,
                                Value::list(keys_of(module_stack))}));
    return Tracer::create_node(kind, target, std::move(args),
                               std::move(kwargs), name, type);
  }
  ValueList seen;
};

MIRROR_CASE(TracerScopes, paths_of_modules) {
  const auto root = filled(Pair::create());
  Tracer tracer;
  tracer.trace(*root);
  ValueList paths;
  paths.emplace_back(tracer.path_of_module(*root));
  paths.emplace_back(tracer.path_of_module(*root->one));
  paths.emplace_back(tracer.path_of_module(*root->two->lin));
  expect_value("paths", paths);
  expect_error([&] { tracer.path_of_module(*nn::Linear::create(3, 3)); });
}

MIRROR_CASE(TracerScopes, fresh_names) {
  const auto root = filled(Pair::create());
  root->set_attr("extra0", fill({1}));
  root->set_attr("extra1", fill({1}));
  Tracer tracer;
  tracer.trace(*root);
  ValueList names;
  for (const char* prefix : {"other", "extra", "extra", "other"})
    names.emplace_back(tracer.get_fresh_qualname(prefix));
  root->set_attr("extra3", fill({1}));
  for (int i = 0; i < 2; ++i)
    names.emplace_back(tracer.get_fresh_qualname("extra"));
  expect_value("names", names);
}

MIRROR_CASE(TracerScopes, scopes_restored) {
  fx::Scope scope{"outer", "Outer"};
  ValueList seen;
  const auto note = [&] {
    seen.emplace_back(scope.module_path + ":" + scope.module_type);
  };
  {
    const fx::ScopeContextManager inner(scope, {"outer.inner", "Inner"});
    note();
    try {
      const fx::ScopeContextManager innermost(scope, {"", "None"});
      note();
      throw ValueError("");
    } catch (const ValueError&) {
      note();
    }
  }
  note();
  expect_value("seen", seen);
}

MIRROR_CASE(TracerScopes, scopes_seen_while_tracing) {
  const auto root = filled(Pair::create());
  NotingScopes tracer;
  tracer.trace(*root);
  expect_value("seen", tracer.seen);
}

MIRROR_CASE(TracerScopes, stacks_of_repeated_calls) {
  const auto root = filled(Twice::create());
  Tracer tracer;
  const auto graph = tracer.trace(*root);
  ValueList stacks;
  for (const fx::Node* node : graph->nodes()) {
    ValueList line{node->name()};
    if (node->module_stack())
      for (const fx::ModuleFrame& frame : *node->module_stack())
        line.emplace_back(frame.key + " " + frame.path);
    stacks.push_back(Value::list(line));
  }
  expect_value("stacks", stacks);
}

MIRROR_CASE(TracerScopes, tracing_or_not) {
  ValueList seen{fx::is_fx_tracing()};
  const auto gm = fx::symbolic_trace(
      [&](Value x) -> Value {
        seen.emplace_back(fx::is_fx_tracing());
        const auto inner = fx::symbolic_trace(
            [](Value y) -> Value { return y * 2; }, {"y"});
        seen.emplace_back(fx::is_fx_tracing());
        return inner->forward({x}) + 1;
      },
      {"x"});
  seen.emplace_back(fx::is_fx_tracing());
  expect_error([&] {
    fx::symbolic_trace(
        [&](Value) -> Value {
          seen.emplace_back(fx::is_fx_tracing());
          throw ValueError("stop");
        },
        {"x"});
  });
  seen.emplace_back(fx::is_fx_tracing());
  expect_value("seen", seen);
  expect_graph(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(TracerScopes, keyed_symbols) {
  const Value keyed = Value::dict(
      {{"a", fx::PH("left")}, {"b", Value::list({fx::PH("right")})}});
  const auto gm = fx::symbolic_trace(
      [](Value pair, Value) -> Value {
        return *pair.find("a") + pair.find("b")->at(0);
      },
      {"pair", "flag"}, "M", {{"pair", keyed}, {"flag", true}});
  expect_graph(gm);
  ValueList keys;
  for (const fx::Node* node : gm->graph().nodes()) {
    const Value* const key = node->meta().find("ph_key");
    keys.push_back(Value::list({node->name(), key ? *key : Value(None)}));
  }
  expect_value("keys", keys);
}

MIRROR_CASE(TracerScopes, lines_of_the_user) {
  const auto root = filled(Pair::create());
  for (const bool wanted : {true, false}) {
    Tracer tracer;
    tracer.record_stack_traces = wanted;
    const auto graph = tracer.trace(*root);
    ValueList known;
    for (const fx::Node* node : graph->nodes())
      known.push_back(
          Value::list({node->name(), !node->stack_trace().empty()}));
    expect_value("known", known);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
