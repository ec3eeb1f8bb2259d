"""ShapeProp, CSE, constant folding."""

import torch
from torch.fx import symbolic_trace
from torch.fx.experimental.const_fold import split_const_subgraphs
from torch.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops
from torch.fx.passes.shape_prop import ShapeProp

from mirror import case, fill, filled


def metadata(gm):
    """One line per node with tensor_meta, containers as Python prints them."""
    return "\n".join(
        f"{node.name}: {node.meta['tensor_meta']}"
        for node in gm.graph.nodes if "tensor_meta" in node.meta)


@case
def shapes_of_a_net(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.param = torch.nn.Parameter(torch.zeros(3, 4))
            self.linear = torch.nn.Linear(4, 5)

        def forward(self, x):
            y = self.linear(x + self.param).clamp(min=0.0)
            return torch.relu(y).t()

    gm = symbolic_trace(filled(M()))
    m.value("result", ShapeProp(gm).propagate(fill([3, 4], 1)))
    m.text("meta", metadata(gm))


@case
def shapes_of_images(m):
    def f(x):
        y = x.permute(0, 2, 3, 1)
        z = y.permute(0, 3, 1, 2)
        return z + 1, y.sum(), x.view(2, 48)[:, 0]

    gm = symbolic_trace(f)
    ShapeProp(gm).propagate(fill([2, 3, 4, 4], 1))
    m.text("meta", "\n".join(
        f"{node.name}: {node.meta['tensor_meta']}"
        for node in gm.graph.nodes
        if node.op != "output" and "tensor_meta" in node.meta))


@case
def numbers_have_no_metadata(m):
    def f(x):
        return x.size(0) + 1

    gm = symbolic_trace(f)
    ShapeProp(gm).propagate(fill([2, 3], 1))
    m.text("meta", metadata(gm))


def cse(m, function, banned=get_CSE_banned_ops()):
    gm = symbolic_trace(function)
    result = CSEPass(banned)(gm)
    m.value("modified", result.modified)
    m.graph(result.graph_module)
    m.code(result.graph_module)
    return result.graph_module


@case
def cse_nothing(m):
    def f(x):
        a = x + 1
        b = x + a
        return a + b + x

    cse(m, f)


@case
def cse_simple(m):
    def f(x):
        a = x.cos()
        b = x.cos()
        c = a + a
        d = b + b
        return c + d

    gm = cse(m, f)
    m.outputs(gm, fill([3, 4], 1))


@case
def cse_chains(m):
    def f(x):
        a, b = x.sum(), x.sum()
        c = a + b
        d = x.sum()
        return c + d, torch.cat([x, x], 0), torch.cat([x, x], 0)

    cse(m, f)


@case
def cse_keywords(m):
    def f(a):
        b = a.sum(dim=1)
        c = a.sum(dim=1)
        d = a.sum(dim=0)
        return b + c, d

    cse(m, f)


@case
def cse_keeps_attributes(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.zeros(4))

        def forward(self, x):
            return torch.relu(x + self.w) * torch.relu(x + self.w)

    cse(m, filled(M()))


class Foldable(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.zeros(4))
        self.b = torch.nn.Parameter(torch.zeros(4))
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x):
        c = self.a + self.b
        return (x - c) * self.a.abs() + self.lin(self.b)


def fold(m, module, *inputs, skip=None):
    folded = split_const_subgraphs(module, skip)
    m.graph(folded)
    m.code(folded)
    if folded.const_subgraph_module is not None:
        m.graph(folded.const_subgraph_module)
        folded.run_folding()
    m.outputs(folded, *inputs)


@case
def fold_several(m):
    fold(m, symbolic_trace(filled(Foldable())), fill([3, 4], 1))


@case
def fold_one(m):
    class M(Foldable):
        def forward(self, x):
            return torch.relu(x) + torch.relu(self.a + self.b)

    fold(m, symbolic_trace(filled(M())), fill([3, 4], 1))


@case
def fold_nothing(m):
    class M(Foldable):
        def forward(self, x):
            return x + self.a

    fold(m, symbolic_trace(filled(M())), fill([3, 4], 1))


@case
def fold_with_exceptions(m):
    fold(m, symbolic_trace(filled(Foldable())), fill([3, 4], 1),
         skip=lambda node: node.target == "abs")
