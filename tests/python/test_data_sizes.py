"""Sizes that come from data, by torch.compile and from .pt2: native, with PyTorch's numbers, for
all numbers of elements in all orders."""

import itertools

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from fxjit import torch_backend  # noqa: E402

COUNTS = (0, 1, 2, 17)
ROWS = 20


class Picked(torch.nn.Module):
    """Attention among the rows that are picked."""

    def forward(self, x):
        at = torch.nonzero(x[:, 0] > 0).squeeze(1)
        rows = x[at]
        return torch.softmax(rows @ rows.t(), -1) @ rows, rows.sum(0)


class Masked(torch.nn.Module):
    def forward(self, x):
        numbers = x[x[:, 0] > 0].exp()
        return numbers * 2, torch.masked_select(x, x > 0.25).tanh()


class Counted(torch.nn.Module):
    """A number of the data is a bound and a count."""

    def forward(self, x):
        count = (x[:, 0] > 0).sum().item()
        torch._check(count >= 0)
        torch._check(count <= x.shape[0])
        return torch.arange(count) * 2, x[:count].sum(0)


class Repeated(torch.nn.Module):
    def forward(self, x):
        return torch.repeat_interleave(x, (x[:, 0] > 0).long() * 2, 0) + 1


MODELS = {"nonzero": Picked, "mask": Masked, "item": Counted, "repeats": Repeated}


def rows(count):
    x = torch.randn(ROWS, 4, generator=torch.Generator().manual_seed(count))
    x[:, 0] = torch.where(torch.arange(ROWS) * 7 % ROWS < count, 1.0, -1.0)
    return (x,)


def check(call, model, count):
    expected, got = (torch.utils._pytree.tree_leaves(f(*rows(count))) for f in (model, call))
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_exported(name, tmp_path):
    model = MODELS[name]()
    file = str(tmp_path / "model.pt2")
    torch.export.save(torch.export.export(model, rows(5)), file)
    for order in itertools.permutations(COUNTS):
        loaded = fxjit.load(file)
        for count in order:
            check(loaded, model, count)
        assert loaded.report().native, loaded.report()


@pytest.mark.parametrize("name", MODELS)
def test_torch_compile(name):
    model = MODELS[name]()
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True,
                                    capture_scalar_outputs=True):
        torch._dynamo.reset()
        before = set(torch_backend.compiled_graphs())
        fast = torch.compile(model, backend="fxjit", fullgraph=True)
        for count in (5, *COUNTS, *reversed(COUNTS)):
            check(fast, model, count)
    graphs = [graph for graph in torch_backend.compiled_graphs() if graph not in before]
    assert graphs
    for graph in graphs:
        assert graph.model.report().native and not graph.in_python, graph.model.report()
