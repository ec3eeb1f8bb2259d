"""subgraph_rewriter: corners where matches, edits and results meet."""

import torch
from torch.fx import Graph, GraphModule, replace_pattern, symbolic_trace
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.subgraph_rewriter import replace_pattern_with_filters

from cases_rewriter import matched, rewrite, text_of, torch_relu
from mirror import case, fill, filled


@case
def diamond(m):
    def f(x):
        a = torch.neg(x)
        b, c = torch.relu(a), torch.sigmoid(a)
        return torch.add(b, c) + a.sum()

    def pattern(x):
        return torch.add(torch.relu(x), torch.sigmoid(x))

    gm = rewrite(m, f, pattern, lambda x: torch.mul(x, 2))
    m.outputs(gm, fill([3, 4], 1))
    # With the node on top, which is used elsewhere.
    rewrite(m, f, lambda x: pattern(torch.neg(x)), torch_relu)


@case
def diamond_of_two_inputs(m):
    def f(x, y):
        same = torch.add(torch.relu(x), torch.sigmoid(x))
        other = torch.add(torch.relu(x), torch.sigmoid(y))
        return same * other

    rewrite(m, f, lambda x: torch.add(torch.relu(x), torch.sigmoid(x)),
            torch_relu)
    # Two placeholders never stand for one node.
    rewrite(m, f, lambda x, y: torch.add(torch.relu(x), torch.sigmoid(y)),
            lambda x, y: x - y)


@case
def not_commutative(m):
    def f(x, y):
        return torch.add(x, torch.neg(y)) + torch.add(torch.neg(x), y)

    rewrite(m, f, lambda x, y: torch.add(x, torch.neg(y)),
            lambda x, y: torch.sub(x, y))


@case
def spellings(m):
    def f(x):
        a = torch.clamp(x, 0.0, 1.0)
        b = torch.clamp(x, min=0.0, max=1.0)
        c = torch.clamp(x, 0, 1)
        d = x.clamp(0.0, 1.0)
        return a + b + c + d

    rewrite(m, f, lambda x: torch.clamp(x, 0.0, 1.0), torch_relu)
    rewrite(m, f, lambda x: torch.clamp(x, min=0.0, max=1.0), torch_relu)
    rewrite(m, f, lambda x: x.clamp(0.0, 1.0), torch_relu)


@case
def literals_of_every_type(m):
    def f(x):
        a = torch.sum(x, 1, True)
        b = torch.add(x, 1) + torch.add(x, 1.0) + torch.add(x, True)
        c = torch.sum(x, [1], True)
        d = torch.sum(x, (1,), True)
        return a, b, c, d, torch.add(x, float("inf")), x[:, 1:]

    rewrite(m, f, lambda x: torch.sum(x, 1, True), torch_relu)
    rewrite(m, f, lambda x: torch.sum(x, [1], True), torch_relu)
    for number in (1, 1.0, True, float("inf")):
        rewrite(m, f, lambda x: torch.add(x, number), torch_relu)
    rewrite(m, f, lambda x: x[:, 1:], torch_relu)
    rewrite(m, f, lambda x: x[:, 2:], torch_relu)


@case
def returned_input(m):
    def f(x, y):
        a = torch.neg(x)
        return torch.relu(a) + torch.relu(y)

    gm = rewrite(m, f, torch_relu, lambda x: x)
    m.outputs(gm, fill([3, 4], 1), fill([3, 4], 2))


@case
def whole_result_of_the_graph(m):
    def f(x):
        a = torch.relu(x)
        return torch.neg(a), a

    rewrite(m, f, torch_relu, lambda x: torch.sigmoid(x))
    rewrite(m, f, lambda x: torch.neg(x), lambda x: x * -1)


@case
def several_results_in_place(m):
    def f(x, y):
        a = torch.neg(x)
        b = torch.relu(y)
        c = torch.add(a, 1)
        d = torch.add(b, 2)
        return torch.mul(c, d), b

    def pattern(x, y):
        return torch.add(x, 1), torch.add(y, 2)

    gm = rewrite(m, f, pattern, lambda x, y: (x * 3, y * 4))
    m.outputs(gm, fill([3, 4], 1), fill([3, 4], 2))


@case
def results_swapped(m):
    def f(x):
        return torch.sigmoid(x) - torch.relu(x)

    gm = rewrite(m, f, lambda x: (torch.relu(x), torch.sigmoid(x)),
                 lambda x: (torch.exp(x), torch.abs(x)))
    m.outputs(gm, fill([3, 4], 1))


@case
def unused_results(m):
    def f(x):
        torch.relu(x)
        return torch.neg(x)

    rewrite(m, f, torch_relu, lambda x: torch.sigmoid(torch.abs(x)))


@case
def more_and_fewer_results(m):
    def f(x):
        return torch.relu(x) + torch.sigmoid(x)

    gm = symbolic_trace(f)
    both = lambda x: (torch.relu(x), torch.sigmoid(x))  # noqa: E731
    m.error(lambda: replace_pattern(gm, both, torch_relu))
    m.error(lambda: replace_pattern(gm, torch_relu, both))
    m.error(lambda: replace_pattern(gm, torch_relu, lambda x: None))


@case
def no_inputs(m):
    def single(function, *args):
        """A graph of one call, which would run at once while tracing."""
        graph = Graph()
        graph.output(graph.call_function(function, args))
        return graph

    graph = Graph()
    x = graph.placeholder("x")
    for function, count in ((torch.zeros, 3), (torch.zeros, 4),
                            (torch.ones, 3)):
        made = graph.call_function(function, (count,))
        x = graph.call_function(torch.mul, (x, made))
    graph.output(x)
    gm = GraphModule(torch.nn.Module(), graph)
    rewrite(m, gm, single(torch.zeros, 3), single(torch.ones, 5))


@case
def in_place_calls(m):
    def f(x):
        y = torch.neg(x)
        y.add_(1)
        return torch.relu(y)

    rewrite(m, f, lambda x: torch.relu(x), lambda x: torch.abs(x))
    rewrite(m, f, lambda x: x.add_(1), lambda x: x.mul_(2))
    rewrite(m, f, lambda x: torch.neg(x), lambda x: x * -1)


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.second = torch.nn.Linear(4, 4)
        self.act = torch.nn.ReLU()
        self.w = torch.nn.Parameter(torch.zeros(4))
        self.v = torch.nn.Parameter(torch.ones(4))
        self.register_buffer("b", torch.ones(4))

    def forward(self, x):
        y = self.act(self.first(x)) * self.w + self.b
        return self.act(self.second(y)) * self.v


@case
def modules_match_by_name(m):
    class Pattern(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(4, 4)
            self.act = torch.nn.ReLU()

        def forward(self, x):
            return self.act(self.first(x))

    class Replacement(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.second = torch.nn.Linear(4, 4)

        def forward(self, x):
            return torch.tanh(self.second(x))

    gm = rewrite(m, symbolic_trace(filled(Layers())),
                 symbolic_trace(Pattern()), symbolic_trace(Replacement()))
    m.text("children", " ".join(n for n, _ in gm.named_modules() if n))
    m.outputs(gm, fill([3, 4], 1))


@case
def attributes_match_by_kind(m):
    class Pattern(torch.nn.Module):
        def __init__(self, buffer):
            super().__init__()
            if buffer:
                self.register_buffer("p", torch.ones(2))
            else:
                self.p = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            return x * self.p

    class Adding(Pattern):
        def forward(self, x):
            return x + self.p

    for buffer in (False, True):
        rewrite(m, symbolic_trace(filled(Layers())),
                symbolic_trace(Pattern(buffer)), torch_relu)
        rewrite(m, symbolic_trace(filled(Layers())),
                symbolic_trace(Adding(buffer)), torch_relu)


@case
def overlapping_diamonds(m):
    def f(x):
        a = torch.neg(x)
        b = torch.neg(a)
        c = torch.neg(b)
        return torch.add(b, c)

    rewrite(m, f, lambda x: torch.neg(torch.neg(x)), torch_relu)
    rewrite(m, f, lambda x, y: torch.add(torch.neg(x), y),
            lambda x, y: torch.sub(y, x))


@case
def matches_in_a_row_with_changed_inputs(m):
    def f(x, y):
        a = torch.add(x, y)
        b = torch.add(a, y)
        return torch.add(b, a)

    gm = rewrite(m, f, lambda x, y: torch.add(x, y),
                 lambda x, y: torch.sub(torch.mul(x, 2), y))
    m.outputs(gm, fill([3, 4], 1), fill([3, 4], 2))


def found(m, gm, matcher):
    lines = []
    for match in matcher.match(gm.graph):
        pairs = [f"{p.name}={text_of(g)}" for p, g in match.nodes_map.items()]
        lines.append(" ".join(pairs) + " | "
                     + " ".join(text_of(n) for n in match.placeholder_nodes)
                     + " | " + " ".join(n.name for n in match.returning_nodes))
    m.text("found", "\n".join(lines))


@case
def matchers_by_option(m):
    def f(x):
        y = torch.neg(torch.neg(torch.neg(x)))
        return torch.relu(torch.neg(y))

    gm = symbolic_trace(f)
    pattern = symbolic_trace(lambda x: torch.neg(torch.neg(x))).graph
    for options in ({}, {"remove_overlapping_matches": False},
                    {"match_output": True}, {"match_placeholder": True}):
        found(m, gm, SubgraphMatcher(pattern, **options))
    end = symbolic_trace(lambda x: torch.relu(torch.neg(x))).graph
    found(m, gm, SubgraphMatcher(end, match_output=True))


@case
def filters_see_earlier_state(m):
    def f(x):
        return torch.relu(torch.relu(torch.neg(x)))

    seen = []

    def keep(match, original, pattern):
        seen.append(" ".join(text_of(n) for n in match.placeholder_nodes))
        return len(seen) == 2

    rewrite(m, f, torch_relu, lambda x: torch.abs(x), match_filters=[keep])
    m.text("seen", "\n".join(seen))
