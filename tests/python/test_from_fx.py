"""Graphs of torch.fx in both directions."""

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from torch import nn  # noqa: E402


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.stack = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.scale = nn.Parameter(torch.full((16,), 0.5))

    def forward(self, x, shift=1.0):
        y = self.stack(self.norm(x)).mul(self.scale)
        return x + torch.relu(y) * shift, y.view(y.size(0), -1).t()


def close(got, expected):
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_graphs_are_taken():
    traced = torch.fx.symbolic_trace(Block().eval())
    model = fxjit.from_fx(traced, threads=1)
    for rows in (3, 5):
        x = torch.randn(rows, 16)
        close(model(x), traced(x))
        close(model(x, 2.0), traced(x, 2.0))
        close(model(x=x, shift=2.0), traced(x, 2.0))
    assert model.report().native
    assert "torch.nn.functional.gelu" in model.graph or "gelu" in model.graph


@torch.no_grad()
def test_graphs_are_given_back():
    block = Block().eval()
    x = torch.randn(3, 16)
    for model in (fxjit.from_fx(torch.fx.symbolic_trace(block)), fxjit.compile(block, (x,))):
        graph = fxjit.to_fx(model)
        assert isinstance(graph, torch.fx.GraphModule)
        close(graph(x), block(x))


@torch.no_grad()
def test_changes_of_the_module_do_not_reach_the_model():
    traced = torch.fx.symbolic_trace(Block().eval())
    x = torch.randn(3, 16)
    expected = traced(x)
    model = fxjit.from_fx(traced)
    traced.scale.zero_()
    close(model(x), expected)


def test_what_cannot_be_taken_is_named():
    class Choosing(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Choosing()

        def forward(self, x):
            return self.inner(x)

    class Leafy(torch.fx.Tracer):
        def is_leaf_module(self, module, path):
            return isinstance(module, Choosing)

    holder = Holder()
    graph = torch.fx.GraphModule(holder, Leafy().trace(holder))
    with pytest.raises(NotImplementedError, match="inner"):
        fxjit.from_fx(graph)
