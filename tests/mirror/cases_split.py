"""split_module: which submodules are made, what they pass on, in which order."""

import torch
from torch.fx import symbolic_trace
from torch.fx.passes.split_module import split_module

from mirror import case, fill, filled


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.param = torch.nn.Parameter(torch.zeros(3, 4))
        self.linear = torch.nn.Linear(4, 5)

    def forward(self, x, y):
        z = self.linear(x + self.param).clamp(min=0.0, max=1.0)
        w = self.linear(y).clamp(min=0.0, max=1.0)
        return z + w


def by_turns(count):
    state = {"next": 0}

    def partition(node):
        state["next"] += 1
        return (state["next"] - 1) % count

    return partition


def by_name(**partitions):
    return lambda node: partitions[node.name]


def split(m, gm, callback, **options):
    """Records the whole and each submodule."""
    made = split_module(gm, gm, callback, **options)
    m.graph(made)
    m.code(made)
    for name, child in made.named_children():
        if isinstance(child, torch.fx.GraphModule):
            m.text("submodule", name)
            m.graph(child)
    return made


@case
def by_turns_of_three(m):
    gm = symbolic_trace(filled(Model()))
    made = split(m, gm, by_turns(3))
    m.outputs(made, fill([3, 4], 1), fill([3, 4], 2))


@case
def one_partition(m):
    split(m, symbolic_trace(filled(Model())), lambda node: 7)


@case
def tuples_and_names(m):
    gm = symbolic_trace(filled(Model()))
    names = {}
    split(m, gm, by_turns(3), qualname_map=names, tuple_return=True,
          keep_original_node_name=True, partition_affix="part")
    m.text("names", "\n".join(f"{k}={v}" for k, v in names.items()))


@case
def numbered_inputs(m):
    gm = symbolic_trace(filled(Model()))
    split(m, gm, by_turns(3), keep_original_input_name=False)


def branches(x, y):
    a = torch.relu(x)
    b = torch.sigmoid(y)
    c = torch.neg(x)
    d = a + b
    return d * c, b


PARTS = by_name(relu=0, sigmoid=1, neg=2, add=3, mul=3)


@case
def several_roots(m):
    gm = symbolic_trace(branches)
    made = split(m, gm, PARTS)
    m.outputs(made, fill([3, 4], 1), fill([3, 4], 2))


@case
def original_order(m):
    split(m, symbolic_trace(branches), PARTS, keep_original_order=True)


@case
def original_order_of_parameters(m):
    gm = symbolic_trace(filled(Model()))
    split(m, gm, by_turns(3), keep_original_order=True)


@case
def defaults_and_unused(m):
    def f(x, unused, scale=2.0):
        return torch.relu(x) * scale

    split(m, symbolic_trace(f), lambda node: 0)


@case
def nothing_to_split(m):
    split(m, symbolic_trace(lambda x: x), lambda node: 0)


@case
def cycle(m):
    def f(x):
        return torch.neg(torch.sigmoid(torch.relu(x)))

    gm = symbolic_trace(f)
    m.error(lambda: split_module(gm, gm, by_name(relu=0, sigmoid=1, neg=0)))
