"""Interpreters and transformers from inside: what they look up and what they keep."""

import torch
import torch.fx as fx
from torch.fx import Interpreter, Transformer, symbolic_trace

from mirror import case, fill, filled


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.register_buffer("shift", torch.rand(3))

    def forward(self, x):
        return self.lin(x) + self.shift


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.gain = torch.nn.Parameter(torch.rand(3))

    def forward(self, x):
        y = self.inner(x) * self.gain
        return y.clamp(min=-1.0), y


def traced():
    return symbolic_trace(filled(Outer()))


def node(gm, name):
    return next(n for n in gm.graph.nodes if n.name == name)


@case
def attributes_fetched(m):
    gm = traced()
    interpreter = Interpreter(gm)
    m.value("gain", interpreter.fetch_attr("gain"))
    m.value("shift", interpreter.fetch_attr("inner.shift"))
    m.value("weight", interpreter.fetch_attr("inner.lin.weight"))
    m.value("module", type(interpreter.fetch_attr("inner.lin")).__name__)
    for name in ("none", "inner.none", "inner.lin.none.more"):
        m.error(lambda: interpreter.fetch_attr(name))


@case
def arguments_fetched(m):
    gm = symbolic_trace(lambda x, y: torch.clamp(torch.cat([x, y], 1), min=0, max=1))
    interpreter = Interpreter(gm, garbage_collect_values=False)
    interpreter.run(fill([2, 1]), fill([2, 2], 1))
    for n in gm.graph.nodes:
        args, kwargs = interpreter.fetch_args_kwargs_from_env(n)
        m.value(n.name, [list(args), dict(kwargs)])


@case
def nodes_mapped_to_values(m):
    gm = symbolic_trace(lambda x, y: x + y)
    interpreter = Interpreter(gm, garbage_collect_values=False)
    interpreter.run(fill([2]), 3)
    x, y, add = node(gm, "x"), node(gm, "y"), node(gm, "add")
    m.value("mapped", interpreter.map_nodes_to_values(
        (add, [y, {"k": x}], 2.5, None), add))
    empty = Interpreter(gm)
    m.error(lambda: empty.map_nodes_to_values((1, [y]), add))


@case
def errors_with_and_without_the_node(m):
    gm = symbolic_trace(lambda x: torch.reshape(torch.relu(x), (4, 4)))
    for wanted in (True, False):
        interpreter = Interpreter(gm)
        interpreter.extra_traceback = wanted
        m.error(lambda: interpreter.run(fill([3])))


@case
def values_left_by_an_error(m):
    gm = symbolic_trace(lambda x: torch.reshape(torch.relu(x) + x, (4, 4)))
    interpreter = Interpreter(gm)
    m.error(lambda: interpreter.run(fill([3])), until="\n")
    m.value("left", [n.name for n in gm.graph.nodes if n in interpreter.env])
    m.value("reshaped", interpreter.run(fill([16])))
    m.value("left", [n.name for n in gm.graph.nodes if n in interpreter.env])


@case
def another_graph_of_the_module(m):
    gm = traced()
    graph = fx.Graph()
    x = graph.placeholder("x")
    lin = graph.call_module("inner.lin", (x,))
    gain = graph.get_attr("gain")
    graph.output(graph.call_function(torch.mul, (lin, gain)))
    interpreter = Interpreter(gm, graph=graph)
    m.value("result", interpreter.run(fill([2, 3])))
    m.value("same", [interpreter.module is gm, interpreter.graph is graph])


@case
def inputs_given_beforehand(m):
    gm = symbolic_trace(lambda x, y: (x * 2, y + 1))
    env = {node(gm, "x"): fill([2]), node(gm, "mul"): torch.ones(2)}
    result = Interpreter(gm).run(fill([2], 5), fill([2], 6), initial_env=env)
    m.value("result", result)
    result = Interpreter(gm).run(initial_env={
        node(gm, "mul"): 1, node(gm, "add"): 2, node(gm, "x"): 3, node(gm, "y"): 4})
    m.value("all", result)


@case
def nodes_left_out_by_a_handler(m):
    class Skipping(Interpreter):
        def run_node(self, n):
            if n.op == "call_method":
                return self.env[n.args[0]]
            return super().run_node(n)

    gm = traced()
    m.value("result", Skipping(gm).run(fill([2, 3])))


@case
def results_changed_by_handlers(m):
    class Changed(Interpreter):
        def placeholder(self, target, args, kwargs):
            return super().placeholder(target, args, kwargs) + 1

        def get_attr(self, target, args, kwargs):
            value = super().get_attr(target, args, kwargs)
            return -value if target == "gain" else value

        def call_module(self, target, args, kwargs):
            return super().call_module(target, args, kwargs) * 2

        def output(self, target, args, kwargs):
            return {"first": super().output(target, args, kwargs)[0], "n": len(args)}

    gm = traced()
    m.value("result", Changed(gm).run(fill([2, 3])))


@case
def counted_by_kind(m):
    class Counting(Interpreter):
        def __init__(self, module):
            super().__init__(module)
            self.counts = {}

        def run_node(self, n):
            self.counts[n.op] = self.counts.get(n.op, 0) + 1
            return super().run_node(n)

    gm = traced()
    counting = Counting(gm)
    counting.run(fill([2, 3]))
    counting.run(fill([1, 3]))
    m.value("counts", counting.counts)


@case
def inputs_renamed_by_a_transformer(m):
    class Renaming(Transformer):
        def placeholder(self, target, args, kwargs):
            return super().placeholder(target + "_in", args, kwargs)

    made = Renaming(symbolic_trace(lambda x, y=2: x * y)).transform()
    m.graph(made)
    m.code(made)
    m.outputs(made, fill([3]))


@case
def attributes_scaled_by_a_transformer(m):
    class Scaling(Transformer):
        def get_attr(self, target, args, kwargs):
            return super().get_attr(target, args, kwargs) * 3

    made = Scaling(traced()).transform()
    m.graph(made)
    m.code(made)
    m.outputs(made, fill([2, 3]))


@case
def modules_replaced_by_a_transformer(m):
    class Replacing(Transformer):
        def call_module(self, target, args, kwargs):
            weight = self.tracer.create_proxy("get_attr", target + ".weight", (), {})
            return torch.matmul(args[0], weight)

    made = Replacing(traced()).transform()
    m.graph(made)
    m.outputs(made, fill([2, 3]))


@case
def constants_from_a_transformer(m):
    class Folding(Transformer):
        def call_function(self, target, args, kwargs):
            if target is torch.sigmoid:
                return 0.5
            return super().call_function(target, args, kwargs)

    gm = symbolic_trace(lambda x: torch.add(torch.sigmoid(x), x) * 2)
    transformer = Folding(gm)
    m.value("before", len(transformer.new_graph.nodes))
    made = transformer.transform()
    m.graph(made)
    m.outputs(made, fill([3]))


@case
def nodes_dropped_by_a_transformer(m):
    class Dropping(Transformer):
        def call_method(self, target, args, kwargs):
            return args[0]

        def run_node(self, n):
            if n.op == "call_function" and n.target is torch._assert:
                return None
            return super().run_node(n)

    def f(x):
        torch._assert(x.sum() > 0, "positive")
        return x.relu() + 1

    made = Dropping(symbolic_trace(f)).transform()
    m.graph(made)
    m.outputs(made, fill([3]))


@case
def methods_run_on_values(m):
    gm = symbolic_trace(lambda x: (x.t().contiguous().view(-1), x.size(0), x.dim()))
    interpreter = Interpreter(gm)
    m.value("result", interpreter.run(fill([2, 3])))
    m.value("module", interpreter.module is gm)
    m.error(lambda: Interpreter(symbolic_trace(lambda x: x.no_such())).run(fill([2])),
            until="\n")
