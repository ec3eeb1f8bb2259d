"""Parts of passes used alone: matchers, comparisons, partitions, steps of splitters."""

import torch
from torch.fx import PH, Graph, GraphModule, symbolic_trace
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import (
    OperatorSupport,
    OperatorSupportBase,
    OpSupports,
    any_chain,
    chain,
    create_op_support,
)
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_module import split_module_simple
from torch.fx.passes.split_utils import getattr_recursive, setattr_recursive
from torch.fx.passes.splitter_base import (
    FxNetAccNodesFinder,
    _SplitterBase,
    _SplitterSettingBase,
    generate_inputs_for_submodules,
)
from torch.fx.passes.utils.common import (
    HolderModule,
    compare_graphs,
    lift_subgraph_as_module,
)
from torch.fx.passes.utils.fuser_utils import validate_partition
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.passes.utils.matcher_with_name_node_map_utils import (
    SubgraphMatcherWithNameNodeMap,
)

from mirror import case, fill, filled


def chained(x, y):
    a = torch.relu(x + y)
    b = torch.neg(a)
    c = torch.relu(b + y)
    return torch.neg(c), a


def by_name(gm):
    return {n.name: n for n in gm.graph.nodes}


def names(nodes):
    return [n.name for n in nodes]


@case
def matches_with_names(m):
    def pattern(pair):
        total = pair[0] + pair[1]
        act = torch.relu(total)
        return act, {"sum": total, "act": act}

    gm = symbolic_trace(chained)
    matcher = SubgraphMatcherWithNameNodeMap(
        symbolic_trace(pattern, {"pair": (PH, PH)}))
    found = matcher.match(gm.graph)
    m.value("count", len(found))
    for match in found:
        m.value("names", [[k, v.name] for k, v in match.name_node_map.items()])
        m.value("inputs", names(match.placeholder_nodes))
        m.value("results", names(match.returning_nodes))


@case
def parts_of_matches(m):
    def pattern(x, y):
        return torch.relu(x + y)

    pattern_graph = symbolic_trace(pattern).graph
    matcher = SubgraphMatcher(pattern_graph)
    m.value("anchors", names(matcher.pattern_anchors))
    for match in matcher.match(symbolic_trace(chained).graph):
        m.value("anchors", names(match.anchors))
        m.value("map", [[k.name, v.name] for k, v in match.nodes_map.items()])
        m.value("inputs", names(match.placeholder_nodes))
        m.value("results", names(match.returning_nodes))
        m.value("names", dict(match.name_node_map))


@case
def overlapping_matches_kept(m):
    def pattern(x):
        return torch.neg(torch.neg(x))

    gm = symbolic_trace(lambda x: torch.neg(torch.neg(torch.neg(x))))
    for remove in (True, False):
        matcher = SubgraphMatcher(symbolic_trace(pattern).graph,
                                  remove_overlapping_matches=remove)
        m.value("results", [names(f.returning_nodes) for f in matcher.match(gm.graph)])


@case
def graphs_compared(m):
    first = symbolic_trace(chained).graph
    renamed = symbolic_trace(chained).graph
    for n in renamed.nodes:
        n.name = "other_" + n.name
    swapped = symbolic_trace(lambda x, y: chained(y, x)).graph
    longer = symbolic_trace(lambda x, y: (torch.neg(chained(x, y)[0]), y)).graph
    m.value("equal", [compare_graphs(first, g)
                      for g in (first, renamed, swapped, longer)])


@case
def modules_held_by_name(m):
    holder = HolderModule({"a": torch.nn.Linear(2, 3), "b": torch.nn.ReLU()})
    graph = Graph()
    x = graph.placeholder("x")
    a = graph.call_module("a", (x,))
    graph.output(graph.call_module("b", (a,)))
    gm = GraphModule(filled(holder), graph)
    m.value("names", [n for n, _ in holder.named_children()])
    m.code(gm)
    m.outputs(gm, fill([4, 2]))


@case
def partitions_that_may_be_fused(m):
    gm = symbolic_trace(chained)
    nodes = by_name(gm)
    for wanted in (["add", "relu"], ["add", "neg"], ["relu", "neg", "add_1"],
                   ["add", "relu_1"], ["neg_1"], []):
        m.value(" ".join(wanted), validate_partition([nodes[n] for n in wanted]))


@case
def partitions_in_one_step(m):
    gm = symbolic_trace(chained)
    support = create_op_support(lambda mods, n: n.name in ("add", "relu", "neg_1"))
    partitioner = CapabilityBasedPartitioner(
        gm, support, allows_single_node_partition=True)
    m.value("sizes", [p.size() for p in partitioner.propose_partitions()])
    fused = partitioner.partition_and_fuse("part_")
    m.graph(fused)
    m.outputs(fused, fill([3]), fill([3], 1))


class Relus(OperatorSupportBase):
    def is_node_supported(self, submodules, node):
        return node.target is torch.relu


@case
def support_by_class_and_type(m):
    gm = symbolic_trace(chained)
    ShapeProp(gm).propagate(fill([3]), fill([3], 1, torch.int64))
    no_longs = OpSupports.decline_if_input_dtype(torch.int64)
    no_names = OpSupports.decline_if_node_in_names({"relu_1"})
    kinds = [
        Relus(),
        no_longs,
        chain(Relus(), no_names),
        any_chain(Relus(), create_op_support(lambda mods, n: n.name == "neg")),
        OperatorSupport({"_operator.add": None}),
        OperatorSupport({"_operator.add": (((torch.float32,),), {})}),
        OperatorSupport({"torch.relu": (((torch.int64,),), {})}),
    ]
    modules = dict(gm.named_modules())
    calls = [n for n in gm.graph.nodes if n.op == "call_function"]
    for kind in kinds:
        m.value("supported", names(
            n for n in calls if kind.is_node_supported(modules, n)))


class Nested(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = torch.nn.Module()
        self.one.lin = torch.nn.Linear(2, 2)
        self.one.scale = torch.nn.Parameter(torch.rand(2))

    def forward(self, x):
        return self.one.lin(x) * self.one.scale


@case
def members_by_path(m):
    gm = symbolic_trace(filled(Nested()))
    m.value("scale", getattr_recursive(gm, "one.scale"))
    m.value("type", type(getattr_recursive(gm, "one.lin")).__name__)
    setattr_recursive(gm, "one.lin", torch.nn.ReLU())
    m.value("type", type(getattr_recursive(gm, "one.lin")).__name__)
    m.outputs(gm, fill([3, 2]))


@case
def lifted_part(m):
    gm = symbolic_trace(filled(Nested()))
    graph = Graph()
    x = graph.placeholder("x")
    lin = graph.call_module("one.lin", (x,))
    graph.output((lin, graph.get_attr("one.scale")))
    made, names_ = lift_subgraph_as_module(gm, graph, "part", "Part")
    m.text("class", type(made).__name__)
    m.value("names", sorted([k, v] for k, v in names_.items()))
    m.code(made)
    m.outputs(made, fill([3, 2]))


class Tanhs(torch.nn.Module):
    def forward(self, x, y):
        a = torch.tanh(x)
        b = torch.neg(a + y)
        c = torch.tanh(b)
        d = torch.tanh(c) + a
        return torch.neg(d), c


def splitter(names_, **settings):
    setting = _SplitterSettingBase(skip_fusion=True)
    for key, value in settings.items():
        setattr(setting, key, value)
    support = create_op_support(lambda mods, n: n.name in names_)
    gm = symbolic_trace(Tanhs())
    return _SplitterBase(gm, (fill([3]), fill([3], 1)), support, setting)


@case
def steps_of_a_splitter(m):
    made = splitter({"tanh", "tanh_1", "tanh_2"})
    m.value("accelerated", sorted(n.name for n in made.acc_nodes))
    parts = made.put_nodes_into_subgraphs()
    m.value("parts", [[p.is_acc] + names(p.nodes) for p in parts])
    made.settings.min_acc_module_size = 2
    parts = made.remove_small_acc_subgraphs(parts)
    m.value("larger", [[p.is_acc] + names(p.nodes) for p in parts])


@case
def tags_of_a_splitter(m):
    made = splitter({"tanh", "tanh_1", "tanh_2"}, min_acc_module_size=1)
    result = made.generate_split_results()
    m.value("tags", list(made.tags))
    m.value("inputs", [[k, len(v)] for k, v in result.submodule_inputs.items()])
    m.text("prefix", result.non_acc_submodule_prefix)
    m.graph(result.split_module)
    m.outputs(result.split_module, fill([3]), fill([3], 1))


@case
def nodes_for_the_accelerator(m):
    def f(x):
        a = torch.relu(x)
        n = a.size(0)
        b = torch.reshape(torch.neg(x), (n, -1))
        return torch.relu(b)

    gm = symbolic_trace(f)
    ShapeProp(gm).propagate(fill([2, 3]))
    support = create_op_support(lambda mods, n: n.name not in ("neg",))
    for allow in (False, True):
        finder = FxNetAccNodesFinder(gm, support, allow)
        m.value("nodes", sorted(n.name for n in finder()))


@case
def parts_in_a_row(m):
    gm = symbolic_trace(chained)
    part = {"add": 0, "relu": 0, "neg": 1, "add_1": 1, "relu_1": 2, "neg_1": 2}
    made = split_module_simple(
        gm, {n: part[n.name] for n in gm.graph.nodes if n.name in part})
    m.graph(made)
    m.value("children", [n for n, _ in made.named_children()])
    given = generate_inputs_for_submodules(
        made, (fill([3]), fill([3], 1)), ["submod_1", "submod_2"])
    m.value("inputs", [[k] + list(v) for k, v in sorted(given.items())])
    m.outputs(made, fill([3]), fill([3], 1))
