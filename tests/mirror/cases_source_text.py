"""Generated code and printed nodes: literals, operators, annotations, names."""

import operator

import torch
import torch.fx as fx
from torch.fx import Graph, GraphModule, symbolic_trace

from mirror import case, fill, filled


@case
def empty_graph(m):
    gm = GraphModule(torch.nn.Module(), Graph())
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)


@case
def only_an_input(m):
    gm = symbolic_trace(lambda x: x)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2]))


@case
def literals(m):
    inf, nan = float("inf"), float("nan")
    gm = symbolic_trace(lambda x: (
        x, None, True, 3, -7, 0.1, 1e-05, 1e16, 1e22, 3.141592653589793, -0.0,
        inf, -inf, nan, "text", "it's", 'say "hi"', "a\nb\\c\t", ..., [], (), {},
        (1,), [1, (2, 3)], {"k": [x], 3: None}, slice(1, None, 2),
        torch.float32, torch.int64, torch.bool, 2**40,
    ))
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)


@case
def infinity_and_nan(m):
    def f(x):
        return x + float("inf"), x * float("nan"), torch.clamp(x, max=float("inf"))

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2]))


@case
def inputs_named_like_constants(m):
    graph = Graph()
    inf = graph.placeholder("inf")
    nan = graph.placeholder("nan")
    graph.output(graph.call_function(operator.add, (inf, nan)))
    gm = GraphModule(torch.nn.Module(), graph)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2]), fill([2], 1))


@case
def keyword_arguments(m):
    graph = Graph()
    x = graph.placeholder("x")
    a = graph.call_function(torch.sum, (), {"input": x, "dim": (0, 1)})
    b = graph.call_method("sum", (x,), {"dim": [0], "keepdim": True})
    c = graph.call_function(torch.clamp, (x,), {"min": a, "max": 2.5})
    graph.output({"b": b, "c": c})
    gm = GraphModule(torch.nn.Module(), graph)
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)


@case
def operators_in_place(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    for op in (operator.iadd, operator.isub, operator.imul, operator.itruediv,
               operator.ifloordiv, operator.imod, operator.ipow, operator.iand,
               operator.ior, operator.ixor, operator.ilshift, operator.irshift,
               operator.imatmul):
        y = graph.call_function(op, (y, x))
    graph.output(y)
    gm = GraphModule(torch.nn.Module(), graph)
    m.graph(gm)
    m.code(gm)


@case
def nested_operators(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.call_function(operator.getitem, (x, (slice(None), 0, ..., None)))
    z = graph.call_function(operator.getitem, (y, "key"))
    w = graph.call_function(operator.neg, (z,))
    v = graph.call_function(operator.pow, (w, -2))
    u = graph.call_function(operator.setitem, (x, 0, v))
    t = graph.call_function(operator.not_, (u,))
    graph.output(t)
    gm = GraphModule(torch.nn.Module(), graph)
    m.graph(gm)
    m.code(gm)


@case
def getattr_forms(m):
    graph = Graph()
    x = graph.placeholder("x")
    a = graph.call_function(getattr, (x, "shape"))
    b = graph.call_function(getattr, (x, "0"))
    c = graph.call_function(getattr, (x, "missing", None))
    graph.output((a, b, c))
    gm = GraphModule(torch.nn.Module(), graph)
    m.graph(gm)
    m.code(gm)


@case
def paths_that_are_no_names(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(
                [torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())])
            self.dict = torch.nn.ModuleDict({"a-b": torch.nn.Linear(3, 3)})

        def forward(self, x):
            return self.dict["a-b"](self.layers[0](x)) + self.layers[0][0].bias

    gm = symbolic_trace(filled(M()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def annotations(m):
    def f(x: torch.Tensor, y: int = 3, z: float = 2.5) -> torch.Tensor:
        return x * y + z

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.outputs(gm, fill([3]))


@case
def last_uses(m):
    def f(x, y):
        a = x + y
        b = a * a
        torch.sin(b)
        c = b - x
        return c + y, c

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3]), fill([3], 1))


@case
def no_output(m):
    graph = Graph()
    x = graph.placeholder("x")
    graph.call_function(torch.neg, (x,))
    gm = GraphModule(torch.nn.Module(), graph)
    m.graph(gm)
    m.code(gm)


@case
def default_values(m):
    def f(x, a=None, b=(1, 2), c="s", d=float("inf"), *args, e=2, **kw):
        return x

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)


@case
def printed_module(m):
    class Sub(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.linear(x).relu()

    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.sub = Sub()
            self.act = torch.nn.Sequential(torch.nn.GELU(), torch.nn.Dropout(0.2))

        def forward(self, x):
            return self.act(self.sub(x))

    gm = symbolic_trace(M())
    m.text("str", str(gm))
    m.text("readable", gm.print_readable(print_output=False))


@case
def readable_with_nested_graph_modules(m):
    inner = symbolic_trace(lambda x: torch.relu(x) + 1)

    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x)

    class Leaf(fx.Tracer):
        def is_leaf_module(self, module, name):
            return True

    mod = M()
    gm = GraphModule(mod, Leaf().trace(mod))
    m.graph(gm)
    m.text("readable", gm.print_readable(print_output=False))
    m.outputs(gm, fill([3]))


@case
def many_names(m):
    def f(x):
        outputs = []
        for _ in range(12):
            x = x.add(1)
            outputs.append(torch.add(x, 2) + 3)
        return outputs

    gm = symbolic_trace(f)
    m.code(gm)
    m.outputs(gm, fill([2]))


@case
def node_texts(m):
    graph = Graph()
    x = graph.placeholder("x", default_value=2)
    y = graph.placeholder("y", type_expr=torch.Tensor)
    w = graph.get_attr("a.b")
    f = graph.call_function(torch.add, (x, y), {"alpha": w},
                            type_expr=torch.Tensor)
    g = graph.call_method("relu", (f,))
    h = graph.call_module("layer.0", (g, 1.5), {"k": [g, "s"]})
    out = graph.output((h, [w]))
    for node in (x, y, w, f, g, h, out):
        m.text(node.name, str(node.format_node()))


@case
def writing_operators_run(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.call_method("clone", (x,))
    graph.call_function(operator.setitem, (y, (slice(1, None),), 7))
    graph.call_function(operator.setitem, (y, 0, 5))
    z = graph.call_function(operator.ilshift, (y, 2))
    w = graph.call_function(operator.irshift, (z, 1))
    v = graph.call_function(operator.iadd, (w, 1))
    graph.output((y, v))
    gm = GraphModule(torch.nn.Module(), graph)
    m.value("changed", gm.graph.eliminate_dead_code())
    m.code(gm)
    m.outputs(gm, fill([4], 1, torch.int64))
