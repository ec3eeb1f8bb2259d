"""Nodes that come from inside one argument or one call come in Python's order,
from left to right."""

import torch
import torch.fx as fx
from torch.fx import symbolic_trace

from mirror import case, fill, filled


@case
def slices_of_attributes(m):
    m.graph(symbolic_trace(lambda x, y: x[y.first:y.second:y.third]))
    m.graph(symbolic_trace(lambda x, y: x[y.a : y.b, y.c : y.d]))
    m.graph(symbolic_trace(lambda x, y: torch.narrow(x, 0, y.a, length=y.b)))


@case
def slices_of_parameters(m):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Parameter(torch.zeros(1))
            self.b = torch.nn.Parameter(torch.zeros(1))
            self.c = torch.nn.Parameter(torch.zeros(1))

        def forward(self, x):
            return x[self.a : self.b : self.c]

    m.graph(symbolic_trace(Net()))
    m.code(symbolic_trace(Net()))


@case
def mapped_slices(m):
    graph = fx.Graph()
    a, b, c = (graph.placeholder(name) for name in "abc")
    seen = []

    def note(node):
        seen.append(node.name)
        return node

    fx.map_arg(([slice(a, b, c), {"k": slice(c, None, a)}], slice(None, b)), note)
    m.value("seen", seen)
    seen.clear()
    fx.node.map_aggregate(
        [1, slice(2, 3, 4), (5,)], lambda leaf: seen.append(leaf) or leaf
    )
    m.value("leaves", seen)


@case
def copied_nodes(m):
    graph = fx.Graph()
    a, b, c = (graph.placeholder(name) for name in "abc")
    call = graph.call_function(
        torch.clamp, ([a, b], slice(c, a, b)), {"min": b, "max": [c, a]}
    )
    seen = []
    other = fx.Graph()

    def mapped(node):
        seen.append(node.name)
        return other.get_attr(node.name)

    other.node_copy(call, mapped)
    m.value("seen", seen)
    m.graph(other)


@case
def transformed_slices(m):
    class Renewed(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(target, args, kwargs) + 1

    gm = symbolic_trace(lambda x, y: x[y.size(0) : y.size(1), 1 : y.size(2)])
    m.graph(Renewed(gm).transform())


@case
def sums_of_calls(m):
    def forward(x):
        left = torch.relu(x)
        right = torch.sigmoid(x)
        return left + right

    m.graph(symbolic_trace(forward))
    m.outputs(symbolic_trace(forward), fill([2, 3]))


@case
def arguments_of_wrapped_calls(m):
    gm = symbolic_trace(
        lambda x, y: torch.cat([x.a, x.b], dim=y.c).clamp(y.d, max=y.e)
    )
    m.graph(gm)
