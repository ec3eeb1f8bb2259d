"""Editing graphs: hooks, purity, normal forms of calls, refused edits."""

import torch
import torch.nn.functional as F
from torch import fx
from torch.fx import Graph, GraphModule, replace_pattern, symbolic_trace

from mirror import case, fill, filled


def f(x):
    return torch.relu(x + 1)


def node_called(gm, name):
    return next(n for n in gm.graph.nodes if n.name == name)


@case
def hooks(m):
    gm = symbolic_trace(f)
    seen = []
    gm._register_create_node_hook(lambda node: seen.append(f"create {node}"))
    gm._register_erase_node_hook(lambda node: seen.append(f"erase {node}"))
    gm._register_replace_node_hook(
        lambda old, new, user: seen.append(f"{old} by {new} in {user}")
    )
    relu, add = node_called(gm, "relu"), node_called(gm, "add")
    with gm.graph.inserting_after(relu):
        neg = gm.graph.call_function(torch.neg, (add,))
    relu.replace_all_uses_with(neg)
    gm.graph.erase_node(relu)
    neg._rename("minus")
    gm.graph.output_node().replace_input_with(neg, add)
    gm.graph.eliminate_dead_code()
    m.text("seen", "\n".join(seen))


@case
def dead_code(m):
    def g(x):
        dead = torch.relu(x)
        dead = dead + 1
        torch._assert(x is not None, "never")
        kept = torch.neg(x)
        unused = torch.sigmoid(kept)
        return kept

    graph = symbolic_trace(g).graph
    m.value("changed", graph.eliminate_dead_code())
    m.graph(graph)
    m.value("again", graph.eliminate_dead_code())


class Effect(torch.nn.Module):
    _is_impure = True

    def forward(self, x):
        return x + 1


class WithEffect(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.effect = Effect()
        self.pure = torch.nn.ReLU()

    def forward(self, x):
        self.effect(x)
        self.pure(x)
        return x * 2


class KeepEffects(fx.Tracer):
    def is_leaf_module(self, module, name):
        return True


@case
def modules_with_side_effects(m):
    root = WithEffect()
    gm = GraphModule(root, KeepEffects().trace(root))
    m.value("changed", gm.graph.eliminate_dead_code())
    m.graph(gm)


@case
def purity_by_predicate(m):
    graph = symbolic_trace(f).graph
    x = next(iter(graph.nodes))
    with graph.inserting_after(x):
        graph.call_function(torch.neg, (x,))
        graph.call_function(torch.sigmoid, (x,))
    keep = {"neg"}

    def is_impure(node):
        return node.is_impure() or node.name in keep

    m.value("changed", graph.eliminate_dead_code(is_impure))
    m.graph(graph)


@case
def normalized_arguments(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 2)

        def forward(self, x, y):
            a = torch.relu(x)
            b = F.gelu(a)
            c = F.relu(self.lin(b))
            d = torch.cat([c, y], 1)
            e = torch.flatten(d, 1)
            g = torch.mean(e, dim=1)
            h = torch.transpose(g, dim1=0, dim0=1)
            i = F.softmax(h, 1) + torch.matmul(x, other=y)
            return F.linear(i, y).sum()

    gm = symbolic_trace(M())
    lines = []
    for node in gm.graph.nodes:
        for only_kwargs in (False, True):
            pair = node.normalized_arguments(
                gm, normalize_to_only_use_kwargs=only_kwargs
            )
            text = "None" if pair is None else f"{pair.args} {pair.kwargs}"
            lines.append(f"{node}: {text}")
    m.text("all", "\n".join(lines))
    lin = node_called(gm, "lin")
    m.error(lambda: lin.normalized_arguments(torch.nn.Module()))


@case
def refused_edits(m):
    gm = symbolic_trace(f)
    graph = gm.graph
    x, add = node_called(gm, "x"), node_called(gm, "add")
    other = Graph().placeholder("z")
    m.error(lambda: graph.erase_node(x))
    m.error(lambda: graph.erase_node(other))
    m.error(lambda: graph.inserting_before(other))
    m.error(lambda: graph.inserting_after(other))
    m.error(lambda: x.append(other))
    m.error(lambda: add.update_arg(5, x))
    m.error(lambda: add.insert_arg(7, x))
    m.error(lambda: graph.create_node("call_thing", "t"))
    unfinished = Graph()
    unfinished.placeholder("x")
    m.error(unfinished.output_node)
    add.meta["a"] = 1
    m.error(lambda: x.replace_all_uses_with(add, propagate_meta=True))
    m.graph(gm)


@case
def foreign_and_early_nodes(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.neg, (x,))
    graph.output(y)
    with graph.inserting_before(y):
        early = graph.call_function(torch.relu, (y,))
    m.error(graph.lint)
    graph.erase_node(early)
    graph.lint()
    graph.call_function(torch.relu, (Graph().placeholder("z"),))
    m.error(graph.lint)


@case
def moving_nodes(m):
    gm = symbolic_trace(lambda x, y: (torch.relu(x), torch.neg(y)))
    relu, neg = node_called(gm, "relu"), node_called(gm, "neg")
    relu.prepend(neg)
    m.graph(gm)
    neg.append(neg)
    relu.append(neg)
    m.graph(gm)
    m.value("size", len(gm.graph.nodes))


@case
def arguments(m):
    graph = Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    node = graph.call_function(torch.clamp, (x,), {"min": y})
    node.insert_arg(1, [y, 2])
    node.update_kwarg("max", {"k": (x, slice(y, None))})
    node.update_arg(0, y)
    graph.output(node)
    m.graph(graph)
    m.text("inputs", str(node.all_input_nodes))
    m.text("users", f"{list(x.users)} {list(y.users)}")
    node.replace_input_with(y, x)
    m.graph(graph)
    node.args = ()
    node.kwargs = {}
    m.text("left", f"{list(x.users)} {list(y.users)}")


@case
def copies_and_names(m):
    graph = Graph()
    x = graph.placeholder("x")
    a = graph.create_node("call_module", "linear_mod", (x,), name="foo_1_1")
    b = graph.create_node("call_module", "add", (x,), name="foo_1")
    graph.output((a, b))
    copied = Graph()
    values = {}
    result = copied.graph_copy(graph, values)
    copied.output(result)
    m.graph(copied)
    again = copied.node_copy(a, lambda n: values[n])
    m.text("again", again.name)
    named = graph.create_node("call_function", torch.add, (x, x), name="if")
    m.text("keyword", named.name)
    m.text("method", graph.call_method("__add__", (x, x)).name)
    m.text("module", graph.call_module("a.0.B-c", (x,)).name)


@case
def found_nodes(m):
    gm = symbolic_trace(lambda x: torch.relu(torch.relu(x) + 1).relu())
    graph = gm.graph
    relus = graph.find_nodes(op="call_function", target=torch.relu)
    m.text("functions", str(relus))
    m.text("methods", str(graph.find_nodes(op="call_method", target="relu")))
    m.text("inputs", str(graph.find_nodes(op="placeholder")))
    m.text("output", str(graph.output_node()))


@case
def code_transformed(m):
    gm = symbolic_trace(f)
    first = ["print('called')\n"]
    gm.graph.on_generate_code(lambda _: lambda body: first + body)
    gm.recompile()
    m.code(gm)


@case
def none_for_a_node(m):
    gm = symbolic_trace(f)
    graph = gm.graph
    x, add, relu, output = graph.nodes
    m.error(lambda: graph.erase_node(None))
    m.error(lambda: x.prepend(None))
    relu.replace_input_with(None, x)
    m.graph(graph)
    relu.replace_input_with(add, None)
    relu.replace_all_uses_with(None)
    m.graph(graph)
    neg = graph.create_node("call_function", torch.neg, (None,))
    m.text("none", neg.format_node())
    m.error(lambda: setattr(gm, "graph", None))
    m.error(lambda: GraphModule({}, None))


@case
def nothing_behind_the_result(m):
    gm = symbolic_trace(lambda x, y: x + y)
    m.error(lambda: replace_pattern(gm, lambda x: x, lambda x: torch.relu(x)))
