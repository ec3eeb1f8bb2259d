"""Values of all kinds as arguments: how graphs, tables and code print them."""

import math
import operator

import torch
from torch.fx import Graph

from mirror import case

FLOATS = [
    0.0, -0.0, 1.0, -1.5, 0.1 + 0.2, 1e15, 1e16, 1.5e16, 123456789012345678.0,
    9007199254740993.0, 1e-4, 1e-5, 0.00012345, 5e-324, 2.2250738585072014e-308,
    1.7976931348623157e308, 1e22, 1e100, -1e-7, math.pi, math.inf, -math.inf,
    math.nan, 3.0e8, 100000.0, 1e5 + 0.1,
]

STRINGS = [
    "", "a", "'", '"', "'\"", "\\", "\\n", "\n", "\r\t", "\0", "\x01\x1f", "\x7f",
    "\u00e9", "\u65e5\u672c\u8a9e", "\U0001f600", "\u00a0", "\u00ad", "\u0085",
    "\u200b", "\u2028", "\ufeff", "\ue000", "\u3000", "%x", "{}", "a b",
    "it's \u00e9", "\ufffd", "\U000e0001", "\U0010ffff", "\u00ff\u0100",
]


def all_in_one(values):
    graph = Graph()
    x = graph.placeholder("x")
    for value in values:
        graph.call_function(torch.add, (x, value), {"k": value})
    graph.output(x)
    return graph


@case
def floats(m):
    graph = all_in_one(FLOATS)
    m.graph(graph)
    m.code(graph)
    m.tabular(graph)


@case
def strings(m):
    graph = all_in_one(STRINGS)
    m.text("graph", "\n".join(n.format_node() for n in list(graph.nodes)[1:8]))
    m.code(graph)


@case
def strings_in_containers(m):
    graph = all_in_one([[s] for s in STRINGS] + [{s: (s,)} for s in STRINGS])
    m.text("graph", "\n".join(n.format_node() for n in list(graph.nodes)[1:9]))
    m.code(graph)
    m.tabular(graph)


@case
def integers_and_constants(m):
    graph = all_in_one([
        0, -1, 2**63 - 1, -2**63, True, False, None, ..., torch.float32,
        torch.bool, torch.int64, torch.bfloat16, range(3), range(1, 3),
        range(5, 0, -2), range(0),
    ])
    m.graph(graph)
    m.code(graph)
    m.tabular(graph)


@case
def containers(m):
    graph = Graph()
    x = graph.placeholder("x")
    for value in [
        (), [], {}, (1,), [1], ((),), [[]], ([],), {"a": {}}, {"a": {"b": (x,)}},
        [x, [x, (x,)]], (x,), {"k": [x, None]}, {1: x}, {(1, "a"): [x]},
        {None: 1}, {True: 0, 2.5: 1}, {"a b": 1}, ((1, (2, (3,))),),
        [None, ..., True], {"x": "x"}, ["x", x],
    ]:
        graph.call_function(torch.add, (value,), {"k": value})
    graph.output({"r": [x, (x, {"s": x})]})
    m.graph(graph)
    m.code(graph)
    m.tabular(graph)


@case
def slices(m):
    graph = Graph()
    x = graph.placeholder("x")
    n = graph.placeholder("n")
    for index in [
        slice(None), slice(1), slice(1, 2), slice(None, None, 2), slice(-3, None),
        slice(None, -1), slice(0, 0, 1), slice(n, None, n), slice((1, n), [n]),
        (slice(None), 0), (..., None), (None, slice(1, 3), ...), (), (0,),
        [slice(1)], {"s": slice(n)}, slice("a", None), slice(1.5, -0.0),
    ]:
        graph.call_function(operator.getitem, (x, index))
    graph.output(slice(x, n))
    m.graph(graph)
    m.code(graph)
    m.tabular(graph)


@case
def long_containers(m):
    graph = Graph()
    x = graph.placeholder("x")
    cat = graph.call_function(torch.cat, ([x] * 300,), {"dim": 0})
    graph.call_function(torch.add, (list(range(200)),))
    graph.output((cat,) * 40)
    m.graph(graph)
    m.code(graph)
    m.value("users", len(x.users))


@case
def defaults_and_types(m):
    graph = Graph()
    values = [None, 1, -0.0, 1e16, "a", "it's", (), [1], {"a": 1}, ..., True,
              torch.float16, slice(1)]
    for i, value in enumerate(values):
        graph.placeholder(f"x{i}", default_value=value)
    graph.output(None)
    m.graph(graph)
    m.code(graph)
    m.tabular(graph)


@case
def outputs_of_all_kinds(m):
    lines = []
    for value in [None, 1, -0.0, "a", "it's", (), [], {}, (1,), ..., slice(1),
                  torch.float32, True, float("nan"), ("a",), {"a": None}]:
        graph = Graph()
        graph.output(value)
        lines.append(str(graph))
        lines.append(graph.python_code("self").src)
    m.text("all", "\n".join(lines))


@case
def keywords_of_all_kinds(m):
    graph = Graph()
    x = graph.placeholder("x")
    graph.call_function(torch.add, (x,), {"a": 1, "class": 2, "a b": 3, "": x})
    graph.call_method("foo.bar", (x,), {"self": x})
    graph.call_method("a b", (x, "s"))
    graph.call_module("0.1.weight x", (x,))
    graph.get_attr("a.1b.c d")
    graph.call_function(getattr, (x, "shape"))
    graph.call_function(getattr, (x, "a b"))
    graph.call_function(getattr, (x, "shape", None))
    graph.call_function(getattr, ("s", "upper"))
    graph.output(x)
    m.graph(graph)
    m.code(graph)
    m.tabular(graph)
