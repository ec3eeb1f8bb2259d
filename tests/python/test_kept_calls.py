"""Calls of torch.compile's graphs whose arguments fxjit's values do not hold: complex numbers,
operators, lists of written tensors. They are compiled where they can be, or stay with PyTorch."""

import logging

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from fxjit import torch_backend  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def check(function, *args):
    ours = [torch.utils._pytree.tree_map(lambda t: t.clone(), arg) for arg in args]
    theirs = [torch.utils._pytree.tree_map(lambda t: t.clone(), arg) for arg in args]
    before = set(torch_backend.compiled_graphs())
    got = torch.compile(function, backend="fxjit")(*ours)
    expected = function(*theirs)
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(ours, theirs)
    return [name for graph in torch_backend.compiled_graphs() if graph not in before
            for name in graph.in_python]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.complex64,
                                   torch.complex128])
@pytest.mark.parametrize("shape", [(3,), ()])
def test_complex_numbers(dtype, shape):
    x = torch.randn(shape).mul(5).to(dtype)
    for function in (lambda x: x * 2j, lambda x: 2j * x + 1, lambda x: x + (1 + 2j),
                     lambda x: x - 0.1j, lambda x: (1j - x) * (x + 3), lambda x: x / (1 + 1j),
                     lambda x: torch.full((2,), 1 + 2j) * x.sum(),
                     lambda x: torch.add(x, x, alpha=2)):
        check(function, x)
    assert check(lambda x: x * 2j + 1, torch.randn(3)) == []


@torch.library.custom_op("fxjit_tests::bump", mutates_args=("x",))
def bump(x: torch.Tensor, by: float) -> None:
    x.add_(by)


@torch.library.custom_op("fxjit_tests::bump_all", mutates_args=("xs",))
def bump_all(xs: list[torch.Tensor], ys: list[torch.Tensor]) -> torch.Tensor:
    for x, y in zip(xs, ys, strict=True):
        x.add_(y)
    return ys[0] * 2


@bump_all.register_fake
def _(xs, ys):
    return torch.empty_like(ys[0])


@torch.library.custom_op("fxjit_tests::bump_some", mutates_args=("x", "y"))
def bump_some(x: torch.Tensor | None, y: torch.Tensor | None, scale: float | None = None) -> None:
    for tensor in (x, y):
        if tensor is not None:
            tensor.mul_(scale or 3.)


def of_input(x):
    bump(x, 2.)
    return x * 2


def of_result(x):
    y = x * 3
    bump(y, 2.)
    return y + 1, x


def of_views(x):
    y = x * 3
    bump(y[1:], 2.)
    bump(y[:2], 4.)
    return y, y[1:].sin()


def of_lists(x):
    y, z = x * 3, x + 1
    w = bump_all([y, z], [x, x])
    return y, z * 2, w + y


def of_optionals(x):
    y, z = x * 3, x + 1
    bump_some(None, y)
    bump_some(z, None, 2.)
    bump_some(y[:1], z[1:])
    return y, z


def of_written(x):
    x.add_(1)
    bump(x[1:], 5.)
    return x.sum()


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("function", [of_input, of_result, of_views, of_lists, of_optionals,
                                      of_written], ids=lambda f: f.__name__)
def test_custom_ops_that_write(function, version):
    with torch._inductor.config.patch(enable_auto_functionalized_v2=version == 2):
        kept = check(function, torch.randn(3, 4))
    assert "a whole graph" not in kept


def test_graphs_that_cannot_be_read_stay_with_pytorch(monkeypatch, caplog):
    def fail(self, graph):
        raise AttributeError("nothing that a reader foresees")
    monkeypatch.setattr("fxjit.graphs.GraphReader.read", fail)
    with caplog.at_level(logging.WARNING, "fxjit"):
        assert check(lambda x: x.sin() + 1, torch.randn(3)) == ["a whole graph"]
    assert "nothing that a reader foresees" in caplog.text


def test_numbers_beyond_64_bits_stay_with_pytorch():
    check(lambda x: (x * 2.**70).clamp(max=float(2**80)) + 1, torch.randn(3))


@torch.no_grad()
def test_indices_of_traced_graphs():
    def function(x):
        return x[1:, ..., None], x[..., -1], x[:, x.size(1) - 2], x[0], x[:, [0, 2]]
    x = torch.randn(3, 4)
    model = fxjit.from_fx(torch.fx.symbolic_trace(function))
    torch.testing.assert_close(model(x), function(x))
    model = fxjit.from_fx(torch.fx.symbolic_trace(lambda x: x * 2j + x))
    torch.testing.assert_close(model(x), x * 2j + x)
