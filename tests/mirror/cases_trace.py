"""Tracing of modules and functions: what is recorded, under which names."""

import torch
from torch.fx import symbolic_trace

from mirror import case, fill, filled


@case
def linear_relu(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.param = torch.nn.Parameter(torch.zeros(3, 4))
            self.linear = torch.nn.Linear(4, 5)

        def forward(self, x):
            return self.linear(x + self.param).clamp(min=0.0, max=1.0)

    gm = symbolic_trace(filled(M()))
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.outputs(gm, fill([3, 4], 1))


@case
def control_flow(m):
    def f(x):
        if x.sum() > 0:
            return x
        return -x

    m.error(lambda: symbolic_trace(f))
