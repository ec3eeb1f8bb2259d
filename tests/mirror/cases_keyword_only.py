"""Arguments behind a bare `*`: what traces, code and calls make of them."""

import torch
import torch.fx as fx

from mirror import case, fill


class Scaled(torch.nn.Module):
    def forward(self, x, *, y, scale=2):
        return x * scale + y


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scaled = Scaled()

    def forward(self, x):
        return self.scaled(x, y=x)


class Leaves(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return True


@case
def traced(m):
    gm = fx.symbolic_trace(Scaled())
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3], 1), fill([2, 3], 2))


@case
def called_by_keyword(m):
    m.code(fx.symbolic_trace(Outer()))
    graph = Leaves().trace(Outer())
    m.graph(graph)


@case
def fixed(m):
    gm = fx.symbolic_trace(Scaled(), concrete_args={"scale": 3})
    m.code(gm)


@case
def behind_collected(m):
    def f(x, *rest, y=1, **more):
        return x + y + rest[0] + more["z"]

    gm = fx.symbolic_trace(f)
    m.graph(gm)
    m.code(gm)


@case
def wrong_calls(m):
    scaled = Scaled()
    m.error(lambda: scaled(1, 2))
    m.error(lambda: scaled(1, 2, y=3))
    m.error(lambda: scaled(1, 2, 3, y=3, scale=1))
    m.error(lambda: scaled(1))
    m.error(lambda: scaled())
    m.error(lambda: scaled(1, y=2, z=3))
    m.error(lambda: scaled(1, 2, x=1))
