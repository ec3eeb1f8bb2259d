"""Arguments fixed while tracing; containers taken apart (concrete_args)."""

import torch
from torch.fx import PH, Interpreter, Tracer, Transformer, symbolic_trace
from torch.fx import GraphModule

from mirror import case, fill, filled


def add_parts(x, y):
    total = y
    for part in x.values():
        total = total + part
    return {"sum": total, "parts": (total, y)}


@case
def dict_of_symbols(m):
    gm = symbolic_trace(add_parts, {"x": {"a": PH, "b": PH}})
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, {"a": fill([3]), "b": fill([3], 1)}, fill([3], 2))


@case
def order_of_keys(m):
    gm = symbolic_trace(add_parts, {"x": {"a": PH, "b": PH}})
    m.value("swapped", gm({"b": fill([3], 1), "a": fill([3])}, fill([3], 2)))
    m.error(lambda: gm({"b": fill([3], 1)}, fill([3], 2)))


class Adder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(3))

    def forward(self, x, flag):
        return x[0] + x[1] + self.w if flag else x[0]


@case
def tuple_into_a_module(m):
    gm = symbolic_trace(filled(Adder()), {"x": (PH, PH), "flag": True})
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.value("called", gm((fill([3]), fill([3], 1)), True))
    m.error(lambda: Interpreter(gm).run((fill([3]), fill([3], 1)), False))


@case
def nested_containers(m):
    def f(x):
        return [x["a"][0] * x["a"][1], {"b": x["b"]}]

    gm = symbolic_trace(f, {"x": {"a": [PH, PH], "b": (PH,)}})
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, {"a": [fill([2]), fill([2], 1)], "b": (fill([2], 2),)})


@case
def specialised_leaves(m):
    def f(x):
        return x[0] * x[1] + (0 if x[2] is None else 1)

    gm = symbolic_trace(f, {"x": [PH, 3, None]})
    m.graph(gm)
    m.code(gm)
    m.value("called", gm([fill([3]), 3, None]))
    m.error(lambda: Interpreter(gm).run([fill([3]), 4, None]))
    m.error(lambda: Interpreter(gm).run([fill([3]), 3, 1]))


@case
def empty_container(m):
    def f(x, y):
        return y

    gm = symbolic_trace(f, {"x": []})
    m.graph(gm)
    m.code(gm)
    m.value("called", gm([], fill([2])))


@case
def scalars(m):
    def f(x, n, s, q, flag):
        assert s == "text" and q is None and flag is False
        return x * n

    fixed = {"n": 2.5, "s": "text", "q": None, "flag": False}
    gm = symbolic_trace(f, fixed)
    m.graph(gm)
    m.code(gm)
    m.value("called", gm(fill([3]), 2.5, "text", None, False))
    m.error(lambda: Interpreter(gm).run(fill([3]), 2.0, "text", None, False))
    m.error(lambda: Interpreter(gm).run(fill([3]), 2.5, "other", None, False))
    m.error(lambda: Interpreter(gm).run(fill([3]), 2.5, "text", 0, False))


@case
def by_position(m):
    def f(x, flag):
        return x + 1 if flag else x

    tracer = Tracer()
    graph = tracer.trace(f, (PH, True))
    m.graph(graph)
    m.code(graph)
    m.error(lambda: Tracer().trace(f, (PH,)))


@case
def variadic_by_position(m):
    class Variadic(torch.nn.Module):
        def forward(self, *args):
            return args[0] + args[1]

    tracer = Tracer()
    graph = tracer.trace(Variadic(), (PH, PH))
    m.graph(graph)
    m.outputs(GraphModule(tracer.root, graph), fill([2]), fill([2], 1))
    m.error(lambda: Tracer().trace(lambda *args: args[0], (PH, PH)))


@case
def not_asserted(m):
    def f(x, t):
        return x

    m.warning(lambda: symbolic_trace(f, {"t": slice(1, 2)}))


@case
def transformed_and_interpreted(m):
    gm = symbolic_trace(add_parts, {"x": {"a": PH, "b": PH}})
    changed = Transformer(gm).transform()
    m.code(changed)
    x = {"a": fill([3]), "b": fill([3], 1)}
    m.value("transformed", changed(x, fill([3], 2)))
    m.value("interpreted", Interpreter(gm).run(x, fill([3], 2)))
