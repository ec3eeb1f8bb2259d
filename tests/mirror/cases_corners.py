"""Corners of graphs and modules: what makes no function, copies,
notes that go over to new nodes."""

import copy

import torch
import torch.fx as fx
import torch.fx.traceback
from torch.fx import Graph, GraphModule, Proxy, Transformer
from torch.fx import symbolic_trace

from mirror import case, fill


def with_placeholders(*names):
    graph = Graph()
    for name in names:
        if isinstance(name, tuple):
            graph.placeholder(name[0], default_value=name[1])
        else:
            graph.placeholder(name)
    graph.output(None)
    return GraphModule(torch.nn.Module(), graph)


@case
def placeholders_that_make_no_function(m):
    for names in [
        ("x", "x"), ("x", ("y", 1), "z"), ("",), ("a b",), ("a.b",), ("class",),
        ("*args", "*more"), ("**kw", "y"), ("x", "self"), ("*x", "x"),
        ("x", "*args", "**args"),
    ]:
        m.error(lambda: with_placeholders(*names), until=" (")
    for names in [("*args", "y"), ("self", "x"), ("x", ("y", 1), "*a", "z", "**k")]:
        m.code(with_placeholders(*names))


@case
def nothing_to_trace(m):
    m.error(lambda: symbolic_trace(None))
    m.error(lambda: fx.map_arg([1], None))


@case
def copies_end_with_the_output(m):
    graph = Graph()
    x = graph.placeholder("x")
    neg = graph.call_function(torch.neg, (x,))
    out = graph.output((neg, x), type_expr=None)
    graph.call_function(torch.sin, (x,))
    out.meta["note"] = 3
    made = copy.deepcopy(graph)
    m.graph(made)
    out.name = "result"
    made = copy.deepcopy(graph)
    m.value("names", [n.name for n in made.nodes])
    m.value("note", list(made.nodes)[-1].meta["note"])
    m.graph(copy.deepcopy(Graph()))


@case
def copies_of_modules(m):
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.lin(x) * 2

    gm = symbolic_trace(Scaled())
    m.text("traced", str(gm))
    m.text("deep copy", str(copy.deepcopy(gm)))
    m.text("copy", str(copy.copy(gm)))


def notes(graph):
    return [
        [n.name, n.meta.get("custom"), n.meta.get("stack_trace"), n.meta.get("mine")]
        for n in graph.nodes
    ]


@case
def notes_kept_by_transformers(m):
    gm = symbolic_trace(lambda x: torch.relu(x + 1))
    for i, node in enumerate(gm.graph.nodes):
        node.meta["custom"] = {"index": i}
        node.meta["mine"] = i
        node.meta["stack_trace"] = f'File "a.py", line {i}, in f\n    x'

    class Twice(Transformer):
        def call_function(self, target, args, kwargs):
            result = super().call_function(target, args, kwargs)
            return result * 2 if target is torch.relu else result

    made = Twice(gm).transform()
    m.graph(made)
    m.value("notes", notes(made.graph))


@case
def annotations(m):
    graph = Graph()
    x = Proxy(graph.placeholder("x"))
    annotate = fx.traceback.annotate
    x + 1
    with annotate({"a": 1}):
        x + 2
    with fx.traceback.preserve_node_meta():
        x + 3
        with annotate({"a": 1, "b": 2}):
            x + 4
            with annotate({"b": 3, "c": None}):
                x + 5
            x + 6
        x + 7
        fx.traceback.set_stack_trace(["line one\n", "line two"])
        x + 8
        with fx.traceback.preserve_node_meta(False):
            x + 9
        fx.traceback.set_stack_trace([])
        x + 10
    x + 11
    m.value("notes", notes(graph))
    m.value("preserved", fx.traceback.has_preserved_node_meta())


@case
def nodes_of_sizes(m):
    graph = Graph()
    x = graph.placeholder("x")
    size = graph.create_size_node(x, 1)
    stride = graph.create_stride_node(x, 0)
    offset = graph.create_storage_offset_node(x)
    graph.output((size, stride, offset))
    m.graph(graph)
    gm = GraphModule(torch.nn.Module(), graph)
    m.value("numbers", list(gm(fill([2, 3]))))
    graph = Graph()
    y = graph.placeholder("y")
    y.meta["val"] = torch.empty(4, 5, device="meta")
    m.value("known", [
        graph.create_size_node(y, -1).meta["val"],
        graph.create_stride_node(y, 0).meta["val"],
        graph.create_storage_offset_node(y).meta["val"],
    ])


@case
def erased_nodes_keep_no_nodes(m):
    graph = Graph()
    x = graph.placeholder("x")
    gone = graph.call_function(torch.add, (x, [x, 1]), {"alpha": {"a": x}})
    graph.output(x)
    graph.erase_node(gone)
    m.text("node", gone.format_node())
    m.value("users", len(x.users))


@case
def notes_in_readable_code(m):
    gm = symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    calls = [n for n in gm.graph.nodes if n.op == "call_function"]
    calls[0].meta["custom"] = {"a": 1, "b": "short", "c": "x" * 41}
    calls[1].meta["custom"] = {"list": list(range(30)), "none": None}
    calls[2].meta["custom"] = {}
    m.text("readable", gm.print_readable(print_output=False))
