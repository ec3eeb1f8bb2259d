"""Functions as leaves of traces: wrap, autowrap, and what survives transforms."""

import math

import torch
import torch.fx as fx
from torch.fx import Transformer, symbolic_trace

from mirror import case, fill


@fx.wrap
def a_lifted_leaf(a, b):
    return a[0] + a[1] + b


@fx.wrap
def scaled(x, factor=1.0):
    return x * factor


def not_wrapped(x):
    return x * 2 + 1


@case
def recorded_with_nested_proxies(m):
    def to_trace(y):
        return (a_lifted_leaf((4, y), 3) + a_lifted_leaf((3, 4), 5)
                + a_lifted_leaf((y, y), y))

    gm = symbolic_trace(to_trace)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, 2)
    m.value("eager", a_lifted_leaf((3, 4), 5))


@case
def keywords(m):
    gm = symbolic_trace(lambda x: scaled(x) + scaled(x, factor=2.5))
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.outputs(gm, fill([3]))


@case
def retraced(m):
    gm = symbolic_trace(lambda x: scaled(x, 3.0).neg())
    again = symbolic_trace(gm)
    m.graph(again)
    m.code(again)
    m.outputs(again, fill([3]))


@case
def transformed(m):
    gm = symbolic_trace(lambda x: scaled(x, 3.0).neg())
    again = Transformer(gm).transform()
    m.graph(again)
    m.code(again)
    m.outputs(again, fill([3]))


@case
def not_wrapped_is_traced_through(m):
    gm = symbolic_trace(lambda x: not_wrapped(x))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3]))


@case
def math_functions(m):
    gm = symbolic_trace(lambda x: (math.sqrt(x) + math.floor(x) * math.pi,
                                   math.pow(x, 2), math.sqrt(2.25)))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, 6.25)


@case
def unused_calls_are_removed(m):
    def f(x):
        scaled(x, 2)
        return x + 1

    gm = symbolic_trace(f)
    m.value("changed", gm.graph.eliminate_dead_code())
    m.graph(gm)


@case
def marked_as_wrapped(m):
    gm = symbolic_trace(lambda x: scaled(x).neg())
    m.value("wrapped", [[n.name, n.meta.get("is_wrapped", False)]
                        for n in gm.graph.nodes])
