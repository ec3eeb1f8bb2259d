"""Edits and transforms of the documentation's and of articles' examples."""

import math

import torch
import torch.fx as fx
import torch.nn.functional as F
from torch.fx import symbolic_trace

from mirror import case, fill, filled


@case
def add_becomes_mul(m):
    class M(torch.nn.Module):
        def forward(self, x, y):
            return torch.add(x, y)

    mod = M()
    graph = fx.Tracer().trace(mod)
    for node in graph.nodes:
        if node.op == "call_function":
            if node.target == torch.add:
                node.target = torch.mul
    graph.lint()
    gm = fx.GraphModule(mod, graph)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3], 1), fill([3], 2))


def relu_decomposition(x):
    return (x > 0) * x


def decompose(model, rules):
    graph = fx.Tracer().trace(model)
    new_graph = fx.Graph()
    env = {}
    tracer = fx.proxy.GraphAppendingTracer(new_graph)
    for node in graph.nodes:
        if node.op == "call_function" and node.target in rules:
            proxy_args = [
                fx.Proxy(env[x.name], tracer) if isinstance(x, fx.Node) else x
                for x in node.args
            ]
            env[node.name] = rules[node.target](*proxy_args).node
        else:
            env[node.name] = new_graph.node_copy(node, lambda x: env[x.name])
    return fx.GraphModule(model, new_graph)


@case
def decomposition(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 10)

        def forward(self, x):
            return F.relu(self.linear(x))

    gm = decompose(filled(M()), {F.relu: relu_decomposition})
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


def my_func(x):
    return torch.relu(x).neg()


def replace_activation(graph, old_op, new_op):
    for n in graph.nodes:
        if n.op == "call_function" and n.target == old_op:
            with graph.inserting_after(n):
                new_n = graph.call_function(new_op, n.args)
                n.replace_all_uses_with(new_n)
                graph.erase_node(n)


@case
def replaced_activation(m):
    traced = symbolic_trace(my_func)
    m.graph(traced)
    replace_activation(traced.graph, torch.relu, F.gelu)
    traced.recompile()
    m.graph(traced)
    m.code(traced)
    m.outputs(traced, fill([5]))


@case
def traced_module_within_a_module(m):
    class SampleModule(torch.nn.Module):
        def forward(self, x):
            return self.act(x + math.pi)

    act = symbolic_trace(my_func)
    replace_activation(act.graph, torch.relu, F.gelu)
    act.recompile()
    sm = SampleModule()
    sm.act = act
    traced = symbolic_trace(sm)
    m.graph(traced)
    m.code(traced)
    m.outputs(traced, fill([5]))


def sigmoid_neg(x):
    return torch.sigmoid(x).neg()


@case
def swapping_interpreter(m):
    class NegSigmSwapInterpreter(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            if target == torch.sigmoid:
                return torch.neg(*args, **kwargs)
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target == "neg":
                call_self, *args_tail = args
                return call_self.sigmoid(*args_tail, **kwargs)
            return super().call_method(target, args, kwargs)

    gm = symbolic_trace(sigmoid_neg)
    m.value("result", NegSigmSwapInterpreter(gm).run(fill([3, 4])))
    m.outputs(gm, fill([3, 4]))


@case
def swapping_transformer(m):
    class NegSigmSwapXformer(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target == torch.sigmoid:
                return torch.neg(*args, **kwargs)
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target == "neg":
                call_self, *args_tail = args
                return call_self.sigmoid(*args_tail, **kwargs)
            return super().call_method(target, args, kwargs)

    gm = symbolic_trace(sigmoid_neg)
    transformed = NegSigmSwapXformer(gm).transform()
    m.graph(transformed)
    m.code(transformed)
    m.outputs(transformed, fill([3, 4]))
    m.graph(gm)


@case
def copied_node_by_node(m):
    g = symbolic_trace(my_func).graph
    new_graph = fx.Graph()
    value_remap = {}
    for node in g.nodes:
        value_remap[node] = new_graph.node_copy(node, lambda n: value_remap[n])
    new_graph.lint()
    m.graph(new_graph)
    m.tabular(new_graph)
