"""What tracers know while they run: names, paths, scopes, lines, symbols."""

import torch
import torch.fx as fx
from torch.fx import Tracer
from torch.fx._symbolic_trace import PHWithMeta, is_fx_tracing
from torch.fx.proxy import Scope, ScopeContextManager

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


@case
def paths_of_modules(m):
    root = filled(Pair())
    tracer = Tracer()
    tracer.trace(root)
    modules = [root, root.one, root.two.lin]
    m.value("paths", [tracer.path_of_module(mod) for mod in modules])
    m.error(lambda: tracer.path_of_module(torch.nn.Linear(3, 3)))


@case
def fresh_names(m):
    root = filled(Pair())
    root.extra0 = fill([1])
    root.extra1 = fill([1])
    tracer = Tracer()
    tracer.trace(root)
    names = [tracer.get_fresh_qualname(p) for p in ("other", "extra", "extra", "other")]
    root.extra3 = fill([1])
    names += [tracer.get_fresh_qualname("extra") for _ in range(2)]
    m.value("names", names)


@case
def scopes_restored(m):
    scope = Scope("outer", "Outer")
    seen = []

    def note():
        seen.append(f"{scope.module_path}:{scope.module_type}")

    with ScopeContextManager(scope, Scope("outer.inner", "Inner")):
        note()
        try:
            with ScopeContextManager(scope, Scope("", "None")):
                note()
                raise ValueError
        except ValueError:
            note()
    note()
    m.value("seen", seen)


@case
def scopes_seen_while_tracing(m):
    class Noting(Tracer):
        def create_node(self, kind, *args, **kwargs):
            self.seen.append(
                [kind, self.scope.module_path, list(self.module_stack.keys())]
            )
            return super().create_node(kind, *args, **kwargs)

    tracer = Noting()
    tracer.seen = []
    tracer.trace(filled(Pair()))
    m.value("seen", tracer.seen)


@case
def stacks_of_repeated_calls(m):
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.act = torch.nn.ReLU()

        def forward(self, x):
            y = self.act(self.block(x))
            return self.act(self.block(y))

    tracer = Tracer()
    graph = tracer.trace(filled(Twice()))
    m.value("stacks", [
        [n.name] + [f"{key} {path}" for key, (path, _) in
                    n.meta.get("nn_module_stack", {}).items()]
        for n in graph.nodes
    ])


@case
def tracing_or_not(m):
    seen = [is_fx_tracing()]

    def f(x):
        seen.append(is_fx_tracing())
        inner = fx.symbolic_trace(lambda y: y * 2)
        seen.append(is_fx_tracing())
        return inner.forward(x) + 1

    gm = fx.symbolic_trace(f)
    seen.append(is_fx_tracing())

    def fails(x):
        seen.append(is_fx_tracing())
        raise ValueError("stop")

    m.error(lambda: fx.symbolic_trace(fails))
    seen.append(is_fx_tracing())
    m.value("seen", seen)
    m.graph(gm)
    m.outputs(gm, fill([3]))


@case
def keyed_symbols(m):
    class M(torch.nn.Module):
        def forward(self, pair, flag):
            return pair["a"] + pair["b"][0]

    keyed = {"a": PHWithMeta(ph_key="left"), "b": [PHWithMeta(ph_key="right")]}
    gm = fx.symbolic_trace(M(), {"pair": keyed, "flag": True})
    m.graph(gm)
    m.value("keys", [[n.name, getattr(n, "ph_key", None)] for n in gm.graph.nodes])


@case
def lines_of_the_user(m):
    for wanted in (True, False):
        tracer = Tracer()
        tracer.record_stack_traces = wanted
        graph = tracer.trace(filled(Pair()))
        m.value("known", [[n.name, n.stack_trace is not None] for n in graph.nodes])
