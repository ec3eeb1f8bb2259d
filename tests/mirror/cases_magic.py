"""Methods behind Python's syntax, called by name."""

import torch
from torch.fx import Graph, GraphModule, Interpreter

from mirror import case, fill


@case
def operator_methods(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    results = []
    for method in [
        "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "div",
        "rdiv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow", "eq", "ne",
        "lt", "le", "gt", "ge",
    ]:
        results.append(graph.call_method(f"__{method}__", (x, 2)))
        results.append(graph.call_method(f"__{method}__", (x, y)))
    for method in ["neg", "pos", "abs", "reversed"]:
        results.append(graph.call_method(f"__{method}__", (x,)))
    for index in [0, -1, slice(None, None, 2), (..., 1), None, (slice(1), None)]:
        results.append(graph.call_method("__getitem__", (x, index)))
    graph.output(tuple(results))
    gm = GraphModule(torch.nn.Module(), graph)
    m.code(gm)
    m.outputs(gm, fill([4, 3], 1) + 2.0625, fill([3], 2) + 1.5625)


@case
def integer_methods(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    results = []
    for method in ["and", "rand", "or", "ror", "xor", "rxor", "lshift", "rlshift",
                   "rshift", "rrshift"]:
        results.append(graph.call_method(f"__{method}__", (x, 2)))
        results.append(graph.call_method(f"__{method}__", (x, y)))
    results.append(graph.call_method("__invert__", (x,)))
    graph.output(tuple(results))
    gm = GraphModule(torch.nn.Module(), graph)
    m.outputs(gm, fill([6], 1, torch.int64), fill([6], 2, torch.int64))


@case
def methods_in_place(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    results = []
    for method in ["iadd", "isub", "imul", "itruediv", "idiv", "ifloordiv", "imod"]:
        clone = graph.call_method("clone", (x,))
        results += [graph.call_method(f"__{method}__", (clone, y)), clone]
    for index, value in [
        (0, 9.0), ((slice(None), 1), y), (..., 2), (-1, y), ((1, slice(0, 2)), 0),
        (None, 3), ([0, 2], 5), ((slice(None), [2, 0]), -1.5),
    ]:
        clone = graph.call_method("clone", (x,))
        results += [graph.call_method("__setitem__", (clone, index, value)), clone]
    mask = graph.call_method("__gt__", (x, 0))
    clone = graph.call_method("clone", (x,))
    results += [graph.call_method("__setitem__", (clone, mask, 7)), clone]
    graph.output(tuple(results))
    gm = GraphModule(torch.nn.Module(), graph)
    m.outputs(gm, fill([3, 3], 1), fill([3], 2) + 1.5625)


@case
def methods_that_give_numbers(m):
    graph = Graph()
    x = graph.placeholder("x")
    n = graph.placeholder("n")
    results = []
    for method in ["len", "bool", "nonzero", "int", "float", "long", "index"]:
        results.append(
            graph.call_method(f"__{method}__", (x if method == "len" else n,))
        )
    results.append(graph.call_method("__contains__", (x, 3)))
    results.append(graph.call_method("__contains__", (x, n)))
    graph.output(results)
    gm = GraphModule(torch.nn.Module(), graph)
    m.outputs(gm, fill([6], 1, torch.int64), torch.tensor([4]))


@case
def methods_of_containers(m):
    graph = Graph()
    items = graph.placeholder("items")
    named = graph.placeholder("named")
    graph.output([
        graph.call_method("__len__", (items,)),
        graph.call_method("__getitem__", (items, -1)),
        graph.call_method("__contains__", (items, 2)),
        graph.call_method("index", (items, 2)),
        graph.call_method("count", (items, 2)),
        graph.call_method("__len__", (named,)),
        graph.call_method("__getitem__", (named, "a")),
        graph.call_method("__contains__", (named, "b")),
        graph.call_method("get", (named, "b")),
        graph.call_method("get", (named, "b", 5)),
        graph.call_method("get", (named, "a", 5)),
    ])
    gm = GraphModule(torch.nn.Module(), graph)
    m.value("results", Interpreter(gm).run([1, 2, 2, 3], {"a": 1}))


@case
def methods_that_fail(m):
    def run(method, *args):
        graph = Graph()
        x = graph.placeholder("x")
        graph.output(graph.call_method(method, (x, *args)))
        gm = GraphModule(torch.nn.Module(), graph)
        Interpreter(gm).run(fill([2, 3]))

    m.error(lambda: run("__foo__"))
    m.error(lambda: run("__call__", 1))
    m.error(lambda: run("__imatmul__", 1))
    m.error(lambda: run("__bool__"))
    m.error(lambda: run("__int__"))
    m.error(lambda: run("__float__"))
    m.error(lambda: run("__index__"))
    m.error(lambda: run("__contains__", "a"))
    m.error(lambda: run("__setitem__", 0, None))
    m.error(lambda: run("__setitem__", 5, 1))
    m.error(lambda: run("__setitem__", 0, "a"))
