"""subgraph_rewriter: where patterns are found and what replacing them leaves."""

import torch
from torch.fx import Graph, Node, replace_pattern, symbolic_trace
from torch.fx.subgraph_rewriter import replace_pattern_with_filters

from mirror import case, fill


def text_of(value):
    return value.name if isinstance(value, Node) else repr(value)


def matched(matches):
    """One line per match: the pattern's anchor, what its nodes stood for, and the
    nodes that were added."""
    lines = []
    for match in matches:
        pairs = [f"{p.name}={text_of(g)}" for p, g in match.nodes_map.items()]
        added = [n.name for n in getattr(match, "replacements", [])]
        lines.append(f"{match.anchor.name}: {' '.join(pairs)} -> {' '.join(added)}")
    return "\n".join(lines)


def rewrite(m, model, pattern, replacement, **options):
    gm = model if isinstance(model, torch.fx.GraphModule) else symbolic_trace(model)
    found = replace_pattern_with_filters(gm, pattern, replacement, **options)
    m.text("matches", matched(found))
    m.graph(gm)
    m.code(gm)
    return gm


def neg_plus_relu(x):
    return torch.neg(x) + torch.relu(x)


def double_neg_plus_relu(x):
    val = torch.neg(x) + torch.relu(x)
    return torch.add(val, val)


@case
def preserves_logic(m):
    gm = rewrite(m, double_neg_plus_relu, neg_plus_relu, neg_plus_relu)
    m.outputs(gm, fill([1, 3], 1))


@case
def single_match(m):
    gm = rewrite(m, double_neg_plus_relu, neg_plus_relu, torch_relu)
    m.outputs(gm, fill([1, 3], 1))


def torch_relu(x):
    return torch.relu(x)


@case
def multiple_matches(m):
    def f(x, w1, w2):
        m1 = torch.cat([w1, w2]).sum()
        m2 = torch.cat([w1, w2]).sum()
        return x + torch.max(m1) + torch.max(m2)

    gm = rewrite(
        m, f, lambda w1, w2: torch.cat([w1, w2]).sum(),
        lambda w1, w2: torch.stack([w1, w2]))
    m.outputs(gm, fill([1, 3], 1), fill([1, 3], 2), fill([1, 3], 3))


@case
def returned_matches(m):
    gm = symbolic_trace(double_neg_plus_relu)
    m.text("matches", matched(replace_pattern(gm, neg_plus_relu, torch_relu)))


@case
def whole_graph(m):
    def f(x):
        a = torch.neg(x)
        return torch.add(a, a)

    def replacement(x):
        a = torch.sigmoid(x)
        return torch.cat([a, a])

    rewrite(m, f, f, replacement)


@case
def output_used_elsewhere(m):
    def f(x):
        y = torch.relu(x)
        return torch.neg(y) - y

    rewrite(m, f, torch_relu, lambda x: torch.sigmoid(x))


@case
def inner_node_used_elsewhere(m):
    def f(x, w):
        a = torch.neg(x)
        b = torch.relu(a)
        return b, a + w

    rewrite(m, f, lambda x: torch.relu(torch.neg(x)), torch_relu)


@case
def consecutive(m):
    def f(x):
        return torch.sigmoid(torch.sigmoid(torch.sigmoid(x)))

    gm = rewrite(m, f, lambda x: torch.sigmoid(x), lambda x: torch.exp(x))
    m.outputs(gm, fill([3, 4], 1))


@case
def overlapping(m):
    def f(x):
        for _ in range(5):
            x = torch.sigmoid(x)
        return x

    rewrite(m, f, lambda x: torch.sigmoid(torch.sigmoid(x)), torch_relu)


@case
def identity_back_to_back(m):
    def f(x):
        x = x + 2
        for _ in range(3):
            x = x.unsqueeze(0).squeeze(0)
        return x.relu()

    gm = rewrite(m, f, lambda x: x.unsqueeze(0).squeeze(0), lambda x: x)
    m.outputs(gm, fill([3, 4], 1))


@case
def multiple_outputs(m):
    def f(x):
        return torch.sigmoid(x) + torch.relu(x)

    rewrite(m, f, lambda a: (torch.sigmoid(a), torch.relu(a)),
            lambda x: (torch.exp(x), torch.abs(x)))


@case
def duplicated_outputs(m):
    def f(x1, x2):
        x = x1 - x2
        return torch.sigmoid(x) + torch.relu(x)

    def pattern(a1, a2):
        a = a1 - a2
        return torch.sigmoid(a), torch.relu(a), a

    def replacement(x1, x2):
        y1 = torch.exp(x1)
        y2 = torch.abs(x2)
        return y2, y2, y1

    rewrite(m, f, pattern, replacement)


@case
def unused_arguments(m):
    rewrite(m, lambda x, y, z: x + y, lambda x, y: x + y, lambda x, y: x - y)


@case
def same_input_twice(m):
    def f(x, y):
        return (x + x) * (x + y)

    rewrite(m, f, lambda a, b: a + b, lambda a, b: a - b)


@case
def methods_and_keywords(m):
    def f(x):
        return x.clamp(min=0.0, max=1.0) + x.clamp(max=1.0, min=0.0)

    rewrite(m, f, lambda x: x.clamp(min=0.0, max=1.0), torch_relu)


@case
def literals(m):
    def f(x):
        return torch.add(torch.add(x, 2), 3)

    rewrite(m, f, lambda x: torch.add(x, 3), lambda x: torch.mul(x, 7))
    rewrite(m, f, lambda x: torch.add(x, 9), lambda x: torch.mul(x, 7),
            ignore_literals=True)


@case
def wildcards_for_literals(m):
    def f(x, y):
        return torch.add(torch.add(torch.add(x, 2), y), 4.5)

    def is_number(match, original, pattern):
        return isinstance(match.placeholder_nodes[1], (int, float))

    pattern = lambda x, n: torch.add(x, n)  # noqa: E731
    replacement = lambda x, n: torch.mul(x, n)  # noqa: E731
    rewrite(m, f, pattern, replacement)
    rewrite(m, f, pattern, replacement, match_filters=[is_number])


@case
def wildcards_for_lists(m):
    def f(x, y, z):
        return torch.cat([torch.cat([x, y], 1), z], 0)

    rewrite(m, f, lambda tensors: torch.cat(tensors, 1),
            lambda tensors: torch.stack(tensors, 1))


@case
def callback(m):
    def f(x):
        return torch.add(torch.add(x, 2), 3)

    def make(match, original, pattern):
        graph = Graph()
        x, n = graph.placeholder("x"), graph.placeholder("n")
        if match.placeholder_nodes[1] == 3:
            graph.output(graph.call_function(torch.mul, (x, n)))
        else:
            graph.output(graph.call_function(torch.sub, (x, n)))
        return graph

    rewrite(m, f, lambda x, n: torch.add(x, n), None, replacement_callback=make)


@case
def node_names(m):
    def f(x):
        return torch.sigmoid(torch.relu(torch.neg(x)))

    rewrite(m, f, lambda x: torch.abs(x), lambda x: torch.exp(x),
            node_name_match="relu")


@case
def aten_defaults(m):
    add = torch.ops.aten.add.Tensor

    def f(x, y):
        return add(add(x, y, alpha=1), y)

    rewrite(m, f, lambda x, y: add(x, y), lambda x, y: torch.mul(x, y))


@case
def refusals(m):
    gm = symbolic_trace(double_neg_plus_relu)
    one = torch_relu
    two = lambda x, y: x + y  # noqa: E731
    m.error(lambda: replace_pattern(gm, one, two))
    m.error(lambda: replace_pattern(gm, one, lambda x: (x, x)))
    m.error(lambda: replace_pattern(gm, Graph(), one))
    m.error(lambda: replace_pattern_with_filters(gm, one))

    dead = Graph()
    x = dead.placeholder("x")
    dead.call_function(torch.relu, (x,))
    dead.output(dead.call_function(torch.neg, (x,)))
    m.error(lambda: replace_pattern(gm, dead, one))
