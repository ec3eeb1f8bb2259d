"""Functions as leaves: wrap, autowrap, Python's math and builtins."""

import math

import torch
from torch import fx
from torch.fx import Tracer, Transformer, symbolic_trace

from mirror import case, fill


def scaled(x, by=2):
    return x * by + 1


def of_pair(pair, key):
    return pair[0] + pair[1][key]


def run_through(x):
    return torch.relu(x) + 1


fx.wrap("scaled")
fx.wrap("of_pair")
fx.wrap("len")


@case
def kept_call(m):
    gm = symbolic_trace(lambda x: scaled(x, by=3) + scaled(2))
    m.graph(gm)
    m.code(gm)
    m.value("called", gm(fill([3])))


@case
def nested_proxies(m):
    gm = symbolic_trace(lambda x, y: of_pair((x, {"k": y}), "k"))
    m.graph(gm)
    m.code(gm)


@case
def retraced_and_transformed(m):
    gm = symbolic_trace(lambda x: scaled(x))
    m.code(symbolic_trace(gm))
    m.code(Transformer(gm).transform())


@case
def math_by_default(m):
    gm = symbolic_trace(lambda x: math.floor(x.size(0)) + math.sqrt(16))
    m.graph(gm)
    m.code(gm)
    m.value("called", gm(fill([3])))


@case
def builtins(m):
    gm = symbolic_trace(lambda x: x.sum() / len(x))
    m.graph(gm)
    m.code(gm)
    m.value("called", gm(fill([4])))


@case
def functions_on_request(m):
    root = lambda x: run_through(x)  # noqa: E731
    m.graph(Tracer().trace(root))
    m.graph(Tracer(autowrap_functions=(run_through,)).trace(root))
    m.error(lambda: Tracer(autowrap_modules=()).trace(lambda x: math.sqrt(x)))


@case
def marked_nodes(m):
    gm = symbolic_trace(lambda x: scaled(math.sqrt(x.sum())) * 2)
    marks = [f"{n}: {n.meta.get('is_wrapped', False)}" for n in gm.graph.nodes]
    m.text("marks", "\n".join(marks))
