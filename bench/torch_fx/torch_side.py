"""torch.fx's side: torch_side.py WORK NODES REPEATS prints seconds as JSON.

The same work on the same graphs as fxjit_torch_fx.cpp, line by line. One work a
process, so that a slow one can be stopped and none inherits another's heap.
"""

import copy
import json
import sys
import time

import torch
from torch import fx


def rss_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def chain(x, y, nodes):
    for _ in range(nodes // 4):
        x = torch.relu(x + y) * 0.5
        x = x.neg()
    return x


def build(nodes):
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    for _ in range(nodes // 4):
        x = graph.call_function(torch.add, (x, y))
        x = graph.call_function(torch.relu, (x,))
        x = graph.call_function(torch.mul, (x, 0.5))
        x = graph.call_method("neg", (x,))
    graph.output(x)
    return graph


def half_dead(nodes):
    graph = fx.Graph()
    x = graph.placeholder("x")
    for _ in range(nodes // 2):
        graph.call_function(torch.relu, (x,))
        x = graph.call_function(torch.neg, (x,))
    graph.output(x)
    return graph


def pattern(x, y):
    return torch.relu(torch.add(x, y))


def replacement(x, y):
    return torch.sigmoid(torch.sub(x, y))


WORKS = {
    # name: (what is made before the clock starts, what is timed)
    "trace": (
        lambda n: (lambda x, y: chain(x, y, n)),
        lambda f, n: fx.symbolic_trace(f),
    ),
    "create": (lambda n: None, lambda _, n: build(n)),
    "copy": (build, lambda graph, n: copy.deepcopy(graph)),
    "print": (build, lambda graph, n: str(graph)),
    "python_code": (build, lambda graph, n: graph.python_code("self")),
    "eliminate_dead_code": (
        half_dead,
        lambda graph, n: graph.eliminate_dead_code(),
    ),
    "lint": (build, lambda graph, n: graph.lint()),
    "replace_pattern": (
        lambda n: fx.GraphModule(torch.nn.Module(), build(n)),
        lambda gm, n: fx.replace_pattern(gm, pattern, replacement),
    ),
}


def memory(nodes):
    build(16)
    before = rss_bytes()
    graph = build(nodes)
    return (rss_bytes() - before) / len(graph.nodes)


def main():
    work, nodes, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if work == "memory":
        print(json.dumps({"bytes": memory(nodes)}))
        return
    prepare, run = WORKS[work]
    best = float("inf")
    for _ in range(repeats):
        subject = prepare(nodes)
        start = time.perf_counter()
        result = run(subject, nodes)
        best = min(best, time.perf_counter() - start)
        del result, subject
    print(json.dumps({"seconds": best}))


main()
