"""The examples of torch.fx's own documentation and of articles about it."""

from math import sqrt

import torch
import torch.fx as fx
from torch.fx import symbolic_trace

from mirror import case, fill, filled

fx.wrap("len")
fx.wrap("sqrt")


@case
def first_module(m):
    class MyModule(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.param = torch.nn.Parameter(torch.rand(3, 4))
            self.linear = torch.nn.Linear(4, 5)

        def forward(self, x):
            return self.linear(x + self.param).clamp(min=0.0, max=1.0)

    gm = symbolic_trace(filled(MyModule()))
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.outputs(gm, fill([3, 4], 1))


@case
def dynamic_control_flow(m):
    def func_to_trace(x):
        dim0 = x.size[0]
        if dim0 == 3:
            return torch.relu(x)
        else:
            return torch.neg(x)

    m.error(lambda: symbolic_trace(func_to_trace))


@case
def static_control_flow(m):
    class MyModule(torch.nn.Module):
        def __init__(self, do_activation=False):
            super().__init__()
            self.do_activation = do_activation
            self.linear = torch.nn.Linear(8, 8)

        def forward(self, x):
            x = self.linear(x)
            if self.do_activation:
                x = torch.relu(x)
            return x

    for do_activation in (False, True):
        gm = symbolic_trace(filled(MyModule(do_activation)))
        m.code(gm)
        m.outputs(gm, fill([2, 8]))


@case
def flag_by_closure(m):
    def f(x, flag):
        if flag:
            return x
        else:
            return x * 2

    m.error(lambda: symbolic_trace(f))

    def g(flag):
        return lambda x: f(x, flag)

    for flag in (True, False):
        gm = symbolic_trace(g(flag))
        m.graph(gm)
        m.code(gm)
        m.outputs(gm, fill([3]))


@case
def wrapped_builtins(m):
    def normalize(x):
        return x / sqrt(len(x))

    gm = symbolic_trace(normalize)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([4, 2]))


@case
def custom_tracer(m):
    class MyCustomTracer(fx.Tracer):
        pass

    class MyModule(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x) + torch.ones(3, 4)

    mod = MyModule()
    gm = fx.GraphModule(mod, MyCustomTracer().trace(mod))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3, 4]))


@case
def leaf_modules(m):
    class MySpecialSubmodule(torch.nn.Module):
        def forward(self, x):
            return torch.neg(x)

    class MyModule(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 4)
            self.submod = MySpecialSubmodule()

        def forward(self, x):
            return self.submod(self.linear(x))

    gm = symbolic_trace(filled(MyModule()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def parameter_of_submodule(m):
    class MyModule(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return torch.sum(self.linear(x + self.linear.weight).relu(), dim=-1)

    gm = symbolic_trace(filled(MyModule()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([4, 4]))


@case
def proxy_operations(m):
    tracer = fx.Tracer()
    tracer.graph = fx.Graph()
    proxy = tracer.create_proxy("placeholder", "x", (), {})
    proxy + 1
    proxy.add(1)
    torch.add(proxy, 2)
    m.value("ops", [node.op for node in tracer.graph.nodes])
    m.graph(tracer.graph)


@case
def tensor_attributes(m):
    class N(torch.nn.Module):
        def __init__(self, seed):
            super().__init__()
            self.a = fill([2], seed)
            self.b = torch.nn.Parameter(torch.rand(1))

        def forward(self, x):
            return x * self.a + self.b

    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList([N(i) for i in range(3)])
            self.layer = N(3)

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.layer(x)

    gm = symbolic_trace(filled(M()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2]))


@case
def loop_of_fixed_length(m):
    def loop_shapes(x, itr):
        for _ in range(itr):
            x = torch.cat((x, x), dim=0)
        return x

    gm = symbolic_trace(lambda x: loop_shapes(x, 3))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([1, 3]))


@case
def variadic_module(m):
    class MyModule(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.param = torch.nn.Parameter(torch.rand(3, 4))
            self.linear = torch.nn.Linear(4, 5)

        def forward(self, x, y, *args, **kwargs):
            out = x["a"].clone()
            out -= x["b"]
            out += y
            out += args[0]["u"]
            out += kwargs["c"]
            out = (out + self.param) @ self.linear.weight.T
            out = out.clamp(0.0, max=1.0)
            return out

    gm = symbolic_trace(filled(MyModule()))
    m.graph(gm)
    m.code(gm)
