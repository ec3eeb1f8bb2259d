"""Normalising calls, merging products, sizes, sources, annotated items."""

import operator
import typing

import torch
from torch.fx import Graph, GraphModule, Tracer, symbolic_trace
from torch.fx.experimental.merge_matmul import merge_matmul
from torch.fx.experimental.normalize import NormalizeArgs
from torch.fx.passes.annotate_getitem_nodes import annotate_getitem_nodes
from torch.fx.passes.graph_manipulation import (
    get_size_of_all_nodes, get_size_of_node, replace_target_nodes_with)
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.tools_common import FxNetAccFusionsFinder
from torch.fx.passes.utils.source_matcher_utils import (
    check_subgraphs_connected, get_source_partitions)

from mirror import case, fill, filled


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 2, 3)
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = torch.relu(self.lin(self.conv(x)))
        z = torch.nn.functional.linear(y, self.lin.weight)
        return torch.sum(z * 2, 1)


@case
def normalized_args(m):
    gm = symbolic_trace(filled(Layers()))
    ShapeProp(gm).propagate(fill([1, 1, 6, 6], 1))
    for only in (True, False):
        made = NormalizeArgs(gm, only).transform()
        m.graph(made)
        m.code(made)
        m.outputs(made, fill([1, 1, 6, 6], 1))


@case
def merged_products(m):
    def f(x, y, z):
        a = torch.matmul(x, z)
        b = torch.matmul(torch.relu(y), z)
        return torch.neg(a), b + 1

    gm = merge_matmul(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 4], 1), fill([3, 4], 2), fill([4, 5], 3))


@case
def merged_products_of_an_attribute(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.zeros(4, 5))

        def forward(self, x, y):
            return (torch.matmul(x, self.w), torch.matmul(y, self.w),
                    torch.matmul(x, y.t()))

    gm = merge_matmul(filled(M()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 4], 1), fill([3, 4], 2))


@case
def products_that_need_each_other(m):
    def f(x, z):
        return torch.matmul(torch.matmul(x, z), z)

    m.graph(merge_matmul(f))


@case
def replaced_targets(m):
    def f(x):
        return torch.relu(torch.relu(x).neg())

    gm = symbolic_trace(f)
    replace_target_nodes_with(gm, "call_function", torch.relu,
                              "call_method", "sigmoid")
    m.graph(gm)
    m.code(gm)
    replace_target_nodes_with(gm, "call_method", "neg",
                              "call_function", torch.abs)
    m.graph(gm)
    m.outputs(gm, fill([3, 4], 1))


@case
def sizes_of_nodes(m):
    def f(x, y):
        return torch.relu(x) + y.sum(1, keepdim=True)

    gm = symbolic_trace(f)
    m.error(lambda: get_size_of_node(gm, next(iter(gm.graph.nodes))))
    get_size_of_all_nodes(gm, [fill([3, 4], 1), fill([3, 2], 2, torch.int64)])
    m.text("sizes", "\n".join(
        f"{n.name} {n.size_bytes.output_size} {n.size_bytes.total_size}"
        for n in gm.graph.nodes if n.op != "output"))
    gm = symbolic_trace(filled(Layers()))
    ShapeProp(gm).propagate(fill([1, 1, 6, 6], 1))
    m.text("sizes", "\n".join(
        f"{n.name} {get_size_of_node(gm, n).total_size}"
        for n in gm.graph.nodes if n.op != "output"))


@case
def annotated_items(m):
    graph = Graph()
    pair = graph.placeholder("pair", typing.Tuple[int, typing.List[float]])
    many = graph.placeholder("many", typing.List[int])
    same = graph.placeholder("same", typing.Tuple[int, ...])
    bare = graph.placeholder("bare")
    for of, index in ((pair, 0), (pair, 1), (many, 3), (same, 2), (bare, 0)):
        graph.call_function(operator.getitem, (of, index))
    graph.output(None)
    annotate_getitem_nodes(graph)
    m.text("types", "\n".join(
        f"{n.name}: {torch.fx.node._type_repr(n.type) if n.type else None}"
        for n in graph.nodes if n.op == "call_function"))
    graph = Graph()
    pair = graph.placeholder("pair", typing.Tuple[int, float])
    graph.call_function(operator.getitem, (pair, 5))
    graph.output(None)
    try:
        annotate_getitem_nodes(graph)
    except AssertionError as error:
        m.text("refused", str(error))


class ThroughLayers(Tracer):
    def is_leaf_module(self, module, name):
        return False


def described(partitions):
    lines = []
    for source, found in partitions.items():
        name = source if isinstance(source, str) else source.__name__
        for p in found:
            names = [" ".join(sorted(n.name for n in nodes)) for nodes in
                     (p.nodes, p.input_nodes, p.output_nodes, p.params)]
            lines.append(f"{name}: " + " | ".join(names))
    return "\n".join(lines)


class Norms(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = torch.nn.Linear(4, 4)
        self.act = torch.nn.ReLU()
        self.two = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.two(self.act(self.one(x)))
        return self.act(y) + self.one(y)


@case
def sources_by_module(m):
    model = filled(Norms())
    graph = ThroughLayers().trace(model)
    GraphModule(model, graph)
    m.graph(graph)
    found = get_source_partitions(graph, [torch.nn.Linear, torch.nn.ReLU])
    m.text("partitions", described(found))
    linear, relu = found[torch.nn.Linear], found[torch.nn.ReLU]
    m.text("connected", " ".join(
        str(check_subgraphs_connected(a, b)) for a, b in (
            (linear[0], relu[0]), (relu[0], linear[1]), (linear[1], linear[0]),
            (relu[0], linear[0]))))
    m.text("partitions", described(get_source_partitions(
        graph, [torch.nn.Linear], lambda n: n.name != "linear_1")))


@case
def sources_by_meta(m):
    def f(x, w):
        y = torch.relu(torch.matmul(x, w))
        return torch.neg(torch.relu(torch.matmul(y, w))) + y

    gm = symbolic_trace(f)
    for node in gm.graph.nodes:
        if node.op == "call_function":
            first = "_1" not in node.name
            use = "one" if first else "two"
            if node.name.startswith("neg"):
                node.meta["torch_fn"] = ("neg_1", "builtin_function.neg")
            elif not node.name.startswith("add"):
                node.meta["source_fn_stack"] = [("top", "mlp"), (use, "layer")]
    m.text("partitions", described(
        get_source_partitions(gm.graph, ["layer", "neg", "mlp"])))


@case
def groups_of_numbers(m):
    def f(x, y):
        a = torch.relu(x)
        n = a.size(0)
        k = n * 2
        b = y.reshape(k, -1)
        c = torch.neg(b)
        return c.reshape(c.size(1), -1), a

    gm = symbolic_trace(f)
    ShapeProp(gm).propagate(fill([3, 4], 1), fill([6, 2], 2))
    calls = {n for n in gm.graph.nodes if n.op.startswith("call_")}
    found = FxNetAccFusionsFinder(gm, set(calls))()
    m.text("groups", "\n".join(
        f"{n.name}: {' '.join(sorted(g.name for g in found[n]))}"
        for n in gm.graph.nodes if n in found))
    some = {n for n in calls if n.name != "reshape"}
    found = FxNetAccFusionsFinder(gm, some)()
    m.text("groups", "\n".join(
        f"{n.name}: {' '.join(sorted(g.name for g in found[n]))}"
        for n in gm.graph.nodes if n in found))
