"""What nodes tell and take: order, users, arguments, notes, purity."""

import copy

import torch
import torch.fx as fx
from torch.fx import Graph, GraphModule, symbolic_trace
from torch.fx.node import has_side_effect, map_aggregate, map_arg

from mirror import case, fill, filled


def chain():
    graph = Graph()
    x = graph.placeholder("x")
    a = graph.call_function(torch.relu, (x,))
    b = graph.call_function(torch.neg, (a,))
    c = graph.call_function(torch.add, (a, b))
    graph.output(c)
    return graph


@case
def neighbours(m):
    graph = chain()
    nodes = list(graph.nodes)
    m.value("next", [n.next.name for n in nodes[:-1]])
    m.value("previous", [n.prev.name for n in nodes[1:]])
    m.value("backwards", [n.name for n in reversed(graph.nodes)])
    m.value("round", nodes[0].prev is nodes[-1].next)
    m.value("root", nodes[0].prev.op)
    m.value("same graph", all(n.graph is graph for n in nodes))


@case
def order(m):
    graph = chain()
    nodes = list(graph.nodes)
    m.value("before", [[a < b for b in nodes] for a in nodes])
    nodes[1].append(nodes[0])
    m.value("moved", [nodes[0] < nodes[1], nodes[1] < nodes[0]])
    with graph.inserting_before(nodes[2]):
        new = graph.call_function(torch.sigmoid, (nodes[0],))
    m.value("inserted", [nodes[0] < new, new < nodes[2], new < nodes[1]])


@case
def lines_kept_by_copies(m):
    graph = chain()
    for i, n in enumerate(graph.nodes):
        n.stack_trace = f'File "model.py", line {i}, in f\n    x'
    m.value("lines", [n.stack_trace for n in graph.nodes])
    made = copy.deepcopy(graph)
    m.value("copied", [n.stack_trace for n in made.nodes])
    first = list(made.nodes)[1]
    first.stack_trace = None
    m.value("taken away", [first.stack_trace, list(graph.nodes)[1].stack_trace])


@case
def leaves_mapped(m):
    graph = Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    args = (x, [1, {"k": y, "n": 2.5}], slice(x, None, 3), "text", None)
    m.text("negated", str(map_aggregate(
        args, lambda a: -a if isinstance(a, (int, float)) else a)))
    m.text("swapped", str(map_arg(args, lambda n: y if n is x else x)))
    m.text("names", str(map_arg(args, lambda n: n.name)))
    m.text("alone", str(map_aggregate(7, lambda a: a + 1)))
    m.text("none", str(map_arg((), lambda n: n)))


def counted(x):
    return x + 1


@case
def functions_with_effects(m):
    graph = Graph()
    x = graph.placeholder("x")
    graph.call_function(counted, (x,), name="first")
    graph.output(x)
    before = [n.name for n in graph.nodes if n.is_impure()]
    m.value("before", before)
    m.value("same", has_side_effect(counted) is counted)
    m.value("after", [n.name for n in graph.nodes if n.is_impure()])
    m.value("removed", graph.eliminate_dead_code())
    m.value("nodes", [n.name for n in graph.nodes])


class Noisy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.5)
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x):
        return self.norm(self.drop(x))


@case
def purity_of_nodes(m):
    gm = symbolic_trace(filled(Noisy()))
    graph = gm.graph
    x = next(iter(graph.nodes))
    with graph.inserting_after(x):
        graph.call_function(torch.relu, (x,))
        graph.call_method("add", (x, 1))
        graph.call_function(torch._assert, (True, "no"))
        graph.get_attr("norm.weight")
    m.value("impure", [n.name for n in graph.nodes if n.is_impure()])


@case
def types_of_nodes(m):
    graph = chain()
    x, a, b, c, out = graph.nodes
    x.type = torch.Tensor
    a.type = int
    b.type = "torch.nn.Module"
    m.graph(graph)
    m.value("none", c.type)
    m.text("of a copy", list(copy.deepcopy(graph).nodes)[0].format_node())


@case
def users_in_order(m):
    graph = Graph()
    x = graph.placeholder("x")
    a = graph.call_function(torch.relu, (x,))
    b = graph.call_function(torch.add, (x, a))
    c = graph.call_function(torch.mul, (x, x))
    graph.output([x, b, c])
    m.value("users", [[n.name] + [u.name for u in n.users] for n in graph.nodes])
    b.args = (a, a)
    c.args = (a, x)
    m.value("changed", [[n.name] + [u.name for u in n.users] for n in graph.nodes])
    b.args = (x, a)
    m.value("again", [u.name for u in x.users])


@case
def inputs_at_any_depth(m):
    graph = Graph()
    names = ["a", "b", "c", "d", "e"]
    a, b, c, d, e = [graph.placeholder(n) for n in names]
    node = graph.call_function(
        torch.cat, ([b, (a, {"k": [c]})], a), {"dim": slice(d, b, e), "out": a})
    m.value("inputs", [n.name for n in node.all_input_nodes])
    m.value("none", [n.name for n in a.all_input_nodes])
    node.kwargs = {"x": (e, {"y": c})}
    m.value("after", [n.name for n in node.all_input_nodes])
    m.text("node", node.format_node())


@case
def arguments_are_kept_immutable(m):
    graph = Graph()
    x = graph.placeholder("x")
    given = [x, 1]
    node = graph.call_function(torch.cat, (given, {"k": [2]}))
    given.append(2)
    m.text("node", node.format_node())
    m.value("equal", node.args == ([x, 1], {"k": [2]}))


@case
def notes_of_copied_nodes(m):
    graph = chain()
    x, a = list(graph.nodes)[:2]
    a.meta["mine"] = [1, {"k": 2}]
    a.type = torch.Tensor
    other = Graph()
    z = other.placeholder("z")
    made = other.node_copy(a, lambda n: z)
    made.meta["own"] = True
    m.value("made", dict(made.meta))
    m.value("source", dict(a.meta))
    m.text("node", made.format_node())


@case
def uses_replaced_with_notes(m):
    graph = chain()
    x, a, b, c, out = graph.nodes
    a.meta["mine"] = 1
    with graph.inserting_after(a):
        new = graph.call_function(torch.tanh, (x,))
    asked = []

    def wanted(user):
        asked.append(user.name)
        return user is not b

    changed = a.replace_all_uses_with(new, wanted, propagate_meta=True)
    m.value("asked", asked)
    m.value("changed", [n.name for n in changed])
    m.value("notes", dict(new.meta))
    m.graph(graph)


@case
def moved_to_where_it_is(m):
    graph = chain()
    x, a, b, c, out = graph.nodes
    a.prepend(a)
    a.append(a)
    a.prepend(x)
    b.append(c)
    m.value("order", [n.name for n in graph.nodes])
    out.prepend(b)
    b.append(a)
    m.value("order", [n.name for n in graph.nodes])
    m.error(graph.lint)


@case
def targets_changed(m):
    gm = symbolic_trace(lambda x, y: torch.add(x, y).relu())
    for n in gm.graph.nodes:
        if n.target is torch.add:
            n.target = torch.mul
        if n.op == "call_method":
            n.target = "sigmoid"
    gm.recompile()
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3]), fill([3], 1))


@case
def printed_in_all_forms(m):
    graph = Graph()
    x = graph.placeholder("x", default_value=[1, None])
    w = graph.get_attr("a.b")
    e = graph.call_module("mod.0", (x, w), {"k": slice(None, w, 2)})
    f = graph.call_method("view", (e, -1, (2, ...)), {})
    g = graph.call_function(torch.add, (f, 1.0), {"alpha": True})
    out = graph.output({"r": (g, torch.float16)})
    m.text("nodes", "\n".join(str(n.format_node()) for n in graph.nodes))
    m.text("names", f"{x} {w} {e} {f} {g} {out}")


@case
def arguments_put_in_and_changed(m):
    graph = chain()
    x, a, b, c, out = graph.nodes
    c.insert_arg(0, [x, x])
    c.insert_arg(3, "end")
    c.update_arg(1, b)
    m.text("node", c.format_node())
    m.value("users", [[n.name] + [u.name for u in n.users] for n in graph.nodes])
    c.update_kwarg("alpha", x)
    c.update_kwarg("alpha", 2)
    c.args = c.args[1:3]
    m.text("node", c.format_node())
    m.value("users", [[n.name] + [u.name for u in n.users] for n in graph.nodes])
