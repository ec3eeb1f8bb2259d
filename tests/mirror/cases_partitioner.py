"""CapabilityBasedPartitioner, fuse_by_partitions, PassManager."""

import torch
from torch.fx import symbolic_trace
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.infra.pass_manager import (
    PassManager, pass_result_wrapper, this_before_that_pass_constraint)
from torch.fx.passes.operator_support import (
    OpSupports, OperatorSupport, any_chain, chain, create_op_support)
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from mirror import case, fill


def supports(*names):
    return create_op_support(
        lambda modules, node: node.op == "call_function"
        and node.target.__name__ in names)


def partition(m, function, support, *inputs, fuse=True, **options):
    gm = symbolic_trace(function)
    partitioner = CapabilityBasedPartitioner(gm, support, **options)
    found = partitioner.propose_partitions()
    m.text("partitions", "\n".join(
        f"{p.id}: {' '.join(n.name for n in p.nodes)}" for p in found))
    if not fuse:
        return gm
    gm = partitioner.fuse_partitions(found)
    m.graph(gm)
    for name, child in gm.named_children():
        m.text("submodule", name)
        m.graph(child)
    gm.recompile()
    m.outputs(gm, *inputs)
    return gm


def chain_of(x):
    a = torch.relu(x)
    b = torch.neg(a)
    c = torch.sigmoid(b)
    d = torch.relu(c)
    return torch.neg(d)


@case
def interrupted_chain(m):
    partition(m, chain_of, supports("relu", "neg"), fill([3, 4], 1))


@case
def single_nodes(m):
    partition(m, chain_of, supports("sigmoid", "neg"), fill([3, 4], 1),
              allows_single_node_partition=True)


@case
def single_nodes_refused(m):
    partition(m, chain_of, supports("sigmoid"), fill([3, 4], 1))


def diamond(x, y):
    a = torch.add(x, y)
    b = torch.relu(a)
    c = torch.neg(a)
    d = torch.add(b, c)
    e = torch.add(d, y)
    return e, b


@case
def diamond_with_a_hole(m):
    partition(m, diamond, supports("add", "neg"), fill([3, 4], 1),
              fill([3, 4], 2))


@case
def everything(m):
    partition(m, diamond, supports("add", "neg", "relu"), fill([3, 4], 1),
              fill([3, 4], 2))


@case
def horizontal(m):
    def f(x, y, z):
        a = torch.neg(x)
        b = torch.relu(a)
        c = torch.neg(y)
        d = torch.relu(c)
        e = torch.sigmoid(z)
        g = torch.neg(e)
        return b, d, g

    partition(m, f, supports("neg", "relu"), fill([3, 4], 1),
              fill([3, 4], 2), fill([3, 4], 3))


@case
def levels(m):
    def f(x):
        a = torch.neg(x)
        b = torch.sigmoid(a)
        c = torch.neg(b)
        d = torch.neg(x)
        e = torch.add(c, d)
        g = torch.sigmoid(e)
        h = torch.neg(g)
        i = torch.add(h, a)
        return torch.add(i, torch.neg(d))

    partition(m, f, supports("neg", "add"), fill([3, 4], 1))


@case
def getitems_follow_their_producer(m):
    def f(x):
        a, b = torch.split(torch.neg(x), 2)[0], torch.neg(x)
        c = torch.relu(a)
        return torch.relu(c), b

    partition(m, f, supports("neg", "relu", "getitem"), fill([4, 3], 1))


@case
def supported_by_chains(m):
    support = chain(
        any_chain(supports("relu"), supports("neg", "sigmoid")),
        OpSupports.decline_if_node_in_names({"neg_1"}))
    partition(m, chain_of, support, fill([3, 4], 1))


@case
def support_by_dict(m):
    def f(x):
        return torch.neg(torch.relu(torch.add(x, x)))

    support = OperatorSupport({"torch.relu": None, "torch.neg": None})
    gm = symbolic_trace(f)
    names = [n.name for n in gm.graph.nodes
             if support.is_node_supported({}, n)]
    m.text("supported", " ".join(names))


@case
def fused_by_hand(m):
    gm = symbolic_trace(diamond)
    nodes = {n.name: n for n in gm.graph.nodes}
    parts = [dict.fromkeys([nodes["relu"], nodes["neg"]]),
             dict.fromkeys([nodes["add_1"], nodes["add_2"]])]
    fuse_by_partitions(gm, parts, "part_", always_return_tuple=True)
    gm.recompile()
    m.graph(gm)
    m.code(gm)
    m.graph(gm.part_0)
    m.graph(gm.part_1)


@case
def fusing_a_cycle(m):
    gm = symbolic_trace(chain_of)
    nodes = {n.name: n for n in gm.graph.nodes}
    parts = [dict.fromkeys([nodes["relu"], nodes["relu_1"]])]
    m.error(lambda: fuse_by_partitions(gm, parts))


def replace_by(old, new):
    def run(gm):
        for node in gm.graph.nodes:
            if node.target is old:
                node.target = new

    return pass_result_wrapper(run)


@case
def pass_manager(m):
    first = replace_by(torch.relu, torch.neg)
    second = replace_by(torch.neg, torch.sigmoid)
    for wanted in ((first, second), (second, first)):
        manager = PassManager([second, first])
        manager.add_constraint(this_before_that_pass_constraint(*wanted))
        result = manager(symbolic_trace(chain_of))
        m.value("modified", result.modified)
        m.graph(result.graph_module)


def mixed(x, y):
    a = torch.neg(x)
    b = torch.sigmoid(a)
    c = torch.relu(a)
    d = torch.neg(y)
    e = torch.relu(d)
    g = torch.add(c, b)
    h = torch.add(g, e)
    return torch.neg(h), torch.relu(b), torch.neg(c)


@case
def vertical_only(m):
    inputs = fill([3, 4], 1), fill([3, 4], 2)
    for names in (("neg", "relu", "add"), ("neg", "relu"), ("neg", "sigmoid")):
        for skip in (False, True):
            partition(m, mixed, supports(*names), *inputs,
                      skip_horizontal_fusion=skip,
                      allows_single_node_partition=True)


@case
def independent_consumers(m):
    def f(x):
        a = torch.sigmoid(x)
        b = torch.neg(torch.relu(a))
        c = torch.neg(torch.relu(a))
        return b, c

    for skip in (False, True):
        partition(m, f, supports("neg", "relu"), fill([3, 4], 1),
                  skip_horizontal_fusion=skip)


@case
def non_compute_ops(m):
    def f(x):
        a = torch.permute(x, (1, 0))
        b = torch.relu(torch.permute(a, (1, 0)))
        c = torch.neg(torch.permute(b, (1, 0)))
        d = torch.permute(torch.permute(c, (1, 0)), (1, 0))
        return torch.sigmoid(d), torch.permute(torch.sigmoid(x), (1, 0))

    for ops in ([], ["torch.permute"]):
        gm = symbolic_trace(f)
        partitioner = CapabilityBasedPartitioner(
            gm, supports("relu", "neg", "permute"), non_compute_ops=ops)
        found = partitioner.propose_partitions()
        partitioner.remove_bookend_non_compute_ops(found)
        m.text("partitions", "\n".join(
            f"{p.id}: {' '.join(n.name for n in p.nodes)}" for p in found))


@case
def allowed_alone(m):
    partition(m, chain_of, supports("sigmoid", "neg"), fill([3, 4], 1),
              allowed_single_node_partition_ops=["torch.neg"])


@case
def cycles_through_outside_nodes(m):
    def f(x, y):
        a = torch.neg(x)
        b = torch.sigmoid(a)
        c = torch.neg(y)
        d = torch.add(a, c)
        e = torch.add(b, c)
        g = torch.sigmoid(d)
        return torch.add(g, e), torch.neg(a)

    partition(m, f, supports("neg", "add"), fill([3, 4], 1), fill([3, 4], 2))
