"""Facts that programs ask of proxies, errors, matches and comparisons."""

import torch
from torch.fx import PH, Tracer, symbolic_trace
from torch.fx._symbolic_trace import PHBase, is_fx_symbolic_tracing
from torch.fx.passes.net_min_base import _MinimizerBase, _MinimizerSettingBase
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.passes.utils.source_matcher_utils import get_source_partitions
from torch.fx.proxy import Attribute, ParameterProxy, TraceError

from mirror import case, fill, filled


@case
def attributes_as_objects(m):
    seen = []

    def f(x):
        shape = x.shape
        seen.append([isinstance(shape, Attribute), shape.attr])
        inner = shape.more
        seen.append([isinstance(inner, Attribute), inner.attr])
        first = shape[0]
        seen.append([isinstance(first, Attribute), first.node.name])
        return x

    gm = symbolic_trace(f)
    m.value("seen", seen)
    m.graph(gm)


class Weighted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(2, 3))
        self.seen = []

    def forward(self, x):
        w = self.weight
        self.seen.append([isinstance(w, ParameterProxy), w.name, str(w)])
        self.seen.append([w.dim(), w.ndim, w.numel(), w.nelement(), w.size()[1]])
        return x * w if w.dim() == 2 else x


@case
def parameters_as_objects(m):
    root = filled(Weighted())
    graph = Tracer(param_shapes_constant=True).trace(root)
    m.value("seen", root.seen)
    m.graph(graph)


@case
def errors_of_traces_caught(m):
    def branches(x):
        try:
            if x.sum() > 0:
                return x
        except TraceError as error:
            m.text("caught", str(error))
        return -x

    gm = symbolic_trace(branches)
    m.graph(gm)
    m.outputs(gm, fill([3]))


@case
def tracing_or_exporting(m):
    seen = [is_fx_symbolic_tracing()]

    def f(x):
        seen.append(is_fx_symbolic_tracing())
        return x

    symbolic_trace(f)
    seen.append(is_fx_symbolic_tracing())
    m.value("seen", seen)


@case
def symbols_told_from_values(m):
    m.value("symbols", [isinstance(v, PHBase) for v in (PH, 1, None, "PH")])


@case
def gradients_wanted(m):
    class Affine(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.rand(3))
            self.register_buffer("shift", torch.rand(3))

        def forward(self, x):
            y = x * self.weight
            return y + self.shift

    gm = symbolic_trace(filled(Affine()))
    ShapeProp(gm).propagate(fill([2, 3]))
    m.value("grad", [[n.name, n.meta["tensor_meta"].requires_grad]
                     for n in gm.graph.nodes if n.op in ("placeholder", "get_attr")])


@case
def sources_by_name(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = torch.nn.ReLU()

        def forward(self, x):
            return self.act(x) + 1

    class Through(Tracer):
        def is_leaf_module(self, module, name):
            return False

    graph = Through().trace(M())
    for source, parts in get_source_partitions(graph, [torch.nn.ReLU]).items():
        m.value("sources", [p.source.__name__ for p in parts])
        m.value("nodes", [[n.name for n in p.nodes] for p in parts])


@case
def literals_of_matchers(m):
    def pattern(x):
        return torch.clamp(x, 0, 1)

    gm = symbolic_trace(lambda x: torch.clamp(x, 0, 1) + torch.clamp(x, 2, 3))
    for ignore in (False, True):
        matcher = SubgraphMatcher(symbolic_trace(pattern).graph, ignore_literals=ignore)
        m.value("ignores", matcher.ignore_literals)
        m.value("inputs", [n.name for n in matcher.pattern_placeholder_nodes])
        m.value("found", [[n.name for n in match.returning_nodes]
                          for match in matcher.match(gm.graph)])


class Doubling(_MinimizerBase):
    def run_a(self, mod, inputs, report_idx=-1):
        return mod(*inputs)

    def run_b(self, mod, inputs, report_idx=-1):
        return mod(*inputs) * 2


@case
def results_of_comparisons(m):
    gm = symbolic_trace(lambda x: torch.relu(torch.neg(x)))
    minimizer = Doubling(
        gm, (torch.ones(2) * -3,),
        lambda a, b, names: (float((a - b).abs().max()), torch.equal(a, b)),
        _MinimizerSettingBase(find_all=True))
    culprits = minimizer.minimize()
    m.value("culprits", sorted(n.name for n in culprits))
    m.value("results", sorted([list(k) if isinstance(k, tuple) else [k], float(v)]
                              for k, v in minimizer.results.items()))
