"""torch.compile(model, backend="fxjit", options={"discard": True})."""

import pathlib
import subprocess
import sys
import tempfile
import textwrap

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from torch import nn  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def discarding(module):
    return torch.compile(module, backend="fxjit", options={"discard": True})


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 16)
        self.inner = nn.Linear(16, 16)
        self.part = nn.Parameter(torch.randn(4, 16)[1])
        self.narrow = nn.Parameter(torch.randn(16, 16).bfloat16().t())

    def forward(self, ids):
        x = torch.relu(self.inner(self.words(ids)) * self.part)
        return (x.bfloat16() @ self.narrow).float() @ self.words.weight.T


def test_results_and_values_stay():
    model, ids = Tied().eval(), torch.tensor([[1, 2, 9]])
    expected = model(ids)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    strides = [p.stride() for p in model.parameters()]
    fast = discarding(model)
    for _ in range(2):
        torch.testing.assert_close(fast(ids), expected, atol=0.05, rtol=0.05)
    for name, value in model.state_dict().items():
        assert torch.equal(value, state[name])
    assert [p.stride() for p in model.parameters()] == strides
    # Other sizes are another graph, of the same weights.
    longer = torch.tensor([[3, 4, 5, 6]])
    torch.testing.assert_close(fast(longer), model(longer), atol=0.05, rtol=0.05)


@pytest.mark.parametrize("change", [
    lambda m: m.weight.fill_(0.5),
    lambda m: m.load_state_dict({"weight": torch.ones(4, 4), "bias": torch.zeros(4)}),
    lambda m: setattr(m, "weight", nn.Parameter(torch.ones(4, 4))),
    lambda m: setattr(m.weight, "data", torch.ones(4, 4)),
])
def test_changed_weights_are_seen(change):
    layer, x = nn.Linear(4, 4), torch.randn(3, 4)
    fast = discarding(layer)
    fast(x)
    change(layer)
    torch.testing.assert_close(fast(x), layer(x))


# What other code freed before is returned first, so that it is not counted as given back here.
MEASURED = """
    import ctypes, gc, torch
    def anon_mib():
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/status") as status:
            return next(int(l.split()[1]) for l in status if l.startswith("RssAnon:")) / 1024
    def layers(width):
        return torch.nn.Sequential(*(torch.nn.Linear(width, width, bias=False) for _ in range(4)))
    def first_call(model, width):
        fast = torch.compile(model, backend="fxjit", options={"discard": DISCARD})
        with torch.no_grad():
            fast(torch.randn(2, width))
        return fast
    first_call(layers(8), 8)  # What PyTorch needs for any model.
    torch._dynamo.reset()
    model = layers(2048)  # 64 MiB.
    before = anon_mib()
    fast = first_call(model, 2048)
    print(anon_mib() - before)
"""


def grown_mib(discard):
    program = textwrap.dedent(MEASURED).replace("DISCARD", str(discard))
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return float(result.stdout.split()[-1])


def test_memory_is_given_back():
    assert grown_mib(True) < grown_mib(False) - 0.9 * 64


@pytest.mark.parametrize("kind", ["f32", "bf16", "f16", "int8"])
def test_weights_are_packed_once_for_many_rows_and_one(kind):
    script = pathlib.Path(__file__).parents[2] / "bench/python/weights_memory.py"
    result = subprocess.run([sys.executable, script, kind, "64"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_changes_are_seen_by_all_graphs():
    layer = nn.Linear(64, 64)
    fast = discarding(layer)
    inputs = [torch.randn(rows, 64) for rows in (3, 1)]
    for value in (0.5, 2.0):
        for x in inputs:
            torch.testing.assert_close(fast(x), layer(x))
        layer.weight.mul_(value)
    for x in inputs:
        torch.testing.assert_close(fast(x), layer(x))


def test_what_was_written_to_pages_stays():
    layer = nn.Linear(256, 256)
    fast = discarding(layer)
    for rows, value in ((3, 7.0), (1, 8.0), (5, 9.0)):
        fast(torch.randn(rows, 256))
        # PyTorch does not count this, and the bytes in the middle stay.
        layer.weight.data[0].fill_(value)
        fxjit.refresh(layer)
        x = torch.randn(rows, 256)
        torch.testing.assert_close(fast(x), layer(x))
        assert torch.all(layer.weight[0] == value)


def test_memory_that_cannot_be_given_back_stays(monkeypatch, caplog):
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    layer, x = nn.Linear(4, 4), torch.randn(3, 4)
    torch.testing.assert_close(discarding(layer)(x), layer(x))
    assert "the weights keep their memory" in caplog.text


def test_wrong_values_are_refused():
    with pytest.raises(Exception, match="discard: expected True or False, got 1"):
        torch.compile(nn.Linear(2, 2), backend="fxjit", options={"discard": 1})(torch.ones(1, 2))
