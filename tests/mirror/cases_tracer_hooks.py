"""Hooks of tracers: what they are given, and what becomes of what they give."""

import torch
from torch.fx import Graph, GraphModule, Proxy, Tracer
from torch.fx.proxy import GraphAppendingTracer

from mirror import case, fill, filled


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.scale = torch.nn.Parameter(torch.rand(3))

    def forward(self, x):
        y = self.lin(x)
        return y * self.scale


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Block()
        self.two = Block()

    def forward(self, x):
        a = self.one(x)
        b = self.two(a)
        return torch.relu(a + b)


def made_by(tracer, root):
    graph = tracer.trace(root)
    return GraphModule(tracer.root, graph)


@case
def nodes_named_by_the_hook(m):
    class Numbered(Tracer):
        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            wish = f"{kind}_{len(args)}_{len(kwargs)}"
            return super().create_node(kind, target, args, kwargs, wish, type_expr)

    gm = made_by(Numbered(), filled(Pair()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def nodes_changed_by_the_hook(m):
    class Swapping(Tracer):
        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            if target is torch.relu:
                target = torch.tanh
                name = "bent"
            return super().create_node(kind, target, args, kwargs, name, type_expr)

    gm = made_by(Swapping(), filled(Pair()))
    m.graph(gm)
    m.outputs(gm, fill([2, 3]))


@case
def annotated_by_the_hook(m):
    class Annotating(Tracer):
        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            if kind != "output":
                type_expr = torch.Tensor
            return super().create_node(kind, target, args, kwargs, name, type_expr)

    gm = made_by(Annotating(), lambda x: torch.relu(x + 1))
    m.graph(gm)
    m.code(gm)


@case
def proxies_counted(m):
    class Counting(Tracer):
        def __init__(self):
            super().__init__()
            self.seen = []

        def proxy(self, node):
            self.seen.append(node.name)
            return super().proxy(node)

        def create_proxy(self, kind, *args, **kwargs):
            self.kinds.append(kind)
            return super().create_proxy(kind, *args, **kwargs)

    tracer = Counting()
    tracer.kinds = []
    made_by(tracer, filled(Pair()))
    m.value("seen", tracer.seen)
    m.value("kinds", sorted(tracer.kinds))


@case
def proxies_of_one_factory(m):
    graph = Graph()
    tracer = GraphAppendingTracer(graph)
    made = []

    def factory(node):
        made.append(node.name)
        return Proxy(node, tracer)

    x = tracer.create_proxy("placeholder", "x", (), {}, proxy_factory_fn=factory)
    y = tracer.create_proxy("call_function", torch.neg, (x,), {})
    z = tracer.create_proxy(
        "call_function", torch.add, (x, y), {}, name="total", proxy_factory_fn=factory
    )
    tracer.create_node("output", "output", (z.node,), {})
    m.value("made", made)
    m.graph(graph)
    m.text("tracers", f"{tracer.graph is graph} {x.tracer is tracer}")
    m.outputs(GraphModule({}, graph), fill([3]))


@case
def arguments_made_by_the_hook(m):
    class Doubling(Tracer):
        def create_arg(self, a):
            if isinstance(a, float):
                return a * 2
            return super().create_arg(a)

    gm = made_by(Doubling(), lambda x: torch.clamp(x * 0.5, min=-0.25, max=2) + 1)
    m.graph(gm)
    m.outputs(gm, fill([4]))


@case
def arguments_that_make_themselves(m):
    class Span:
        def __init__(self, low, high):
            self.low, self.high = low, high

        def __fx_create_arg__(self, tracer):
            return tracer.create_arg((self.low, self.high))

    gm = made_by(Tracer(), lambda x: x.reshape(Span(3, 2)))
    m.graph(gm)
    m.outputs(gm, fill([6]))


@case
def paths_given_by_the_hook(m):
    class Renaming(Tracer):
        def path_of_module(self, mod):
            path = super().path_of_module(mod)
            return path.replace("one", "two")

    root = filled(Pair())
    gm = made_by(Renaming(), root)
    m.graph(gm)
    m.outputs(gm, fill([2, 3]))


@case
def parameters_given_by_the_hook(m):
    class Constants(Tracer):
        def __init__(self):
            super().__init__()
            self.seen = []

        def getattr(self, attr, attr_val, parameter_proxy_cache):
            if isinstance(attr_val, torch.nn.Parameter):
                self.seen.append([attr.split(".")[-1], len(parameter_proxy_cache)])
            return super().getattr(attr, attr_val, parameter_proxy_cache)

    root = filled(Pair())
    tracer = Constants()
    gm = made_by(tracer, root)
    m.value("seen", tracer.seen)
    m.graph(gm)


@case
def parameters_read_as_they_are(m):
    class Plain(Tracer):
        def getattr(self, attr, attr_val, parameter_proxy_cache):
            return attr_val

    gm = made_by(Plain(), filled(Pair()))
    m.graph(gm)
    m.outputs(gm, fill([2, 3]))


@case
def arguments_of_the_root_changed(m):
    class Shifted(Tracer):
        def create_args_for_root(self, root_fn, is_module, concrete_args=None):
            fn, args = super().create_args_for_root(root_fn, is_module, concrete_args)
            return fn, [a + 1 if isinstance(a, Proxy) else a for a in args]

    gm = made_by(Shifted(), lambda x, y: x * y)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3]), fill([3], 1))
