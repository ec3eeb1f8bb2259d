"""GraphModule: submodules, printing, other graphs, copies."""

import copy

import torch
from torch import fx
from torch.fx import Graph, GraphModule, symbolic_trace

from mirror import case, fill, filled


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.unused = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.lin(x)


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Inner()
        self.b = torch.nn.ReLU()
        self.w = torch.nn.Parameter(torch.zeros(3))
        self.register_buffer("buf", torch.zeros(3))

    def forward(self, x):
        return self.b(self.a(x)) + self.w + self.buf


def traced():
    return symbolic_trace(filled(Outer()))


@case
def printed(m):
    gm = traced()
    m.text("str", str(gm))
    m.text("readable", gm.print_readable(print_output=False))
    m.text("repr", repr(filled(Outer())))


@case
def printed_with_shapes(m):
    gm = traced()
    for node in gm.graph.nodes:
        if node.op in ("call_module", "placeholder"):
            node.meta["val"] = torch.empty(2, 3)
    m.text("readable", gm.print_readable(print_output=False))
    m.text(
        "strides",
        gm.print_readable(
            print_output=False, include_stride=True, include_device=True
        ),
    )
    m.text(
        "expanded", gm.print_readable(print_output=False, expanded_def=True)
    )


class Nested(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gm = traced()

    def forward(self, x):
        return self.gm(x) * 2


class KeepGraphs(fx.Tracer):
    def is_leaf_module(self, module, name):
        return isinstance(module, GraphModule) or super().is_leaf_module(
            module, name
        )


@case
def nested_graph_modules(m):
    root = filled(Nested())
    inlined = symbolic_trace(root)
    m.graph(inlined)
    kept = GraphModule(root, KeepGraphs().trace(root), "Nested")
    m.code(kept)
    m.text("readable", kept.print_readable(print_output=False))
    m.outputs(inlined, fill([2, 3]))


@case
def submodules(m):
    gm = traced()
    m.value("added", gm.add_submodule("a.c.d", torch.nn.Dropout(0.5)))
    m.value("not below", gm.add_submodule("w.x", torch.nn.ReLU()))
    m.value("own", gm.add_submodule("e", torch.nn.ReLU()))
    m.value("names", [name for name, _ in gm.named_modules()])
    m.value("deleted", gm.delete_submodule("a.c.d"))
    m.value("gone", gm.delete_submodule("a.c.d"))
    m.value("parameter", gm.delete_submodule("w"))
    m.value("no path", gm.delete_submodule("a.x.y"))
    gm.delete_all_unused_submodules()
    m.value("left", [name for name, _ in gm.named_modules()])


@case
def getting_members(m):
    gm = traced()
    m.text("module", repr(gm.get_submodule("a.lin")))
    m.error(lambda: gm.get_submodule("a.nothing"))
    m.error(lambda: gm.get_submodule("w"))
    m.error(lambda: gm.get_parameter("a.lin.nothing"))
    m.error(lambda: gm.get_parameter("buf"))
    m.error(lambda: gm.get_buffer("w"))
    m.error(lambda: gm.get_buffer("nothing"))
    m.value("state", list(gm.state_dict()))


@case
def missing_submodules(m):
    gm = traced()
    m.error(lambda: gm.graph.call_module("nothing", ()))
    m.error(lambda: gm.graph.call_module("a.lin.weight", ()))
    m.warning(lambda: gm.graph.get_attr("nothing"))
    gm.graph.erase_node(gm.graph.find_nodes(op="get_attr", target="nothing")[0])
    with gm.graph.inserting_before(gm.graph.output_node()):
        call = gm.graph.call_module("b", ())
    for target in ("nothing", "a.nothing", "a.lin.weight", "w.x"):
        call.target = target
        m.error(gm.graph.lint)
    gm.graph.erase_node(call)
    m.warning(lambda: gm.graph.erase_node(call))
    with gm.graph.inserting_before(gm.graph.output_node()):
        gm.graph.create_node("get_attr", "a.lin.nothing")
    m.error(gm.graph.lint)


@case
def from_a_dict(m):
    graph = Graph()
    x = graph.placeholder("x")
    w = graph.get_attr("foo.bar.baz")
    y = graph.call_module("foo.lin", (graph.call_function(torch.add, (x, w)),))
    graph.output(y)
    members = {
        "foo.lin": filled(torch.nn.Linear(3, 2)),
        "foo.bar.baz": fill([3]),
    }
    gm = GraphModule(members, graph, "FromDict")
    m.code(gm)
    m.text("str", str(gm))
    m.outputs(gm, fill([2, 3]))
    m.error(lambda: GraphModule({"foo.lin": members["foo.lin"]}, graph))


@case
def from_another_root(m):
    gm = traced()
    m.error(lambda: GraphModule(torch.nn.Linear(1, 1), gm.graph))
    again = GraphModule(gm, gm.graph, "Again")
    m.text("str", str(again))


@case
def another_graph(m):
    gm = traced()
    graph = Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("b", (x,)))
    gm.graph = graph
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def edits_and_recompile(m):
    gm = traced()
    old = gm.code
    b = gm.graph.find_nodes(op="call_module", target="b")[0]
    with gm.graph.inserting_after(b):
        new = gm.graph.call_function(torch.sigmoid, b.args)
    b.replace_all_uses_with(new)
    gm.graph.erase_node(b)
    m.value("unchanged", gm.code == old)
    gm.recompile()
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def independent_copies(m):
    gm = traced()
    made = copy.deepcopy(gm)
    with torch.no_grad():
        made.w.add_(1)
        made.a.lin.weight.zero_()
    for node in list(made.graph.nodes):
        if node.name == "b":
            node.replace_all_uses_with(node.args[0])
            made.graph.erase_node(node)
    made.recompile()
    m.code(made)
    m.code(gm)
    m.outputs(made, fill([2, 3]))
    m.outputs(gm, fill([2, 3]))
    m.value("state", list(made.state_dict()))
