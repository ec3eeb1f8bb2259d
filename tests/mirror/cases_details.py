"""Texts and small rules: what stands in graphs, errors of edits, and calls of
modules that lost a part."""

import builtins

import torch
import torch.fx as fx
import torch.nn.functional as F
from torch.fx import Graph, GraphModule, symbolic_trace
from torch.fx.experimental.normalize import NormalizeArgs
from torch.fx.passes.shape_prop import ShapeProp

from mirror import case, fill, filled


def my_op(x):
    return x + 1


# A global without a module, as C++ functions may be.
builtins.my_op = my_op
fx.wrap("my_op")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 4)
        self.seq = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
        self.scale = torch.nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return self.lin(self.seq(x)) * self.scale


@case
def functions_without_a_module(m):
    gm = symbolic_trace(lambda x: my_op(my_op(x)) * 2)
    m.graph(gm)
    m.code(gm)
    graph = Graph()
    x = graph.placeholder("my_op")
    graph.output(graph.call_function(my_op, (x,)))
    m.code(GraphModule({}, graph))


@case
def boxed_runs_of_trees(m):
    class Trees(torch.nn.Module):
        def forward(self, d, y):
            return {"sum": d["a"] + d["b"][0], "y": [y]}

    gm = symbolic_trace(Trees(), {"d": {"a": fx.PH, "b": [fx.PH]}})
    x, y, z = fill([2]), fill([2], 1), fill([2], 2)
    m.value("boxed", fx.Interpreter(gm).boxed_run([x, y, z]))
    m.error(lambda: fx.Interpreter(gm).boxed_run([x, y]))
    m.value("called", gm({"a": x, "b": [y]}, z))


@case
def lint_of_missing_targets(m):
    for op, target in [
        ("get_attr", "lin.weight.x"), ("call_module", "lin.weight"),
        ("call_module", "lin.weight.x"), ("get_attr", "lin.foo.x"),
        ("get_attr", "seq.0.weight.x.y"), ("call_module", "foo"),
        ("get_attr", "foo.bar"), ("call_module", "seq.3"),
        ("get_attr", "scale.x"), ("call_module", "scale"),
    ]:
        gm = symbolic_trace(Net())
        with gm.graph.inserting_before(None):
            gm.graph.create_node(op, target, (), {})
        m.error(lambda: gm.graph.lint())


@case
def inserted_arguments(m):
    graph = Graph()
    node = graph.call_function(torch.neg, (graph.placeholder("x"),))
    for index in (-1, -5, 2, 7):
        m.error(lambda: node.insert_arg(index, 1))
    node.insert_arg(1, 2)
    m.graph(graph)


@case
def calls_without_a_part(m):
    x = fill([2, 3])
    for part in ("lin", "seq.0", "seq"):
        gm = symbolic_trace(Net())
        gm.delete_submodule(part)
        m.error(lambda: gm(x))
        m.error(
            lambda: fx.Interpreter(gm).run(x), until="\nOriginal traceback"
        )
    gm = symbolic_trace(Net())
    del gm.scale
    m.error(lambda: gm(x))
    graph = Graph()
    graph.output(graph.get_attr("lin.weight"))
    gm = GraphModule(Net(), graph)
    del gm.lin.weight
    m.error(lambda: gm())


@case
def types_of_transformed_outputs(m):
    def forward(x: int) -> torch.Tensor:
        return x + 1

    gm = symbolic_trace(forward)
    m.code(gm)
    m.code(fx.Transformer(gm).transform())


@case
def shape_errors(m):
    gm = symbolic_trace(lambda x, y: torch.relu(x) + y)
    m.error(
        lambda: ShapeProp(gm).propagate(fill([2, 3]), fill([4])),
        until="\n",
    )
    ShapeProp(gm).propagate(fill([2, 3]), fill([3]))
    m.error(
        lambda: ShapeProp(gm).propagate(fill([2, 3]), fill([4])),
        until="\n",
    )


@case
def normalised_overloads(m):
    def forward(x, y):
        a = torch.add(x, y)
        b = torch.sub(a, 1)
        c = torch.add(b, y, alpha=2)
        d = torch.relu(c)
        e = torch.sum(d, 1)
        f = torch.clamp(e, 0, 1)
        g = torch.flatten(f, 0)
        return F.gelu(torch.div(g, 2))

    gm = symbolic_trace(forward)
    m.graph(NormalizeArgs(gm).transform())
    m.graph(NormalizeArgs(gm, False).transform())


class Strict(fx.Tracer):
    check_mutable_operations = True


@case
def refused_mutable_operations(m):
    for call in (
        lambda x: torch.relu_(x), lambda x: torch.zero_(x),
        lambda x: torch.exp_(x), lambda x: F.relu_(x),
        lambda x: torch.erf_(x),
    ):
        m.error(lambda: Strict().trace(call))
    m.graph(Strict().trace(lambda x: torch.clamp_(x, 0, 1)))
    m.graph(Strict().trace(lambda x: x.add_(1)))
    m.graph(Strict().trace(lambda x: F.relu(x, inplace=True)))


def holder_of(*values):
    graph = Graph()
    x = graph.placeholder("x")
    graph.call_function(torch.add, (x, *values))
    graph.output(None)
    return graph


@case
def tensors_in_nodes(m):
    m.graph(holder_of(fill([2]), 1))
    m.graph(holder_of(fill([2, 3]), [fill([2, 2], 1, torch.int64)]))
    m.graph(holder_of(torch.tensor(3), torch.tensor(0.5), torch.tensor(True)))
    m.graph(holder_of(fill([3], dtype=torch.bool), fill([2], dtype=torch.float64)))
    m.graph(holder_of(torch.zeros(2), torch.full([2, 2], 3.0)))
    m.graph(holder_of(torch.tensor([1e-5, 1.0]), torch.tensor([1e9, 2.0])))
    m.graph(holder_of(torch.tensor([1000.0, 2.5]), torch.tensor([1e4, 1.0])))
    m.graph(holder_of(torch.tensor([float("nan"), 1.0, float("inf")])))
    m.graph(holder_of(torch.tensor([float("-inf"), 0.25]), torch.tensor([])))
    m.graph(holder_of(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64)))
    m.graph(holder_of(fill([2, 2, 3]), fill([1, 2, 1, 2], dtype=torch.int32)))
    m.graph(holder_of(fill([30]), fill([40], 2, torch.int64)))
    m.graph(holder_of(fill([1001]), fill([8, 200], 1, torch.int64)))
    m.graph(holder_of(fill([12, 10, 10])))
    m.graph(holder_of(fill([3], 1, torch.float16), fill([9], 1, torch.bfloat16)))
    m.graph(holder_of(torch.tensor([-1, 10, -100]), fill([2, 3]).t()))
    m.graph(holder_of(torch.tensor([2**40, 2**62 + 1])))
    graph = Graph()
    graph.placeholder("x", default_value=fill([2]))
    graph.output([fill([1]), {"k": fill([2])}])
    m.graph(graph)
    m.code(graph)
    m.tabular(holder_of(fill([2]), 1))
