"""Whole edits that users write by hand: inlining, hoisting, merging, rewiring."""

import copy
import operator

import torch
import torch.nn.functional as F
from torch.fx import Graph, GraphModule, Proxy, replace_pattern, symbolic_trace

from mirror import case, fill, filled


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 4)
        self.act = torch.nn.ReLU()
        self.down = torch.nn.Linear(4, 3)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.down(self.act(self.up(x)))) + x


def traced():
    return symbolic_trace(filled(Mlp()))


def node(gm, name):
    return next(n for n in gm.graph.nodes if n.name == name)


@case
def dropout_taken_out(m):
    gm = traced()
    for n in gm.graph.nodes:
        if n.op == "call_module" and isinstance(gm.get_submodule(n.target),
                                                torch.nn.Dropout):
            n.replace_all_uses_with(n.args[0])
            gm.graph.erase_node(n)
    gm.delete_all_unused_submodules()
    gm.recompile()
    m.text("module", str(gm))
    m.outputs(gm, fill([2, 3]))


@case
def layers_as_functions(m):
    gm = traced()
    for n in list(gm.graph.nodes):
        if n.target not in ("up", "down"):
            continue
        with gm.graph.inserting_before(n):
            weight = gm.graph.get_attr(n.target + ".weight")
            bias = gm.graph.get_attr(n.target + ".bias")
            new = gm.graph.call_function(F.linear, (n.args[0], weight, bias))
        n.replace_all_uses_with(new)
        gm.graph.erase_node(n)
    gm.recompile()
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def module_put_in(m):
    gm = traced()
    gm.add_submodule("extra.tanh", torch.nn.Tanh())
    with gm.graph.inserting_after(node(gm, "act")):
        new = gm.graph.call_module("extra.tanh", (node(gm, "act"),))
    node(gm, "act").replace_all_uses_with(new, lambda user: user is not new)
    gm.recompile()
    m.graph(gm)
    m.text("module", str(gm))
    m.outputs(gm, fill([2, 3]))


@case
def function_inlined_by_hand(m):
    inner = symbolic_trace(lambda a, b: (torch.relu(a) - b, b * 2))
    outer = Graph()
    x, y = outer.placeholder("x"), outer.placeholder("y")
    total = outer.call_function(operator.add, (x, y))
    values = dict(zip(list(inner.graph.nodes)[:2], (total, x)))
    first, second = outer.graph_copy(inner.graph, values)
    again = dict(zip(list(inner.graph.nodes)[:2], (second, first)))
    outer.output(outer.graph_copy(inner.graph, again))
    outer.lint()
    gm = GraphModule({}, outer)
    m.graph(gm)
    m.outputs(gm, fill([3]), fill([3], 1))


@case
def submodule_inlined_by_hand(m):
    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = symbolic_trace(lambda x: torch.sigmoid(x) * 2)

        def forward(self, x):
            return self.body(x) + 1

    class Kept(torch.fx.Tracer):
        def is_leaf_module(self, module, name):
            return True

    root = Outer()
    gm = GraphModule(root, Kept().trace(root))
    m.graph(gm)
    call = node(gm, "body")
    values = {next(iter(root.body.graph.nodes)): call.args[0]}
    with gm.graph.inserting_before(call):
        result = gm.graph.graph_copy(root.body.graph, values)
    call.replace_all_uses_with(result)
    gm.graph.erase_node(call)
    gm.delete_all_unused_submodules()
    gm.recompile()
    m.graph(gm)
    m.value("children", len(list(gm.children())))
    m.outputs(gm, fill([3]))


@case
def two_graphs_side_by_side(m):
    first = symbolic_trace(lambda x: torch.relu(x) + 1)
    second = symbolic_trace(lambda y: torch.neg(y) * 3)
    joined = Graph()
    results = []
    for gm in (first, second):
        results.append(joined.graph_copy(gm.graph, {}))
    joined.output(tuple(results))
    made = GraphModule({}, joined)
    m.graph(made)
    m.code(made)
    m.outputs(made, fill([3]), fill([3], 1))


@case
def outputs_added_and_dropped(m):
    gm = traced()
    output = gm.graph.output_node()
    output.args = ((output.args[0], node(gm, "act")),)
    gm.recompile()
    m.outputs(gm, fill([2, 3]))
    output.args = (output.args[0][1],)
    m.value("removed", gm.graph.eliminate_dead_code())
    gm.recompile()
    m.graph(gm)
    m.outputs(gm, fill([2, 3]))


@case
def inputs_added(m):
    gm = symbolic_trace(lambda x: torch.relu(x))
    x = node(gm, "x")
    with gm.graph.inserting_after(x):
        scale = gm.graph.placeholder("scale", default_value=2.0)
    with gm.graph.inserting_before(gm.graph.output_node()):
        new = Proxy(node(gm, "relu")) * Proxy(scale)
    gm.graph.output_node().args = (new.node,)
    gm.recompile()
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3]))
    m.outputs(gm, fill([3]), 0.5)


@case
def constants_hoisted(m):
    gm = symbolic_trace(lambda x: (x * 3 + 1) / 3)
    gm.register_buffer("three", torch.tensor([3.0]))
    first = next(iter(gm.graph.nodes))
    with gm.graph.inserting_before(first.next):
        three = gm.graph.get_attr("three")
    for n in gm.graph.nodes:
        n.args = tuple(three if a == 3 else a for a in n.args)
    gm.recompile()
    m.graph(gm)
    m.outputs(gm, fill([3]))


@case
def operands_swapped(m):
    gm = symbolic_trace(lambda x, y: torch.sub(x, y) - y)
    for n in gm.graph.nodes:
        if n.op == "call_function":
            n.args = n.args[::-1]
    gm.recompile()
    m.graph(gm)
    m.outputs(gm, fill([3]), fill([3], 1))


@case
def methods_for_functions(m):
    gm = symbolic_trace(lambda x: torch.sigmoid(torch.neg(x)))
    for n in list(gm.graph.nodes):
        if n.op == "call_function":
            with gm.graph.inserting_before(n):
                new = gm.graph.call_method(n.target.__name__, n.args, n.kwargs)
            n.replace_all_uses_with(new)
            gm.graph.erase_node(n)
    gm.recompile()
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3]))


@case
def repeated_halves(m):
    gm = symbolic_trace(lambda x: torch.tanh(x) + 0.5)
    graph = copy.deepcopy(gm.graph)
    for _ in range(2):
        output = graph.output_node()
        with graph.inserting_before(output):
            values = {next(iter(gm.graph.nodes)): output.args[0]}
            output.args = (graph.graph_copy(gm.graph, values),)
    made = GraphModule(gm, graph)
    m.graph(made)
    m.outputs(made, fill([3]))


@case
def nodes_sunk_to_their_users(m):
    def f(x):
        a = torch.relu(x)
        b = torch.neg(x)
        c = torch.tanh(x)
        return (c + b) * a

    gm = symbolic_trace(f)
    for n in list(reversed(gm.graph.nodes)):
        if len(n.users) == 1 and n.op == "call_function":
            next(iter(n.users)).prepend(n)
    gm.graph.lint()
    gm.recompile()
    m.graph(gm)
    m.outputs(gm, fill([3]))


@case
def checked_after_each_call(m):
    gm = symbolic_trace(lambda x: torch.relu(x) * 2)
    for n in list(gm.graph.nodes):
        if n.op == "call_function":
            with gm.graph.inserting_after(n):
                size = gm.graph.call_method("dim", (n,))
            with gm.graph.inserting_after(size):
                right = gm.graph.call_function(operator.eq, (size, 1))
            with gm.graph.inserting_after(right):
                gm.graph.call_function(torch._assert, (right, f"{n} has dim 1"))
    gm.graph.eliminate_dead_code()
    gm.recompile()
    m.graph(gm)
    m.value("result", gm(fill([3])))
    m.error(lambda: gm(fill([3, 1])), until="\n")


@case
def rewritten_until_nothing_matches(m):
    gm = symbolic_trace(lambda x: torch.neg(torch.neg(torch.neg(torch.neg(x)))) + 1)
    rounds = []
    while True:
        found = replace_pattern(
            gm, lambda x: torch.neg(torch.neg(x)), lambda x: torch.relu(x))
        rounds.append(len(found))
        if not found:
            break
    m.value("rounds", rounds)
    m.graph(gm)
    m.outputs(gm, fill([3]))


@case
def copies_edited_apart(m):
    gm = traced()
    other = copy.deepcopy(gm)
    node(other, "act").replace_all_uses_with(node(other, "up"))
    other.graph.eliminate_dead_code()
    other.delete_all_unused_submodules()
    other.recompile()
    m.value("children", [[n for n, _ in g.named_children()] for g in (gm, other)])
    m.outputs(gm, fill([2, 3]))
    m.outputs(other, fill([2, 3]))
