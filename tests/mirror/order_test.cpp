// Nodes that come from inside one argument or one call come in Python's order.
// These cases are compiled by g++ and by clang, which evaluate the arguments of
// C++'s calls in opposite orders.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Order)

namespace TEST_FILE {

using fx::Graph;
using fx::NodePtr;
using fx::symbolic_trace;

Value attribute(const Value& value, const char* name) {
  return fx::getattr(value, name);
}

struct Net : nn::Custom<Net> {
  Net() : Custom("Net", {"x"}) {
    a = register_parameter("a", Tensor::zeros({1}));
    b = register_parameter("b", Tensor::zeros({1}));
    c = register_parameter("c", Tensor::zeros({1}));
  }
  Value forward(Value x) {
    // Reading a parameter makes a node, and arguments have no order in C++.
    const Value first = a.value();
    const Value second = b.value();
    const Value third = c.value();
    return getitem(x, Value::slice(first, second, third));
  }
  nn::Parameter a, b, c;
};

// Adds one to what every function gives.
class Renewed : public fx::Transformer {
 public:
  using Transformer::Transformer;
  Value call_function(const fx::Target& target, const ValueList& args,
                      const Kwargs& kwargs) override {
    return Transformer::call_function(target, args, kwargs) + 1;
  }
};

MIRROR_CASE(Order, slices_of_attributes) {
  expect_graph(symbolic_trace(
      [](Value x, Value y) -> Value {
        return getitem(
            x, Value::slice(attribute(y, "first"), attribute(y, "second"),
                            attribute(y, "third")));
      },
      {"x", "y"}));
  expect_graph(symbolic_trace(
      [](Value x, Value y) -> Value {
        return getitem(
            x,
            Value::tuple({Value::slice(attribute(y, "a"), attribute(y, "b")),
                          Value::slice(attribute(y, "c"), attribute(y, "d"))}));
      },
      {"x", "y"}));
  expect_graph(symbolic_trace(
      [](Value x, Value y) -> Value {
        return function("torch.narrow", {x, 0, attribute(y, "a")},
                        {{"length", attribute(y, "b")}});
      },
      {"x", "y"}));
}

MIRROR_CASE(Order, slices_of_parameters) {
  expect_graph(symbolic_trace(Net::create()));
  expect_code(symbolic_trace(Net::create()));
}

MIRROR_CASE(Order, mapped_slices) {
  Graph graph;
  NodePtr a = graph.placeholder("a"), b = graph.placeholder("b"),
          c = graph.placeholder("c");
  ValueList seen;
  const Value tree = Value::tuple(
      {Value::list({Value::slice(a, b, c),
                    Value::dict({{"k", Value::slice(c, None, a)}})}),
       Value::slice(None, b)});
  fx::map_arg(tree, [&](NodePtr node) -> Value {
    seen.push_back(node->name());
    return node;
  });
  expect_value("seen", Value::list(seen));
  seen.clear();
  fx::map_aggregate(Value::list({1, Value::slice(2, 3, 4), Value::tuple({5})}),
                    [&](const Value& leaf) {
                      seen.push_back(leaf);
                      return leaf;
                    });
  expect_value("leaves", Value::list(seen));
}

MIRROR_CASE(Order, copied_nodes) {
  Graph graph;
  NodePtr a = graph.placeholder("a"), b = graph.placeholder("b"),
          c = graph.placeholder("c");
  const NodePtr call = graph.call_function(
      "torch.clamp", {Value::list({a, b}), Value::slice(c, a, b)},
      {{"min", b}, {"max", Value::list({c, a})}});
  ValueList seen;
  Graph other;
  other.node_copy(*call, [&](NodePtr node) -> Value {
    seen.push_back(node->name());
    return other.get_attr(node->name());
  });
  expect_value("seen", Value::list(seen));
  expect_graph(other);
}

MIRROR_CASE(Order, transformed_slices) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value start = method(y, "size", {0}),
                    stop = method(y, "size", {1});
        return getitem(x,
                       Value::tuple({Value::slice(start, stop),
                                     Value::slice(1, method(y, "size", {2}))}));
      },
      {"x", "y"});
  expect_graph(Renewed(gm).transform());
}

MIRROR_CASE(Order, sums_of_calls) {
  const auto forward = [](Value x) -> Value {
    const Value left = relu(x);
    const Value right = sigmoid(x);
    return left + right;
  };
  expect_graph(symbolic_trace(forward, {"x"}));
  expect_outputs(symbolic_trace(forward, {"x"}), {fill({2, 3})});
}

MIRROR_CASE(Order, arguments_of_wrapped_calls) {
  expect_graph(symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value joined = function(
            "torch.cat", {Value::list({attribute(x, "a"), attribute(x, "b")})},
            {{"dim", attribute(y, "c")}});
        return method(joined, "clamp", {attribute(y, "d")},
                      {{"max", attribute(y, "e")}});
      },
      {"x", "y"}));
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
