"""split_by_tags, the splitter, sorting of graphs, corners of split_module."""

import torch
from torch.fx import Graph, GraphModule, symbolic_trace
from torch.fx.passes.operator_support import create_op_support
from torch.fx.passes.split_module import split_module
from torch.fx.passes.split_utils import split_by_tags
from torch.fx.passes.splitter_base import _SplitterBase, _SplitterSettingBase
from torch.fx.passes.tools_common import legalize_graph, stable_topological_sort
from torch.fx.passes.utils import lift_subgraph_as_module

from mirror import case, fill, filled


def record(m, made):
    """The whole and each submodule."""
    m.graph(made)
    m.code(made)
    for name, child in made.named_children():
        if isinstance(child, GraphModule):
            m.text("submodule", name)
            m.graph(child)
    return made


class Shared(torch.nn.Module):
    """Two children whose names become one when dots become underlines."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(4))
        self.block = torch.nn.Module()
        self.block.lin = torch.nn.Linear(4, 4)
        self.register_buffer("offset", torch.zeros(4))

    def forward(self, x):
        y = self.block.lin(x) + self.w
        z = self.block.lin(torch.relu(y)) * self.w + self.offset
        return z, self.offset, y


def by_name(default=0, **partitions):
    return lambda node: partitions.get(node.name, default)


@case
def split_shared_members(m):
    gm = symbolic_trace(filled(Shared()))
    names = {}
    made = record(m, split_module(
        gm, gm, by_name(relu=1, block_lin_1=1, mul=1, add_1=2), names))
    m.text("names", "\n".join(f"{k}={v}" for k, v in names.items()))
    m.outputs(made, fill([3, 4], 1))


@case
def split_shared_members_in_order(m):
    gm = symbolic_trace(filled(Shared()))
    gm.graph.output_node().args = (gm.graph.output_node().args[0][0],)
    gm.recompile()
    record(m, split_module(
        gm, gm, by_name(relu=1, block_lin_1=1, mul=1, add_1=2),
        keep_original_order=True))


def first_needs_second(x):
    a = torch.relu(x)
    b = torch.neg(x)
    return a + b


@case
def split_original_order_impossible(m):
    gm = symbolic_trace(first_needs_second)
    parts = by_name(neg=1)
    record(m, split_module(gm, gm, parts))
    m.error(lambda: split_module(gm, gm, parts, keep_original_order=True))


@case
def split_without_results(m):
    def f(x):
        torch.relu(x)
        torch._assert(x.sum() > -100, "sum")
        return torch.neg(x)

    gm = symbolic_trace(f)
    made = record(m, split_module(gm, gm, by_name(neg=1)))
    m.outputs(made, fill([3], 1))


@case
def split_nodes_in_containers(m):
    def f(x, y):
        a, b = torch.relu(x), torch.neg(y)
        c = torch.cat([a, b, a], dim=0)
        return {"c": c, "ab": [a, (b, x)]}

    gm = symbolic_trace(f)
    record(m, split_module(gm, gm, by_name(neg=1, cat=2)))


@case
def split_variadic(m):
    def f(x, *rest):
        return torch.relu(x) + rest[0]

    gm = symbolic_trace(f)
    record(m, split_module(gm, gm, by_name()))


def tagged(module, **tags):
    gm = symbolic_trace(module)
    for node in gm.graph.nodes:
        if node.name in tags:
            node.tag = tags[node.name]
    return gm


@case
def tags(m):
    gm = tagged(filled(Shared()), block_lin="b", add="b", relu="c",
                block_lin_1="c", mul="c", add_1="d")
    made, names = split_by_tags(gm, ["a", "b", "c", "d"],
                                return_fqn_mapping=True)
    record(m, made)
    m.text("names", "\n".join(f"{k}={v}" for k, v in names.items()))
    m.outputs(made, fill([3, 4], 1))


@case
def tags_with_tuples(m):
    gm = tagged(first_needs_second, relu="a", neg="b", add="b")
    made = record(m, split_by_tags(gm, ["a", "b"], return_tuple=True))
    m.outputs(made, fill([3, 4], 1))


@case
def tags_refused(m):
    gm = tagged(first_needs_second, relu="b", neg="a", add="a")
    m.error(lambda: split_by_tags(gm, ["a", "b"]))
    gm = tagged(first_needs_second, relu="a", add="a")
    m.error(lambda: split_by_tags(gm, ["a", "b"]))
    gm = tagged(first_needs_second, relu="a", neg="c", add="a")
    m.error(lambda: split_by_tags(gm, ["a", "b"]))


@case
def lifted_subgraph(m):
    gm = symbolic_trace(filled(Shared()))
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.call_module("block.lin", (x,))
    graph.output(graph.call_function(torch.add, (y, graph.get_attr("w"))))
    made, names = lift_subgraph_as_module(gm, graph, "part", "Part")
    m.graph(made)
    m.text("names", "\n".join(f"{k}={v}" for k, v in names.items()))
    m.text("children", " ".join(n for n, _ in made.named_modules() if n))
    m.outputs(made, fill([3, 4], 1))


class Splitter(_SplitterBase):
    pass


def split(m, function, names, *inputs, **settings):
    support = create_op_support(
        lambda modules, node: getattr(node.target, "__name__", node.target)
        in names)
    gm = symbolic_trace(function)
    splitter = Splitter(gm, list(inputs), support,
                        _SplitterSettingBase(**settings))
    result = splitter.generate_split_results()
    record(m, result.split_module)
    m.text("inputs", " ".join(
        f"{k}:{len(v)}" for k, v in result.submodule_inputs.items()))
    m.outputs(result.split_module, *inputs)


def sin_cos(a):
    return torch.sin(a) + torch.cos(a)


@case
def splitter_of_a_diamond(m):
    split(m, sin_cos, {"sin", "cos"}, fill([3, 4], 1))


def by_turns(x, y):
    a = torch.relu(x)
    b = torch.neg(y)
    c = torch.relu(b)
    d = torch.neg(a)
    e = torch.relu(d) + c
    return torch.neg(e), a


@case
def splitter_by_turns(m):
    split(m, by_turns, {"relu", "add"}, fill([3, 4], 1), fill([3, 4], 2))


@case
def splitter_of_small_parts(m):
    split(m, by_turns, {"relu", "add"}, fill([3, 4], 1), fill([3, 4], 2),
          min_acc_module_size=2)
    split(m, sin_cos, {"sin"}, fill([3, 4], 1), min_acc_module_size=3)


def with_sizes(x, y):
    a = torch.relu(x)
    n = a.size(0)
    b = torch.neg(y)
    return torch.relu(b.reshape(n, -1)) + 1


@case
def splitter_keeps_numbers_inside(m):
    inputs = fill([3, 4], 1), fill([2, 6], 2)
    split(m, with_sizes, {"relu", "size"}, *inputs)
    split(m, with_sizes, {"relu", "size", "reshape"}, *inputs)
    split(m, with_sizes, {"relu", "size"}, *inputs, allow_non_tensor=True)


@case
def splitter_limit(m):
    m.error(lambda: split(m, by_turns, {"relu", "add"}, fill([3, 4], 1),
                          fill([3, 4], 2), max_acc_splits=2))


def disordered():
    """Calls that stand before what they use, and one unused."""
    gm = symbolic_trace(by_turns)
    nodes = {n.name: n for n in gm.graph.nodes}
    nodes["x"].prepend(nodes["neg_1"])
    nodes["relu"].prepend(nodes["add"])
    nodes["y"].prepend(nodes["relu_2"])
    return gm


@case
def sorted_graphs(m):
    gm = disordered()
    m.graph(gm)
    stable_topological_sort(gm)
    m.graph(gm)
    gm = disordered()
    legalize_graph(gm)
    m.graph(gm)
    m.outputs(gm, fill([3, 4], 1), fill([3, 4], 2))


@case
def sorting_a_cycle(m):
    gm = symbolic_trace(by_turns)
    nodes = {n.name: n for n in gm.graph.nodes}
    nodes["relu"].args = (nodes["neg_1"],)
    m.error(lambda: stable_topological_sort(gm))
    m.error(lambda: legalize_graph(gm))
