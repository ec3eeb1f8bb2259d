"""Small models whose graphs are edited, copied and run in another way."""

import math

import torch
import torch.fx as fx
import torch.nn.functional as F
from torch.fx import symbolic_trace

from mirror import case, fill, filled


@case
def all_sensors_become_any(m):
    class Alarm(torch.nn.Module):
        def forward(self, smoke, heat, gas):
            return torch.minimum(torch.minimum(smoke, heat), gas)

    mod = Alarm()
    graph = fx.Tracer().trace(mod)
    for node in graph.nodes:
        if node.op == "call_function":
            if node.target == torch.minimum:
                node.target = torch.maximum
    graph.lint()
    gm = fx.GraphModule(mod, graph)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3], 1), fill([3], 2), fill([3], 3))


def decompose(model, rules):
    graph = fx.Tracer().trace(model)
    new_graph = fx.Graph()
    new_node = {}
    tracer = fx.proxy.GraphAppendingTracer(new_graph)
    for node in graph.nodes:
        if node.op == "call_function" and node.target in rules:
            arguments = [fx.Proxy(new_node[x], tracer) for x in node.args]
            new_node[node] = rules[node.target](*arguments).node
        else:
            new_node[node] = new_graph.node_copy(node, new_node.__getitem__)
    return fx.GraphModule(model, new_graph)


@case
def decomposition(m):
    class GatedUnit(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Linear(3, 10)
            self.gate = torch.nn.Linear(3, 10)

        def forward(self, x):
            return F.silu(self.up(x)) * self.gate(x)

    gm = decompose(filled(GatedUnit()), {F.silu: lambda x: x * torch.sigmoid(x)})
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


def penalty(error):
    return torch.abs(error).mean(dim=-1)


def replace_function(graph, old, new):
    for node in graph.nodes:
        if node.op == "call_function" and node.target == old:
            with graph.inserting_after(node):
                other = graph.call_function(new, node.args)
                node.replace_all_uses_with(other)
                graph.erase_node(node)


@case
def replaced_function(m):
    traced = symbolic_trace(penalty)
    m.graph(traced)
    replace_function(traced.graph, torch.abs, torch.square)
    traced.recompile()
    m.graph(traced)
    m.code(traced)
    m.outputs(traced, fill([2, 5]))


@case
def traced_module_within_a_module(m):
    class Fit(torch.nn.Module):
        def forward(self, x):
            return self.penalty(x - math.e)

    squared = symbolic_trace(penalty)
    replace_function(squared.graph, torch.abs, torch.square)
    squared.recompile()
    fit = Fit()
    fit.penalty = squared
    traced = symbolic_trace(fit)
    m.graph(traced)
    m.code(traced)
    m.outputs(traced, fill([2, 5]))


def phase(t):
    return torch.sin(t).cos()


@case
def swapping_interpreter(m):
    class QuarterPhase(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            if target == torch.sin:
                return torch.cos(*args, **kwargs)
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target == "cos":
                t, *rest = args
                return t.sin(*rest, **kwargs)
            return super().call_method(target, args, kwargs)

    gm = symbolic_trace(phase)
    m.value("result", QuarterPhase(gm).run(fill([3, 4])))
    m.outputs(gm, fill([3, 4]))


@case
def swapping_transformer(m):
    class QuarterPhase(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target == torch.sin:
                return torch.cos(*args, **kwargs)
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target == "cos":
                t, *rest = args
                return t.sin(*rest, **kwargs)
            return super().call_method(target, args, kwargs)

    gm = symbolic_trace(phase)
    transformed = QuarterPhase(gm).transform()
    m.graph(transformed)
    m.code(transformed)
    m.outputs(transformed, fill([3, 4]))
    m.graph(gm)


@case
def copied_node_by_node(m):
    graph = symbolic_trace(penalty).graph
    new_graph = fx.Graph()
    new_node = {}
    for node in graph.nodes:
        new_node[node] = new_graph.node_copy(node, new_node.__getitem__)
    new_graph.lint()
    m.graph(new_graph)
    m.tabular(new_graph)
