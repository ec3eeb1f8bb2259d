"""What cannot be traced, and with which words it is refused."""

import torch
import torch.fx as fx
from torch.fx import Graph, GraphModule, Tracer, symbolic_trace

from mirror import case, fill, filled


@case
def branch(m):
    m.error(lambda: symbolic_trace(lambda x: x if x.sum() > 0 else -x))


@case
def while_loop(m):
    def f(x):
        while x.any():
            x = x - 1
        return x

    m.error(lambda: symbolic_trace(f))


@case
def logic_operators(m):
    m.error(lambda: symbolic_trace(lambda x, y: x and y))
    m.error(lambda: symbolic_trace(lambda x: not x))


@case
def python_assert(m):
    def f(x):
        assert x.sum() == 0
        return x

    m.error(lambda: symbolic_trace(f))


@case
def iteration(m):
    def f(x):
        return [y for y in x]

    m.error(lambda: symbolic_trace(f))


@case
def length(m):
    m.error(lambda: symbolic_trace(lambda x: x / x.__len__()))


@case
def condition_inside_a_module(m):
    class Inner(torch.nn.Module):
        def forward(self, x):
            return x if x.shape[0] > 1 else -x

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x)

    m.error(lambda: symbolic_trace(Outer()))


@case
def unknown_argument(m):
    tracer = Tracer()
    tracer.graph = Graph()
    tracer.root = torch.nn.Module()
    m.error(lambda: tracer.create_arg(object()))


@case
def two_tracers(m):
    def placeholder():
        tracer = Tracer()
        tracer.graph = Graph()
        return tracer.create_proxy("placeholder", "x", (), {})

    a, b = placeholder(), placeholder()
    m.error(lambda: torch.add(a, b), until=" [")


@case
def traced_func_name(m):
    class M(torch.nn.Module):
        def forward(self, x):
            return x

    tracer = Tracer()
    tracer.traced_func_name = "other"
    m.error(lambda: tracer.trace(M()))


@case
def module_outside_of_the_root(m):
    outside = torch.nn.Linear(2, 2)

    class M(torch.nn.Module):
        def forward(self, x):
            return outside(x)

    m.error(lambda: symbolic_trace(M()))


@case
def parameter_outside_of_the_root(m):
    outside = torch.nn.Parameter(torch.rand(2))

    class M(torch.nn.Module):
        def forward(self, x):
            return x + outside

    m.error(lambda: symbolic_trace(M()))


@case
def node_in_a_dict_key(m):
    m.error(lambda: symbolic_trace(lambda x: {x: 3}))


@case
def missing_attribute(m):
    class M(torch.nn.Module):
        def forward(self, x):
            return x

    graph = Graph()
    graph.output(graph.get_attr("a.b.c"))
    m.error(lambda: GraphModule(M(), graph))


@case
def missing_in_a_dict(m):
    graph = Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("foo.bar", (x,)))
    m.error(lambda: GraphModule({}, graph))


@case
def traced_assertion(m):
    def f(x):
        torch._assert(x.sum() > 0, "assert_foobar")
        return x * 2

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, torch.ones(3))
    m.error(lambda: gm(-torch.ones(3)))


@case
def not_enough_arguments(m):
    gm = symbolic_trace(lambda x, y: x + y)
    m.error(lambda: fx.Interpreter(gm).run(torch.ones(2)))


@case
def failing_node(m):
    gm = symbolic_trace(lambda x, y: torch.matmul(x, y).relu())
    m.error(lambda: fx.Interpreter(gm).run(fill([2, 3]), fill([2, 3])))


@case
def default_iteration_of_star_args(m):
    def helper(a, b):
        return a + b

    m.error(lambda: symbolic_trace(lambda x: helper(*x)))
