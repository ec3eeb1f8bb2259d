// A module that uses every kind of node, as torch 2.13 traces it:
//
//   a = self.linear(x + self.param).clamp(min=0.0, max=1.0)
//   b = F.gelu(a) * y
//   c = torch.softmax(b, -1) + F.softmax(b, -1)
//   d = c[:, 1:3, ...]
//   e = torch.ops.aten.add.Tensor(d, d)
//   f = e.shape
//   ...
#include <gtest/gtest.h>

#include <limits>

#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"

namespace fxjit::fx {
namespace TEST_FILE {

namespace F = nn::functional;

constexpr const char* kGraph =
    "graph():\n"
    "    %x : [num_users=1] = placeholder[target=x]\n"
    "    %y : [num_users=1] = placeholder[target=y](default=3.5)\n"
    "    %z : [num_users=0] = placeholder[target=z](default=None)\n"
    "    %_args : [num_users=0] = placeholder[target=*args]\n"
    "    %_kw : [num_users=0] = placeholder[target=**kw]\n"
    "    %param : [num_users=1] = get_attr[target=param]\n"
    "    %add : [num_users=1] = "
    "call_function[target=operator.add](args = (%x, %param), kwargs = "
    "{})\n"
    "    %linear : [num_users=1] = call_module[target=linear](args = "
    "(%add,), kwargs = {})\n"
    "    %clamp : [num_users=7] = call_method[target=clamp](args = "
    "(%linear,), kwargs = {min: 0.0, max: 1.0})\n"
    "    %gelu : [num_users=1] = "
    "call_function[target=torch._C._nn.gelu](args = (%clamp,), kwargs "
    "= {})\n"
    "    %mul : [num_users=3] = "
    "call_function[target=operator.mul](args = (%gelu, %y), kwargs = "
    "{})\n"
    "    %softmax : [num_users=1] = "
    "call_function[target=torch.softmax](args = (%mul, -1), kwargs = "
    "{})\n"
    "    %softmax_1 : [num_users=1] = "
    "call_function[target=torch.nn.functional.softmax](args = (%mul,), "
    "kwargs = {dim: -1, _stacklevel: 3, dtype: None})\n"
    "    %add_1 : [num_users=1] = "
    "call_function[target=operator.add](args = (%softmax, %softmax_1), "
    "kwargs = {})\n"
    "    %getitem : [num_users=1] = "
    "call_function[target=operator.getitem](args = (%add_1, "
    "(slice(None, None, None), slice(1, 3, None), Ellipsis)), kwargs = "
    "{})\n"
    "    %add_tensor : [num_users=4] = "
    "call_function[target=torch.ops.aten.add.Tensor](args = (%getitem, "
    "%getitem), kwargs = {})\n"
    "    %layer_norm : [num_users=2] = "
    "call_function[target=torch.nn.functional.layer_norm](args = "
    "(%clamp, (5,)), kwargs = {weight: None, bias: None, eps: 1e-05})\n"
    "    %cat : [num_users=1] = call_function[target=torch.cat](args = "
    "([%clamp, %layer_norm],), kwargs = {dim: 1})\n"
    "    %seq_0 : [num_users=1] = call_module[target=seq.0](args = "
    "(%clamp,), kwargs = {})\n"
    "    %seq_1 : [num_users=1] = call_module[target=seq.1](args = "
    "(%seq_0,), kwargs = {})\n"
    "    %getattr_1 : [num_users=1] = "
    "call_function[target=builtins.getattr](args = (%add_tensor, "
    "shape), kwargs = {})\n"
    "    %getitem_1 : [num_users=1] = "
    "call_function[target=operator.getitem](args = (%getattr_1, 0), "
    "kwargs = {})\n"
    "    %neg : [num_users=1] = "
    "call_function[target=operator.neg](args = (%add_tensor,), kwargs "
    "= {})\n"
    "    %sub : [num_users=1] = "
    "call_function[target=operator.sub](args = (1, %add_tensor), "
    "kwargs = {})\n"
    "    %to : [num_users=1] = call_method[target=to](args = (%cat, "
    "torch.float16), kwargs = {})\n"
    "    %matmul : [num_users=1] = "
    "call_function[target=operator.matmul](args = (%layer_norm, "
    "%layer_norm), kwargs = {})\n"
    "    %eq : [num_users=1] = call_function[target=operator.eq](args "
    "= (%clamp, %mul), kwargs = {})\n"
    "    %relu : [num_users=1] = call_function[target=torch.relu](args "
    "= (%clamp,), kwargs = {})\n"
    "    %sum_1 : [num_users=1] = call_method[target=sum](args = "
    "(%clamp, (0, 1)), kwargs = {keepdim: True})\n"
    "    return ({'a': getitem_1, 'b': (add_tensor, neg, sub, inf, "
    "torch.float32)}, to, matmul, seq_1, eq, relu, sum_1)";

constexpr const char* kCode =
    "\n"
    "\n"
    "\n"
    "def forward(self, x, y = 3.5, z = None, *args, **kw):\n"
    "    _args = args\n"
    "    _kw = kw\n"
    "    param = self.param\n"
    "    add = x + param;  x = param = None\n"
    "    linear = self.linear(add);  add = None\n"
    "    clamp = linear.clamp(min = 0.0, max = 1.0);  linear = None\n"
    "    gelu = torch._C._nn.gelu(clamp)\n"
    "    mul = gelu * y;  gelu = y = None\n"
    "    softmax = torch.softmax(mul, -1)\n"
    "    softmax_1 = torch.nn.functional.softmax(mul, dim = -1, "
    "_stacklevel = 3, dtype = None)\n"
    "    add_1 = softmax + softmax_1;  softmax = softmax_1 = None\n"
    "    getitem = add_1[(slice(None, None, None), slice(1, 3, None), "
    "Ellipsis)];  add_1 = None\n"
    "    add_tensor = torch.ops.aten.add.Tensor(getitem, getitem);  "
    "getitem = None\n"
    "    layer_norm = torch.nn.functional.layer_norm(clamp, (5,), "
    "weight = None, bias = None, eps = 1e-05)\n"
    "    cat = torch.cat([clamp, layer_norm], dim = 1)\n"
    "    seq_0 = getattr(self.seq, \"0\")(clamp)\n"
    "    seq_1 = getattr(self.seq, \"1\")(seq_0);  seq_0 = None\n"
    "    getattr_1 = add_tensor.shape\n"
    "    getitem_1 = getattr_1[0];  getattr_1 = None\n"
    "    neg = -add_tensor\n"
    "    sub = 1 - add_tensor\n"
    "    to = cat.to(torch.float16);  cat = None\n"
    "    matmul = layer_norm @ layer_norm;  layer_norm = None\n"
    "    eq = clamp == mul;  mul = None\n"
    "    relu = torch.relu(clamp)\n"
    "    sum_1 = clamp.sum((0, 1), keepdim = True);  clamp = None\n"
    "    return ({'a': getitem_1, 'b': (add_tensor, neg, sub, inf, "
    "torch.float32)}, to, matmul, seq_1, eq, relu, sum_1)\n"
    "    ";

class M : public nn::Custom<M> {
 public:
  M() : Custom("M", {"x", {"y", 3.5}, "*args", {"z", None}, "**kw"}) {
    param = register_parameter("param", Tensor::full({3, 4}, 0.5));
    linear = register_module("linear", nn::Linear::create(4, 5));
    seq = register_module(
        "seq",
        nn::Sequential::create(nn::ReLU::create(), nn::Linear::create(5, 5)));
  }

  Value forward(Value x, Value y, Value, Value, Value) {
    const Value a =
        method(linear(x + param), "clamp", {}, {{"min", 0.0}, {"max", 1.0}});
    const Value b = F::gelu(a) * y;
    Value c = softmax(b, -1);
    c = c + F::softmax(b, -1);
    const Value d =
        getitem(c, Value::slice(None, None), Value::slice(1, 3), Ellipsis);
    const Value e = function("aten.add.Tensor", {d, d});
    const Value f = getattr(e, "shape");
    const Value g = F::layer_norm(a, {5});
    const Value h = function("torch.cat", {Value::list({a, g})}, {{"dim", 1}});
    const Value sq = seq(a);
    const Value first = getitem(f, 0);
    const Value negated = -e;
    const Value one_less = 1 - e;
    const Value dict = Value::dict(
        {{"a", first},
         {"b", Value::tuple({e, negated, one_less,
                             std::numeric_limits<double>::infinity(),
                             DType::f32})}});
    const Value half = method(h, "to", {DType::f16});
    const Value product = operators::matmul(g, g);
    const Value equal = a == b;
    const Value positive = relu(a);
    const Value total =
        method(a, "sum", {Value::tuple({0, 1})}, {{"keepdim", true}});
    return Value::tuple({dict, half, product, sq, equal, positive, total});
  }

  nn::Parameter param;
  nn::Ref<nn::Linear> linear;
  nn::Ref<nn::Sequential> seq;
};

TEST(Mirror, GraphAndCodeAreTorchs) {
  const auto gm = symbolic_trace(M::create());
  EXPECT_EQ(gm->graph().str(), kGraph);
  EXPECT_EQ(gm->code(), kCode);
  EXPECT_EQ(gm->repr(),
            "M(\n"
            "  (linear): Linear(in_features=4, out_features=5, bias=True)\n"
            "  (seq): Module(\n"
            "    (0): ReLU()\n"
            "    (1): Linear(in_features=5, out_features=5, bias=True)\n"
            "  )\n"
            ")");
}

TEST(Mirror, TextRoundTrips) {
  const auto gm = symbolic_trace(M::create());
  const auto parsed = parse_graph(text(gm->graph()));
  EXPECT_EQ(parsed->str(), gm->graph().str());
  EXPECT_EQ(text(*parsed), text(gm->graph()));
}

TEST(Mirror, TransformerAndRetraceChangeNothing) {
  const auto gm = symbolic_trace(M::create());
  EXPECT_EQ(Transformer(gm).transform()->graph().str(), kGraph);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
