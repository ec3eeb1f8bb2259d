"""Tracing of modules and functions: what is recorded, under which names."""

import operator

import torch
import torch.fx as fx
from torch.fx import symbolic_trace

from mirror import case, fill, filled


@case
def nested_modules(m):
    class Sub(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.rand(2, 3))

        def forward(self, x):
            return self.w + x

    class Top(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(4, 3)
            self.sub_mod = Sub()
            self.w = torch.nn.Parameter(torch.rand(3))

        def forward(self, a, b, c=3.0, *args, **kwargs):
            d = self.lin(a)
            e = torch.relu(d)
            f = self.sub_mod(e + b) + self.w + c
            return torch.sigmoid(f) * e

    gm = symbolic_trace(filled(Top()))
    gm.graph.lint()
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.outputs(symbolic_trace(NestedFixed()), fill([2, 4]), fill([2, 3]))


class NestedFixed(torch.nn.Module):
    def forward(self, a, b, c=3.0):
        return a[:, :3] + b * c


@case
def dict_in_and_out(m):
    class M(torch.nn.Module):
        def forward(self, x):
            z = {"a": x["b"] + 1, "c": (x["b"], 3)}
            return z

    gm = symbolic_trace(M())
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, {"b": fill([3])})


@case
def ellipsis(m):
    def f(x, y):
        return x + y[:, 1:10, ...]

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([5, 9, 3, 4]), fill([5, 15, 3, 4], 1))


@case
def matmul_both_ways(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.c = torch.nn.Parameter(torch.rand(3, 3))

        def forward(self, x):
            return x @ self.c, self.c @ x

    gm = symbolic_trace(filled(M()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3, 3]))


@case
def shifts(m):
    gm = symbolic_trace(lambda x: (x << 3, x >> 1, 2 << x, 64 >> x))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([6], 1, torch.int64))


@case
def bits(m):
    gm = symbolic_trace(lambda x, y: (x & y, x | 12, 3 ^ x, ~y))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([6], 1, torch.int64), fill([6], 2, torch.int64))


@case
def every_operator(m):
    def f(x, y):
        return (x + y, x - y, x * y, x / y, x // y, x % y, x**2, -x, +x,
                x < y, x <= y, x > y, x >= y, x == y, x != y, abs(x))

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.outputs(gm, fill([5], 3), fill([5], 4) + 2)


@case
def every_reflected_operator(m):
    def f(x):
        return (2 + x, 2 - x, 2 * x, 2 / x, 7 // x, 7 % x, 2**x, 1 < x, 1 >= x,
                1 == x)

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([5], 4) + 2.5)


@case
def rebinding_operators(m):
    def f(x, y):
        x -= y
        x += 1
        x *= y
        x /= 3
        return x

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([4]), fill([4], 5))


@case
def refused_by_a_hook(m):
    class NoInPlace(fx.Tracer):
        def create_node(self, kind, target, args, kwargs, name=None,
                        type_expr=None):
            text = target if isinstance(target, str) else target.__name__
            if text[-1] == "_":
                raise RuntimeError("In-place operations are not supported")
            return super().create_node(kind, target, args, kwargs, name)

    class Bad(torch.nn.Module):
        def forward(self, x):
            x.add_(1)
            return x

    class Good(torch.nn.Module):
        def forward(self, x):
            return x.log().add(1)

    m.error(lambda: NoInPlace().trace(Bad()))
    m.graph(NoInPlace().trace(Good()))


@case
def no_leaves(m):
    class NoLeaves(fx.Tracer):
        def is_leaf_module(self, module, qualname):
            return False

    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.seq = torch.nn.Sequential(torch.nn.Linear(4, 4),
                                           torch.nn.ReLU())

        def forward(self, x):
            return self.seq(x)

    mod = filled(M())
    gm = fx.GraphModule(mod, NoLeaves().trace(mod))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 4]))


@case
def unpacking(m):
    def f(x):
        a, b = x
        c, d, e = b.split(1)
        return a + c, d * e

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, (fill([1]), fill([3])))


@case
def reserved_getattr(m):
    gm = symbolic_trace(lambda x: x.foo.bar.baz)
    m.graph(gm)
    m.code(gm)
    m.value("names", [node.name for node in gm.graph.nodes])


@case
def tagged_nodes(m):
    class Tagging(fx.Tracer):
        def create_node(self, *args, **kwargs):
            node = super().create_node(*args, **kwargs)
            node.meta["tag"] = "foo"
            return node

    def f(a, b):
        return torch.relu(a) + b.neg()

    graph = Tagging().trace(f)
    m.value("tags", [[n.name, n.meta.get("tag")] for n in graph.nodes])


@case
def tensor_attribute_used_twice(m):
    shared = fill([3], 1)
    other = fill([3], 1)
    for pair in ((shared, shared), (shared, other)):
        gm = symbolic_trace(lambda x: x + pair[0] + pair[1])
        m.graph(gm)
        m.code(gm)
        m.outputs(gm, fill([3]))


@case
def constant_of_a_function(m):
    bias = fill([4], 3)
    gm = symbolic_trace(lambda x: torch.relu(x + bias))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([4]))


@case
def attributes(m):
    def f(x):
        x.unused
        n = x.shape[0]
        return x.view(n, -1), x.dtype, x.T

    gm = symbolic_trace(f)
    m.graph(gm)
    m.code(gm)


@case
def calling_a_proxy(m):
    gm = symbolic_trace(lambda f, x: f(x, 2, scale=3))
    m.graph(gm)
    m.code(gm)


@case
def static_loop_and_sequential(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(
                *[torch.nn.Linear(3, 3) for _ in range(3)]
            )
            self.scale = 0.5

        def forward(self, x):
            for i, layer in enumerate(self.layers):
                x = layer(x) * self.scale
                if i < 2:
                    x = torch.tanh(x)
            return self.layers(x)

    gm = symbolic_trace(filled(M()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def module_called_twice(m):
    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.conv(x).neg()

    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.sub = Inner()

        def forward(self, x):
            return self.sub(self.sub(x)) - self.sub(x)

    gm = symbolic_trace(filled(M()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))
    m.value("stacks", [
        [n.name] + [v[0] for v in n.meta.get("nn_module_stack", {}).values()]
        for n in gm.graph.nodes
    ])
