"""experimental.optimization: fusing of batch norms, removing of dropout."""

import torch
from torch.fx import symbolic_trace
from torch.fx.experimental.optimization import (
    extract_subgraph, fuse, matches_module_pattern, optimize_for_inference,
    remove_dropout, replace_node_module)

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


class Derived(torch.nn.Conv2d):
    """Fuses only as the layer itself."""

    def forward(self, x):
        return super().forward(x) * 2


@case
def fuse_exact_classes_only(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = Derived(2, 4, 1)
            self.bn = torch.nn.BatchNorm2d(4)

        def forward(self, x):
            return self.bn(self.conv(x))

    class Leaves(torch.fx.Tracer):
        def is_leaf_module(self, module, name):
            return isinstance(module, (Derived, torch.nn.BatchNorm2d))

    model = filled(M())
    graph = Leaves().trace(model)
    gm = fuse(torch.fx.GraphModule(model, graph), no_trace=True)
    m.graph(gm)


@case
def fuse_two_in_a_row(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv1d(2, 3, 1)
            self.one = torch.nn.BatchNorm1d(3)
            self.two = torch.nn.BatchNorm1d(3, track_running_stats=False)
            self.three = torch.nn.BatchNorm1d(3, affine=False)

        def forward(self, x):
            return self.three(self.one(self.conv(x))), self.two(self.conv(x))

    class Once(M):
        def forward(self, x):
            return self.three(self.one(self.conv(x)))

    optimized(m, fuse(filled(Once())), fill([2, 2, 5], 1))


@case
def patterns_of_modules(m):
    gm = symbolic_trace(filled(Convolutions()))
    modules = dict(gm.named_modules())
    pattern = (torch.nn.Conv2d, torch.nn.BatchNorm2d)
    m.text("matches", " ".join(
        n.name for n in gm.graph.nodes
        if matches_module_pattern(pattern, n, modules)))
    node = next(n for n in gm.graph.nodes if n.name == "bn2")
    replace_node_module(node, modules, torch.nn.ReLU())
    m.text("replaced", type(gm.bn2).__name__)
    m.outputs(gm, fill([1, 2, 5, 5], 1))


@case
def extracted_subgraph(m):
    model = filled(Convolutions())
    gm = symbolic_trace(model)
    nodes = {n.name: n for n in gm.graph.nodes}
    made = extract_subgraph(
        model, [nodes["relu"], nodes["conv2"]], [nodes["bn1"]],
        [nodes["conv2"], nodes["relu"]])
    m.graph(made)
    m.code(made)
    m.outputs(made, fill([1, 4, 5, 5], 1))
    m.error(lambda: extract_subgraph(
        model, [nodes["bn2"]], [nodes["bn1"]], [nodes["bn2"]]))


@case
def for_inference(m):
    class M(Convolutions):
        def __init__(self):
            super().__init__()
            self.drop = torch.nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(torch.relu(self.bn1(self.conv1(x)))) + 1

    config = {"mkldnn_layout_optimize": False}
    optimized(m, optimize_for_inference(filled(M()), config),
              fill([1, 2, 5, 5], 1))
    config["conv_bn_fuse"] = False
    m.graph(optimize_for_inference(filled(M()), config))
