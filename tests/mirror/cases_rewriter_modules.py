"""subgraph_rewriter on modules: what becomes of parameters and submodules."""

import torch
from torch.fx import replace_pattern, symbolic_trace

from cases_rewriter import rewrite
from mirror import case, fill, filled


@case
def keywords_of_linear(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.zeros(4, 4))
            self.b = torch.nn.Parameter(torch.zeros(4))

        def forward(self, x, c):
            linear = torch.nn.functional.linear(x, self.w, bias=self.b)
            return c * linear + x

    def pattern(a, b, bias, c):
        product = torch.nn.functional.linear(a, b, bias=bias)
        return product, c * product

    def replacement(a, b, bias, c):
        product = torch.nn.functional.linear(a, b, bias)
        return product, torch.mul(product, c)

    rewrite(m, filled(M()), pattern, replacement)


@case
def submodules(m):
    class Before(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.sigmoid = torch.nn.Sigmoid()
            self.submod = torch.nn.ReLU()

        def forward(self, x):
            return self.submod(self.sigmoid(x))

    class M(Before):
        def forward(self, x):
            return self.submod(self.sigmoid(x + 1))

    class After(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tanh = torch.nn.Tanh()
            self.submod = torch.nn.ReLU()

        def forward(self, x):
            return self.submod(self.tanh(x))

    gm = rewrite(m, M(), Before(), After())
    m.text("children", " ".join(name for name, _ in gm.named_children()))
    m.outputs(gm, fill([3, 4], 1))


@case
def attributes(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.tensor([1.0])
            self.b = torch.tensor([2.0])

        def forward(self, x):
            return x + self.a - self.b

    class Pattern(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.tensor([9.0])

        def forward(self, x):
            return x + self.a

    class Replacement(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.c = torch.tensor([3.0])

        def forward(self, x):
            return x - self.c

    gm = rewrite(m, M(), Pattern(), Replacement())
    m.outputs(gm, fill([3, 4], 1))


@case
def missing_attribute(m):
    class M(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x)

    pattern = torch.fx.symbolic_trace(M())
    graph = torch.fx.Graph()
    graph.output(graph.call_module("absent", (graph.placeholder("x"),)))
    gm = symbolic_trace(M())
    replacement = torch.fx.GraphModule({"absent": torch.nn.ReLU()}, graph)
    replacement.delete_submodule("absent")
    m.error(lambda: replace_pattern(gm, pattern, replacement))
