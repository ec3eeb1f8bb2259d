#include "tests/cpp_code/cases.h"

#include <bit>
#include <limits>

#include "fxjit/fx/passes.h"

namespace fxjit::cpp_cases {
namespace {

namespace F = nn::functional;
using fx::GraphModule;
using fx::NodePtr;

struct Perceptron : nn::Custom<Perceptron> {
  Perceptron() : Custom("Perceptron", {"x"}) {
    layers = register_module(
        "layers",
        nn::Sequential::create(nn::Linear::create(6, 8), nn::GELU::create(),
                               nn::Linear::create(8, 4, false),
                               nn::Dropout::create(0.1)));
    norm = register_module("norm", nn::LayerNorm::create(4, 1e-3));
    scale = register_parameter("scale", ramp({4}));
    shift = register_buffer("shift", ramp({1, 4}), false);
    eval();
  }
  Value forward(Value x) {
    return relu(norm(layers(x)) * scale.value() + shift.value());
  }
  nn::Ref<nn::Sequential> layers;
  nn::Ref<nn::LayerNorm> norm;
  nn::Parameter scale;
  nn::Buffer shift;
};

struct Convolutions : nn::Custom<Convolutions> {
  Convolutions() : Custom("Convolutions", {"x"}) {
    body = register_module(
        "body",
        nn::Sequential::create(
            nn::Conv2d::create(2, 4, 3, nn::ConvOptions{.padding = "same"}),
            nn::BatchNorm2d::create(4), nn::ReLU::create(),
            nn::MaxPool2d::create(2), nn::ConvTranspose2d::create(4, 2, 2),
            nn::AdaptiveAvgPool2d::create(Value::tuple({2, 2})),
            nn::Flatten::create()));
    eval();
  }
  Value forward(Value x) { return F::softmax(body(x), -1); }
  nn::Ref<nn::Sequential> body;
};

struct Shared : nn::Module {
  Shared() : Module("Shared") {
    a = register_module("a", nn::Linear::create(4, 4));
    register_module("again", a);
    b = register_module("b", nn::Linear::create(4, 4, false));
    b->weight = b->register_parameter("weight", a->weight);
    inner = register_module("inner", fx::symbolic_trace(Perceptron::create()));
    w = register_parameter("w", a->weight);
  }
  nn::Ref<nn::Linear> a, b;
  nn::Ref<GraphModule> inner;
  nn::Parameter w;
};

nn::Ref<GraphModule> over(std::unique_ptr<fx::Graph> graph) {
  return GraphModule::create(nn::Module(), std::move(graph));
}

}  // namespace

Tensor ramp(const Dims& sizes) {
  Tensor t = Tensor::empty(sizes);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_as<float>()[i] = 0.01f * static_cast<float>(i % 97) - 0.3f;
  return t;
}

nn::Ref<GraphModule> perceptron() {
  nn::manual_seed(1);
  return fx::symbolic_trace(Perceptron::create());
}

nn::Ref<GraphModule> convolutions() {
  nn::manual_seed(2);
  return fx::symbolic_trace(Convolutions::create());
}

nn::Ref<GraphModule> operators() {
  return fx::symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value z = (x + 1) * (2 - y) / 3.5 % 2 + -x + +y;
        const Value n = fxjit::operators::floordiv(z, 0.25) +
                        fxjit::operators::pow(x, 2) +
                        fxjit::operators::matmul(x, y);
        const Value both = ((x < y) & (x <= 0.1)) | (~(x > y) ^ (x >= y));
        const Value equal = (x == y) | (x != 0);
        return where(both, n, y) + where(equal, x, z) +
               getitem(n, 0) * getitem(n, Value::slice(None, 1));
      },
      {"x", "y"}, "operators");
}

nn::Ref<GraphModule> in_place() {
  auto graph = std::make_unique<fx::Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr sum = graph->call_function("_operator.iadd", {x, 1.5});
  graph->call_method("mul_", {sum, 2});
  graph->output(graph->call_function("torch.nn.functional.relu", {x},
                                     {{"inplace", true}}));
  return over(std::move(graph));
}

nn::Ref<GraphModule> signatures() {
  auto graph = std::make_unique<fx::Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr scale = graph->placeholder("scale", {}, Value(0.5));
  const NodePtr args = graph->placeholder("*args");
  const NodePtr kwargs = graph->placeholder("**kwargs");
  const NodePtr first = graph->call_function("_operator.getitem", {args, 0});
  const NodePtr named =
      graph->call_function("_operator.getitem", {kwargs, "k"});
  const NodePtr sum =
      graph->call_function("torch.add", {x, first}, {{"alpha", scale}});
  const NodePtr shape = graph->call_function(
      *fx::find_callable("builtins.getattr"), {sum, "shape"});
  graph->output(Value::tuple(
      {Value::list({sum, named}), Value::dict({{"shape", shape}}), None}));
  return over(std::move(graph));
}

nn::Ref<GraphModule> literals() {
  auto graph = std::make_unique<fx::Graph>();
  const NodePtr x = graph->placeholder("x");
  graph->output(
      Value::tuple({x,
                    None,
                    true,
                    -7,
                    int64_t{1} << 40,
                    std::numeric_limits<int64_t>::min(),
                    1e-300,
                    -std::numeric_limits<double>::infinity(),
                    DType::bf16,
                    Ellipsis,
                    "\"\\\n\x01"
                    "1?\?/'\xff",
                    std::string_view("a\0b", 3),
                    Value::slice(x, None, 2),
                    Value::range(1, 9, 3),
                    Value::tuple({}),
                    Value::tuple({1}),
                    Value::list({}),
                    Value::list({Value::list({"a", "b"})}),
                    Value::dict({}),
                    Value::dict({{"a", "b"}, {1, Value::tuple({x})}})}));
  return over(std::move(graph));
}

nn::Ref<GraphModule> shared() {
  nn::manual_seed(3);
  auto graph = std::make_unique<fx::Graph>();
  const NodePtr x = graph->placeholder("x");
  NodePtr h = x;
  for (const char* layer : {"a", "b", "again"})
    h = graph->call_module(layer, {h});
  h = graph->call_function("torch.cat", {Value::list({h, x}), -1});
  h = graph->call_function(
      "_operator.getitem",
      {h, Value::tuple({Ellipsis, Value::slice(None, 6)})});
  h = graph->call_module("inner", {h});
  graph->output(
      graph->call_function("_operator.add", {h, graph->get_attr("w")}));
  return GraphModule::create(Shared(), std::move(graph), "Shared");
}

nn::Ref<GraphModule> wrapped() {
  const fx::Wrapped twice =
      fx::wrap("cpp_case_twice", [](Value x) -> Value { return x + x; });
  return fx::symbolic_trace([twice](Value x) -> Value { return twice(x) - 1; },
                            {"x"}, "wrapped");
}

nn::Ref<GraphModule> odd_names() {
  auto graph = std::make_unique<fx::Graph>();
  ValueList sum;
  for (const char* name :
       {"new", "template", "Value", "function", "weights", "a", "_B", "std"}) {
    sum.push_back(graph->placeholder(name));
  }
  sum.push_back(graph->call_method("neg", {sum[0]}, {}, "a__b"));
  sum.push_back(graph->call_method("neg", {sum[1]}, {}, "a_b"));
  sum.push_back(graph->call_method("neg", {sum[2]}, {}, "operator"));
  sum.push_back(graph->call_method("neg", {sum[3]}, {}, "self"));
  graph->output(graph->call_function("torch.cat", {Value::list(sum), 0}));
  return over(std::move(graph));
}

// Traced with containers; results have others.
nn::Ref<GraphModule> containers() {
  return fx::symbolic_trace(
      [](Value batch, Value rest, Value leaves) -> Value {
        const Value a = getitem(batch, "a");
        const Value pair = getitem(batch, "pair");
        const Value sum = a + getitem(pair, 0) * getitem(rest, 0);
        return Value::dict(
            {{"sum", sum},
             {"parts", Value::tuple({Value::list({sum * 2, a}), leaves})}});
      },
      {"batch", "template", "leaves"}, "containers",
      {{"batch", Value::dict({{"a", fx::PH()},
                              {"pair", Value::tuple({fx::PH(), fx::PH()})}})},
       {"template", Value::list({fx::PH()})},
       {"leaves", fx::PH()}});
}

// Two constants computed beforehand, and what is left.
nn::Ref<GraphModule> folded() {
  auto graph = std::make_unique<fx::Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr w = graph->get_attr("w");
  const NodePtr twice = graph->call_function("_operator.mul", {w, 2});
  const NodePtr up = graph->call_function("_operator.add", {w, 1});
  const NodePtr scaled = graph->call_function("_operator.mul", {x, twice});
  graph->output(graph->call_function("_operator.add", {scaled, up}));
  nn::Module root;
  root.register_parameter("w", ramp({3}));
  return fx::passes::split_const_subgraphs(
      fx::GraphModule(root, std::move(graph)));
}

nn::Ref<GraphModule> odd_literals() {
  auto graph = std::make_unique<fx::Graph>();
  const NodePtr x = graph->placeholder("x");
  graph->output(
      Value::tuple({x,
                    -0.0,
                    std::bit_cast<double>(uint64_t{0x7ff8000000000000}),
                    std::bit_cast<double>(uint64_t{0xfff8000000000000}),
                    std::bit_cast<double>(uint64_t{0x7ff0000000abcdef}),
                    std::numeric_limits<double>::denorm_min(),
                    std::numeric_limits<double>::max(),
                    0.1,
                    1e16,
                    123456789012345680.0,
                    std::numeric_limits<int>::min(),
                    std::numeric_limits<int64_t>::max(),
                    std::numeric_limits<int64_t>::min() + 1,
                    "R\"(raw)\"",
                    "a?\?=b",
                    "\u00e9\u4e2d\U0001f600",
                    "\r\t\v\x7f",
                    "",
                    false,
                    Value::tuple({Value::tuple({})}),
                    Value::list({None}),
                    Value::tuple({Value::list({x})}),
                    Value::slice(None, None, -1),
                    Value::dict({{None, Value::dict({{true, 1.5}})}})}));
  return over(std::move(graph));
}

std::unique_ptr<fx::Graph> free_graph() {
  auto graph = std::make_unique<fx::Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr lin = graph->call_module("lin", {x});
  graph->output(
      graph->call_function("_operator.mul", {lin, graph->get_attr("part.w")}));
  return graph;
}

std::vector<std::pair<std::string, Make>> all() {
  return {{"Perceptron", perceptron},   {"Convolutions", convolutions},
          {"Volumes", volumes},         {"Stacks", stacks},
          {"Losses", losses},           {"Operators", operators},
          {"InPlace", in_place},        {"Signatures", signatures},
          {"Literals", literals},       {"Shared", shared},
          {"Wrapped", wrapped},         {"OddNames", odd_names},
          {"Containers", containers},   {"Folded", folded},
          {"OddLiterals", odd_literals}};
}

}  // namespace fxjit::cpp_cases
