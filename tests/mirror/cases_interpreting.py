"""Interpreter and Transformer: what their handlers see and make."""

import torch
import torch.fx as fx
from torch.fx import Interpreter, Transformer, symbolic_trace

from mirror import case, fill, filled


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.param = torch.nn.Parameter(torch.rand(3, 4))
        self.linear = torch.nn.Linear(4, 5)

    def forward(self, x):
        return self.linear(x + self.param).clamp(min=0.0, max=1.0)


@case
def every_handler_is_called(m):
    class Noting(Interpreter):
        def __init__(self, module):
            super().__init__(module)
            self.seen = []

        def run_node(self, n):
            self.seen.append(n.op + " " + n.name)
            return super().run_node(n)

        def placeholder(self, target, args, kwargs):
            self.seen.append("placeholder " + str(target))
            return super().placeholder(target, args, kwargs)

        def get_attr(self, target, args, kwargs):
            self.seen.append("get_attr " + str(target))
            return super().get_attr(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            self.seen.append(f"call_method {target} {kwargs}")
            return super().call_method(target, args, kwargs)

        def call_module(self, target, args, kwargs):
            self.seen.append("call_module " + str(target))
            return super().call_module(target, args, kwargs)

        def output(self, target, args, kwargs):
            self.seen.append("output " + str(target))
            return super().output(target, args, kwargs)

    gm = symbolic_trace(filled(Model()))
    noting = Noting(gm)
    m.value("result", noting.run(fill([3, 4], 1)))
    m.value("seen", noting.seen)


@case
def partial_evaluation(m):
    gm = symbolic_trace(lambda x: torch.relu(x).neg() + 1)
    relu = next(n for n in gm.graph.nodes if n.name == "relu")
    interpreter = Interpreter(gm)
    m.value("result", interpreter.run(fill([3]), initial_env={relu: fill([3], 5)}))


@case
def star_arguments(m):
    gm = symbolic_trace(StarArgs())
    m.graph(gm)
    m.code(gm)
    m.value("result", Interpreter(gm).run(fill([2]), fill([2], 1), fill([2], 2)))


class StarArgs(torch.nn.Module):
    def forward(self, x, *args):
        return x + args[0] * args[1]


@case
def default_arguments(m):
    def f(x, y=3.14159):
        return x + y

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3]))
    m.outputs(gm, fill([3]), 2.0)


@case
def values_are_freed(m):
    gm = symbolic_trace(filled(Model()))
    for collect in (True, False):
        interpreter = Interpreter(gm, garbage_collect_values=collect)
        interpreter.run(fill([3, 4]))
        m.value("left", [n.name for n in gm.graph.nodes if n in interpreter.env])


@case
def boxed_run(m):
    gm = symbolic_trace(lambda x, y: x * 2 + y)
    box = [fill([2]), fill([2], 3)]
    m.value("result", Interpreter(gm).boxed_run(box))
    m.value("box", box)
    m.error(lambda: Interpreter(gm).boxed_run([fill([2])]))


@case
def missing_value(m):
    graph = fx.Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(torch.relu, (x,))
    neg = graph.call_function(torch.neg, (relu,))
    graph.output(neg)
    relu.prepend(neg)
    gm = fx.GraphModule(torch.nn.Module(), fx.Graph())
    interpreter = Interpreter(gm, graph=graph)
    m.error(lambda: interpreter.run(fill([2])))


@case
def attribute_that_is_gone(m):
    gm = symbolic_trace(filled(Model()))
    del gm.param
    m.error(lambda: Interpreter(gm).run(fill([3, 4])))


@case
def shapes_by_an_interpreter(m):
    class Shapes(Interpreter):
        def run_node(self, n):
            result = super().run_node(n)
            if isinstance(result, torch.Tensor):
                n.meta["shape"] = list(result.shape)
            return result

    gm = symbolic_trace(filled(Model()))
    Shapes(gm).run(fill([3, 4]))
    m.value("shapes", [[n.name, n.meta.get("shape")] for n in gm.graph.nodes])


@case
def transformer_changes_nothing(m):
    gm = symbolic_trace(filled(Model()))
    transformed = Transformer(gm).transform()
    m.graph(transformed)
    m.code(transformed)
    m.outputs(transformed, fill([3, 4]))


@case
def transformer_swaps_ops(m):
    class Swap(Transformer):
        def call_function(self, target, args, kwargs):
            if target == torch.sigmoid:
                return torch.neg(*args, **kwargs)
            return super().call_function(target, args, kwargs)

        def call_module(self, target, args, kwargs):
            return super().call_module(target, args, kwargs) * 2

    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x):
            return torch.sigmoid(self.linear(x)) - x

    gm = symbolic_trace(filled(M()))
    transformed = Swap(gm).transform()
    m.graph(transformed)
    m.code(transformed)
    m.outputs(transformed, fill([2, 3]))


@case
def transformer_with_several_outputs(m):
    gm = symbolic_trace(lambda x, y=2: (x * y, {"neg": -x, "list": [x, y]}))
    transformed = Transformer(gm).transform()
    m.graph(transformed)
    m.code(transformed)
    m.outputs(transformed, fill([3]))


@case
def transformer_keeps_variadics(m):
    class M(torch.nn.Module):
        def forward(self, x, *args, **kwargs):
            return x + args[0] - kwargs["z"]

    transformed = Transformer(symbolic_trace(M())).transform()
    m.graph(transformed)
    m.code(transformed)


@case
def decomposing_transformer(m):
    class Decompose(Transformer):
        def call_function(self, target, args, kwargs):
            if target == torch.nn.functional.silu:
                return args[0] * torch.sigmoid(args[0])
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target == "square":
                return args[0] * args[0]
            return super().call_method(target, args, kwargs)

    gm = symbolic_trace(
        lambda x: torch.nn.functional.silu(x.square()).square())
    transformed = Decompose(gm).transform()
    m.graph(transformed)
    m.code(transformed)
    m.outputs(transformed, fill([4]))
