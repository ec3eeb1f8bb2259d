"""Tracers that change what is recorded, and what the standard one looks up."""

import copy

import torch
import torch.fx as fx
from torch.fx import GraphModule, Tracer, symbolic_trace

from mirror import case, fill, filled


@case
def positional_and_keyword_packs(m):
    class M(torch.nn.Module):
        def forward(self, *args, **kwargs):
            return args[0] + kwargs["foo"]

    gm = symbolic_trace(M())
    m.graph(gm)
    m.code(gm)
    m.value("result", gm(fill([3]), foo=fill([3], 1)))


@case
def retraced(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.seq = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh())
            self.w = torch.nn.Parameter(torch.rand(3))

        def forward(self, x, y=2):
            return self.seq(x) * self.w + y

    gm = symbolic_trace(symbolic_trace(filled(M())))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


class WithBuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.rand(3))
        self.plain = fill([3], 5)

    def forward(self, x):
        return x * self.scale + self.plain


@case
def buffers_as_proxies(m):
    for proxied in (False, True):
        tracer = Tracer()
        tracer.proxy_buffer_attributes = proxied
        mod = filled(WithBuffer())
        gm = GraphModule(mod, tracer.trace(mod))
        m.graph(gm)
        m.code(gm)
        m.outputs(gm, fill([3]))


class Half(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Halves(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.left = Half()
        self.right = Half()

    def forward(self, x):
        return self.left(x) - self.right(x)


@case
def leaf_by_name(m):
    class LeftIsALeaf(Tracer):
        def is_leaf_module(self, module, name):
            return name == "left" or super().is_leaf_module(module, name)

    mod = filled(Halves())
    gm = GraphModule(mod, LeftIsALeaf().trace(mod))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def calls_of_modules_changed(m):
    class Doubling(Tracer):
        def call_module(self, module, forward, args, kwargs):
            return super().call_module(module, forward, args, kwargs) * 2

    mod = filled(Halves())
    gm = GraphModule(mod, Doubling().trace(mod))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def scopes_of_nodes(m):
    tracer = Tracer()
    graph = tracer.trace(filled(Halves()))
    m.value("scopes", [
        [n.name, tracer.node_name_to_scope[n.name][0],
         getattr(tracer.node_name_to_scope[n.name][1], "__name__", "")]
        for n in graph.nodes
    ])


@case
def conditions_decided_by_the_tracer(m):
    class Deciding(Tracer):
        answer = True

        def to_bool(self, obj):
            return self.answer

    def f(x):
        if x.sum() > 0:
            return x + 1
        return x - 1

    for answer in (True, False):
        tracer = Deciding()
        tracer.answer = answer
        gm = GraphModule(torch.nn.Module(), tracer.trace(f))
        m.graph(gm)
        m.code(gm)


@case
def iteration_decided_by_the_tracer(m):
    class Iterating(Tracer):
        def iter(self, obj):
            return iter([obj[0], obj[1]])

    graph = Iterating().trace(lambda x: [y + 1 for y in x])
    gm = GraphModule(torch.nn.Module(), graph)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def names_of_proxies(m):
    seen = []

    def f(x):
        seen.append(str(x))
        y = x.relu
        seen.append(str(x + 1))
        seen.append(str(y()))
        return x

    symbolic_trace(f)
    m.value("seen", seen)


@case
def constant_constructors(m):
    def f(x):
        return (x + torch.ones(3)) * torch.arange(3) + torch.full((3,), 0.5)

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3]))


@case
def slices_with_proxies(m):
    def f(x, n):
        return x[n:], x[:, :n], x[n, ..., ::2]

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([4, 4]), 2)


@case
def shared_modules_and_parameters(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(3, 3)
            self.b = self.a
            self.w = self.a.weight

        def forward(self, x):
            return self.b(self.a(x)) @ self.w

    gm = symbolic_trace(filled(M()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def parameter_shapes(m):
    class ByShape(torch.nn.Module):
        def __init__(self, fact):
            super().__init__()
            self.fact = fact
            self.w = torch.nn.Parameter(torch.rand(4, 2))

        def forward(self, x):
            w = self.w
            facts = {
                "shape": lambda: w.shape[0] == 4, "size": lambda: w.size()[1] == 2,
                "dim": lambda: w.dim() == 2, "ndim": lambda: w.ndim == 2,
                "numel": lambda: w.numel() == 8, "nelement": lambda: w.nelement() > 8,
            }
            if facts[self.fact]():
                return torch.relu(x + w)
            return torch.sigmoid(x + w)

    for fact in ("shape", "size", "dim", "ndim", "numel", "nelement"):
        mod = filled(ByShape(fact))
        gm = GraphModule(mod, Tracer(param_shapes_constant=True).trace(mod))
        m.graph(gm)
        m.outputs(gm, fill([4, 2]))
    m.error(lambda: Tracer().trace(ByShape("dim")))


@case
def proxies_on_a_graph(m):
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    y = fx.Proxy(graph.placeholder("y"))
    z = torch.relu(x @ y) - x.shape[0]
    w = 2 / z + y.mean(dim=0)[None]
    graph.output({"z": z.node, "w": w.node})
    gm = GraphModule(torch.nn.Module(), graph)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3, 3], 1), fill([3, 3], 2))


@case
def deep_chain_copied(m):
    def f(x):
        for _ in range(1500):
            x = torch.relu(x)
        return x

    gm = symbolic_trace(f)
    copied = copy.deepcopy(gm)
    m.value("nodes", len(copied.graph.nodes))
    m.value("same", str(copied.graph) == str(gm.graph))
    m.value("last", next(reversed(copied.graph.nodes)).args[0].name)


@case
def keys_of_a_proxy(m):
    gm = symbolic_trace(lambda x: x.keys())
    m.graph(gm)
    m.code(gm)
