"""experimental.optimization: fusing of batch norms, removing of dropout."""

import torch
from torch.fx.experimental.optimization import fuse, remove_dropout

from mirror import case, fill, filled


def optimized(m, gm, *inputs):
    m.graph(gm)
    m.code(gm)
    m.text("children", " ".join(name for name, _ in gm.named_modules() if name))
    m.outputs(gm, *inputs)


class Convolutions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(2, 4, 3, padding=1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(4)
        self.conv2 = torch.nn.Conv2d(4, 4, 1, groups=2)
        self.bn2 = torch.nn.BatchNorm2d(4)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        z = self.conv2(y)
        return self.bn2(z) + y


@case
def fuse_convolutions(m):
    optimized(m, fuse(filled(Convolutions())), fill([1, 2, 5, 5], 1))


@case
def fuse_nested_and_linear(m):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 3)
            self.bn = torch.nn.BatchNorm1d(3)

        def forward(self, x):
            return self.bn(self.linear(x))

    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return torch.relu(self.block(x))

    optimized(m, fuse(filled(M())), fill([5, 4], 1))


@case
def fuse_not_when_used_elsewhere(m):
    class M(Convolutions):
        def forward(self, x):
            y = self.conv1(x)
            return self.bn1(y) + y

    optimized(m, fuse(filled(M())), fill([1, 2, 5, 5], 1))


@case
def without_dropout(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 3)
            self.drop = torch.nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(torch.relu(self.drop(self.linear(x)))) + 1

    gm = remove_dropout(filled(M()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([5, 4], 1))


@case
def fuse_in_training(m):
    m.error(lambda: fuse(Convolutions()))
