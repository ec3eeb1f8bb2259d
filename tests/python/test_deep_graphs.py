"""Graphs of so many nodes in a row that a pass which calls itself for each would run out of stack."""

import functools

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from places import same  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def doubled(x, count):
    for _ in range(count):
        x = x + x
        x = x * .5
    return x


def shared_softmax(x, count):
    for _ in range(count):
        x = torch.softmax(x + x, 1) + x
    return x


# What each level of a pass that calls itself would meet: chains, diamonds, views of views, writes.
DEEP = {
    "chain": lambda x: functools.reduce(lambda y, i: y + i % 3, range(2000), x),
    "diamonds": lambda x: doubled(x, 1000),
    "diamonds in rows": lambda x: shared_softmax(x, 100),
    "views": lambda x: functools.reduce(lambda y, _: y.t(), range(2000), x) + 1,
    "views between": lambda x: functools.reduce(lambda y, _: y.t() + 1, range(1000), x),
    "writes": lambda x: functools.reduce(lambda y, i: y.add_(i % 2), range(500), x + 1),
    "bytes": lambda x: functools.reduce(lambda y, i: y ^ i % 5, range(700), (x > 0).to(torch.uint8)),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_graphs(name):
    x = torch.randn(4, 4)
    model = fxjit.from_fx(torch.fx.symbolic_trace(DEEP[name]))
    same(model(x), DEEP[name](x))
    assert model.report().native
