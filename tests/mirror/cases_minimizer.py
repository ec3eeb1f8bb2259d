"""net_min_base: which nodes are blamed, and what the reports say."""

import contextlib
import io

import torch
from torch.fx import symbolic_trace
from torch.fx.passes.net_min_base import _MinimizerBase, _MinimizerSettingBase

from mirror import case, fill, filled


class Minimizer(_MinimizerBase):
    """Way b computes torch.sigmoid wrongly and cannot run torch.exp."""

    def run_a(self, mod, inputs, report_idx=-1):
        return mod(*inputs)

    def run_b(self, mod, inputs, report_idx=-1):
        for node in mod.graph.nodes:
            if node.target is torch.exp:
                raise RuntimeError("no exp")
        result = mod(*inputs)
        wrong = sum(node.target is torch.sigmoid for node in mod.graph.nodes)
        if isinstance(result, tuple):
            return tuple(r + wrong for r in result)
        return result + wrong if wrong else result


def compare(a, b, names):
    if not isinstance(a, tuple):
        a, b = (a,), (b,)
    worst = max(float(abs(torch.as_tensor(x - y)).max()) for x, y in zip(a, b))
    return worst, worst < 0.5


def minimizer(model, *inputs, exporter=None, exclusion=None, **settings):
    return Minimizer(symbolic_trace(model), list(inputs), compare,
                     _MinimizerSettingBase(**settings), exporter, exclusion)


def silently(function):
    with contextlib.redirect_stdout(io.StringIO()):
        return function()


def found(m, minimizer, **options):
    nodes = silently(lambda: minimizer.minimize(**options))
    order = [n for n in minimizer.module.graph.nodes if n in nodes]
    m.text("culprits", " ".join(n.name for n in order))
    m.text("reports", "\n".join("\n".join(r) for r in minimizer.reports))


def chain(x):
    a = torch.neg(x)
    b = torch.relu(a)
    c = torch.sigmoid(b)
    d = torch.neg(c)
    e = torch.relu(d)
    return torch.neg(e) + 1


def failing(x, y):
    a = torch.neg(x) + y
    b = torch.exp(a)
    c = torch.sigmoid(b) * a
    return torch.neg(c), a


def same(x):
    return torch.neg(torch.relu(x))


METHODS = ["sequential", "binary", "accumulate", "block"]


@case
def each_method(m):
    for method in METHODS:
        found(m, minimizer(chain, fill([3, 4], 1), traverse_method=method))


@case
def each_method_with_errors(m):
    inputs = fill([3, 4], 1), fill([3, 4], 2)
    for method in METHODS:
        found(m, minimizer(failing, *inputs, traverse_method=method))


@case
def nothing_wrong(m):
    for method in METHODS:
        found(m, minimizer(same, fill([3, 4], 1), traverse_method=method))


@case
def all_of_them(m):
    inputs = fill([3, 4], 1), fill([3, 4], 2)
    found(m, minimizer(failing, *inputs, traverse_method="sequential",
                       find_all=True))


@case
def own_errors(m):
    found(m, minimizer(chain, fill([3, 4], 1), traverse_method="sequential",
                       accumulate_error=True, find_all=True))


@case
def ranges(m):
    found(m, minimizer(chain, fill([3, 4], 1)), start="relu", end="neg_1")
    found(m, minimizer(chain, fill([3, 4], 1)), start="relu_1")


@case
def block_ends(m):
    for last in (True, False):
        found(m, minimizer(chain, fill([3, 4], 1), traverse_method="block"),
              find_last_node=last)


@case
def skipped(m):
    found(m, minimizer(chain, fill([3, 4], 1), traverse_method="skip"),
          end="sigmoid", skip_nodes=["relu"])
    found(m, minimizer(chain, fill([3, 4], 1), traverse_method="skip"),
          skip_nodes=["sigmoid"])
    m.error(lambda: silently(
        minimizer(chain, fill([3, 4], 1), traverse_method="skip").minimize))


def attributes():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.zeros(4))
            self.lin = torch.nn.Linear(4, 4)

        def forward(self, x):
            y = self.lin(x) * self.w
            return torch.sigmoid(y) + self.w, y

    return filled(M())


@case
def parts_with_attributes(m):
    seen = []

    def export(inputs, module, name):
        seen.append((name, len(inputs), str(module.graph)))

    found(m, minimizer(attributes(), fill([3, 4], 1), exporter=export,
                       traverse_method="binary"))
    m.text("exported", "\n".join(f"{n} {c}\n{g}" for n, c, g in seen))


@case
def numbers_stay_inside(m):
    def f(x, y):
        n = torch.relu(x).size(0)
        return torch.sigmoid(y.reshape(n, -1)) + 1

    found(m, minimizer(f, fill([3, 4], 1), fill([2, 6], 2), find_all=True))


@case
def several_outputs(m):
    inputs = fill([3, 4], 1), fill([3, 4], 2)

    def f(x, y):
        a = torch.neg(x) + y
        b = torch.relu(a)
        return torch.sigmoid(b) * a, b

    found(m, minimizer(f, *inputs, traverse_method="accumulate",
                       all_outputs=True))
    for intermediate in (False, True):
        tool = minimizer(f, *inputs, return_intermediate=intermediate)
        silently(lambda: tool.run_nodes("add", "sigmoid"))
        m.text("reports", "\n".join("\n".join(r) for r in tool.reports))


@case
def excluded(m):
    def exclude(nodes, start, end):
        for node in list(nodes):
            if node.target is torch.sigmoid:
                nodes.remove(node)

    found(m, minimizer(chain, fill([3, 4], 1), exclusion=exclude,
                       find_all=True))


@case
def settings_and_refusals(m):
    m.text("settings", str(_MinimizerSettingBase(
        traverse_method="block", find_all=True)))
    tool = minimizer(chain, fill([3, 4], 1))
    m.error(lambda: _MinimizerBase.run_a(tool, None, []))
    m.error(lambda: minimizer(chain, fill([3, 4], 1), 2))
