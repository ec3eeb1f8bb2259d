"""Graphs made and changed by hand: insertion, users, copies, what lint finds."""

import torch
import torch.fx as fx
from torch.fx import Graph, GraphModule, Proxy, symbolic_trace

from mirror import case, fill, filled


def names(nodes):
    return [n.name for n in nodes]


@case
def built_by_functions(m):
    class Root(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 4)
            self.bias = torch.nn.Parameter(torch.rand(4))

    graph = Graph()
    x = graph.placeholder("x")
    linear = graph.call_module("linear", (x,))
    bias = graph.get_attr("bias")
    add = graph.call_method("add", (linear, bias), {"alpha": 2})
    sin = graph.call_function(torch.sin, (add,))
    graph.output(sin)
    graph.lint()
    gm = GraphModule(filled(Root()), graph)
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.outputs(gm, fill([2, 3]))


@case
def root_from_a_dict(m):
    graph = Graph()
    x = graph.placeholder("x")
    up = graph.call_module("foo.bar.baz", (x,))
    w = graph.get_attr("zip.zap.zam")
    graph.output(graph.call_function(torch.add, (up, w)))
    linear = filled(torch.nn.Linear(3, 3))
    gm = GraphModule({"foo.bar.baz": linear, "zip.zap.zam": fill([3], 4)}, graph)
    m.graph(gm)
    m.code(gm)
    m.value("modules", [name for name, _ in gm.named_modules()])
    m.outputs(gm, fill([2, 3]))


@case
def edited_by_a_proxy(m):
    gm = symbolic_trace(lambda a, b: a + b)
    add = next(n for n in gm.graph.nodes if n.op == "call_function")
    output = next(n for n in gm.graph.nodes if n.op == "output")
    with gm.graph.inserting_before(output):
        new = (Proxy(add) * 2).node
    output.args = (new,)
    gm.recompile()
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2], 3), fill([2], 4))


@case
def insertion_points(m):
    graph = Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(torch.relu, (x,))
    graph.output(relu)
    with graph.inserting_before(relu):
        neg = graph.call_function(torch.neg, (x,))
        graph.call_function(torch.tanh, (neg,))
    relu.args = (relu.prev,)
    with graph.inserting_after(x):
        graph.call_function(torch.sin, (x,))
        graph.call_function(torch.cos, (x,))
    with graph.inserting_after():
        pass
    graph.lint()
    m.graph(graph)
    graph.inserting_before(neg)
    graph.call_function(torch.exp, (x,))
    with graph.inserting_before():
        graph.placeholder("y")
    m.graph(graph)


@case
def moved_before(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    a = graph.call_function(torch.relu, (x,))
    b = graph.call_function(torch.neg, (y,))
    graph.output((a, b))
    a.prepend(b)
    m.value("order", names(graph.nodes))
    b.append(y)
    m.value("order", names(graph.nodes))
    m.value("reversed", names(reversed(graph.nodes)))
    m.error(graph.lint)


@case
def users_and_inputs(m):
    graph = Graph()
    a = graph.placeholder("a")
    b = graph.call_module("linear", (a,))
    c = graph.get_attr("bias")
    d = graph.call_method("add", (b, c), {"alpha": [c, (a, b)]})
    e = graph.call_function(torch.sin, (d,))
    graph.output(e)
    for node in (b, c, d, e):
        m.value("inputs", names(node.all_input_nodes))
    for node in (a, b, c, d):
        m.value("users", names(node.users))


@case
def uses_follow_arguments(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    add = graph.call_function(torch.add, (x, x))
    two = graph.call_function(torch.add, (x, y), {"alpha": 2})
    graph.output((add, two))
    m.value("users", [names(x.users), names(y.users)])
    add.args = (y, y)
    m.value("users", [names(x.users), names(y.users)])
    two.kwargs = {"alpha": x, "other": [x, {"k": add}]}
    two.args = ()
    m.value("users", [names(x.users), names(y.users), names(add.users)])
    two.update_kwarg("alpha", y)
    add.update_arg(1, x)
    m.value("users", [names(x.users), names(y.users), names(add.users)])
    m.graph(graph)


@case
def all_uses_replaced(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    a = graph.call_function(torch.add, (x, [x, (x,)]), {"k": {"v": x}})
    b = graph.call_function(torch.neg, (a,))
    graph.output((x, b))
    changed = x.replace_all_uses_with(y)
    m.value("changed", names(changed))
    m.graph(graph)
    a.replace_input_with(y, x)
    m.graph(graph)
    kept = y.replace_all_uses_with(x, lambda user: user.op != "output")
    m.value("changed", names(kept))


@case
def erased(m):
    graph = Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(torch.relu, (x,))
    neg = graph.call_function(torch.neg, (relu,))
    graph.output(neg)
    m.error(lambda: graph.erase_node(relu))
    unused = graph.call_function(torch.sin, (relu,))
    m.value("users", names(relu.users))
    graph.erase_node(unused)
    m.value("users", names(relu.users))
    m.value("order", names(graph.nodes))
    m.value("length", len(graph.nodes))


@case
def nodes_erased_while_iterating(m):
    def f(x):
        for _ in range(5):
            x = torch.relu(x).neg()
        return x

    gm = symbolic_trace(f)
    for node in gm.graph.nodes:
        if node.op == "call_method":
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
    m.graph(gm)
    m.outputs(gm, fill([3]))


@case
def copied_into_another_graph(m):
    inner = symbolic_trace(lambda x, y: torch.relu(x) + y).graph
    graph = Graph()
    x = graph.placeholder("x")
    neg = graph.call_method("neg", (x,))
    placeholders = [n for n in inner.nodes if n.op == "placeholder"]
    value_map = {placeholders[0]: neg, placeholders[1]: x}
    result = graph.graph_copy(inner, value_map)
    graph.output((result, result))
    graph.lint()
    m.graph(graph)
    m.value("inner", names(inner.nodes))


@case
def inlined_graph(m):
    a = symbolic_trace(lambda x: x.relu())
    b = symbolic_trace(lambda x: x.neg())
    graph = Graph()
    x = graph.placeholder("x")
    first = graph.graph_copy(a.graph, {next(iter(a.graph.nodes)): x})
    second = graph.graph_copy(b.graph, {next(iter(b.graph.nodes)): first})
    graph.output(second)
    gm = GraphModule(torch.nn.Module(), graph)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([4]))


@case
def unique_names(m):
    graph = Graph()
    x = graph.placeholder("x")
    a = graph.create_node("call_module", "linear_mod", (x,), name="foo_1_1")
    b = graph.create_node("call_function", torch.add, (a, a), name="foo_1")
    graph.output(b)
    other = Graph()
    value_map = {}
    other.graph_copy(graph, value_map)
    again = other.node_copy(b, lambda n: value_map[n])
    m.value("names", names(other.nodes) + [again.name])
    m.graph(other)


@case
def names_from_targets(m):
    graph = Graph()
    for target in ("PascalCase", "ALL_CAPS", "snake_case", "camelCase2", "x.y.0",
                   "0start", "with-dash", "list", "for", "_private", "a.B.cD"):
        graph.call_module(target)
    for target in ("__add__", "__getitem__", "relu_", "Size"):
        graph.call_method(target, (1,))
    for name in ("inf", "nan", "NoneType", "torch", "device", "x", "x", "x_1",
                 "x_1_1", "self", "True", "pytree"):
        graph.placeholder(name)
    m.value("names", names(graph.nodes))


@case
def foreign_node(m):
    graph = Graph()
    x = graph.placeholder("x")
    graph.output(x)
    other = Graph()
    other.output(other.call_function(torch.relu, (x,)))
    m.error(other.lint)


@case
def wrong_order(m):
    graph = Graph()
    a = graph.placeholder("a")
    b = graph.call_module("foo.bar.baz.bat", (a,))
    c = graph.call_function(torch.relu, (b,))
    d = graph.call_function(torch.neg, (c,))
    graph.output(d)
    d.append(b)
    m.error(graph.lint)


@case
def missing_target(m):
    gm = symbolic_trace(filled(torch.nn.Sequential(torch.nn.ReLU())))
    with gm.graph.inserting_before():
        gm.graph.get_attr("not.there")
    m.error(gm.graph.lint)


@case
def immutable_arguments(m):
    graph = Graph()
    x = graph.placeholder("x")
    cat = graph.call_function(torch.cat, ([x, x],), {"out": {"a": [1, 2]}})
    m.text("node", cat.format_node())
    m.value("equal", cat.args[0] == [x, x])
    m.text("args", repr(cat.args))
    m.text("kwargs", repr(cat.kwargs))


@case
def unused_placeholders_stay(m):
    def f(x, y, unused=3):
        torch.neg(x)
        z = torch.sin(x)
        torch.cos(z)
        return x + y

    gm = symbolic_trace(f)
    m.value("changed", gm.graph.eliminate_dead_code())
    gm.recompile()
    m.graph(gm)
    m.code(gm)
    m.value("changed", gm.graph.eliminate_dead_code())
    m.outputs(gm, fill([2]), fill([2], 1))
