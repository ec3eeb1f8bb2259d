"""Graph modules that went through a file: torch pickles and traces the code
again, fxjit saves and loads. What comes back must be the same on both sides."""

import pickle

import torch
import torch.nn.functional as F
from torch.fx import symbolic_trace

from mirror import case, fill, filled


def round_trip(gm):
    return pickle.loads(pickle.dumps(gm))


def show(m, gm, *inputs):
    back = round_trip(gm)
    m.graph(back)
    m.code(back)
    m.tabular(back)
    m.outputs(back, *inputs)


@case
def layers_and_state(m):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.LayerNorm(3)
            )
            self.scale = torch.nn.Parameter(torch.rand(3))
            self.register_buffer("shift", torch.zeros(3))

        def forward(self, x):
            return self.layers(x) * self.scale + self.shift

    show(m, symbolic_trace(filled(Net())), fill([2, 4]))


@case
def convolutions(m):
    net = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3, stride=2, padding=1, bias=False),
        torch.nn.BatchNorm2d(4),
        torch.nn.Hardswish(),
        torch.nn.MaxPool2d(2, ceil_mode=True),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
    )
    show(m, symbolic_trace(filled(net)), fill([1, 2, 8, 8]))


@case
def defaults_and_keywords(m):
    def f(x, scale=2.5, name="none"):
        return F.gelu(torch.clamp(x * scale, min=-1, max=0.5), approximate=name)

    show(m, symbolic_trace(f), fill([2, 3]))


@case
def indices(m):
    def f(x):
        a = x[..., 0:2] + x[:, -2:]
        return (a, [x[0], x[None]], {"k": x[1:, ::2], "none": None})

    show(m, symbolic_trace(f), fill([3, 4]))


@case
def dtypes_and_infinities(m):
    def f(x):
        y = x.to(torch.float64).masked_fill(x > 0.5, float("-inf"))
        return torch.clamp(y, max=float("inf")), y.to(dtype=torch.float32) + 1e-05

    show(m, symbolic_trace(f), fill([2, 3]))


@case
def in_place_methods(m):
    def f(x):
        y = x + 1
        y.mul_(3)
        return y.add_(x, alpha=2)

    show(m, symbolic_trace(f), fill([4]))


@case
def names_in_use(m):
    def f(add, add_1):
        x = add + add_1
        y = x + add
        return torch.relu(y) + torch.relu(x)

    show(m, symbolic_trace(f), fill([4]), fill([4], 1))


@case
def tied_weights(m):
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(4, 4)
            self.b = torch.nn.Linear(4, 4, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    gm = symbolic_trace(filled(Tied()))
    show(m, gm, fill([2, 4]))
    back = round_trip(gm)
    m.value("tied", back.a.weight is back.b.weight)
    m.value("names", [name for name, _ in back.named_parameters()])


@case
def state_and_flags(m):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = torch.nn.Dropout(0.25)
            self.norm = torch.nn.BatchNorm1d(3, affine=False)
            self.register_buffer("once", torch.ones(1))

        def forward(self, x):
            return self.drop(self.norm(x)) + self.once

    net = filled(Net())
    net.drop.train()
    back = round_trip(symbolic_trace(net))
    m.graph(back)
    m.value("state", list(back.state_dict()))
    m.value("training", [n for n, child in back.named_modules() if child.training])
