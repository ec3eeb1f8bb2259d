"""torch.compile(model, backend="fxjit")."""

import copy
import logging
import threading

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from fxjit import torch_backend  # noqa: E402
from torch import nn  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def compiled(module, **options):
    return torch.compile(module, backend="fxjit", options=options or None)


def same(got, expected, tolerance=1e-5):
    got, expected = (torch.utils._pytree.tree_leaves(x) for x in (got, expected))
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.stride() == theirs.stride()
        torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=tolerance)


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.norm = nn.LayerNorm(16)
        self.up = nn.Linear(16, 32)
        self.convolution = nn.Conv2d(3, 8, 3)
        self.statistics = nn.BatchNorm2d(8)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, image, *, scale=2.0):
        self.calls.add_(1)
        y, _ = self.attention(x, x, x, need_weights=False)
        y = torch.nn.functional.gelu(self.up(self.norm(x + y))) * scale
        z = torch.relu_(self.statistics(self.convolution(image)))
        return {"y": y, "parts": [y.view(-1), *y.chunk(2, -1)], "z": z.flatten(1)}


def test_a_model_of_many_layers():
    model = Mixed().eval()
    x, image = torch.randn(2, 5, 16), torch.randn(1, 3, 9, 9)
    fast = compiled(model)
    got = fast(x, image)
    assert model.calls == 1
    same(got, model(x, image))
    same(fast(x, image, scale=3.0), model(x, image, scale=3.0))
    for graph in torch_backend.compiled_graphs():
        assert graph.model.report().native and not graph.in_python


def twice(parameter):
    return torch.full_like(parameter, 0.5)


def by_numpy(layer):
    layer.weight.detach().numpy()[...] = 0.5


CHANGES = {
    "a new parameter": lambda m: setattr(m, "weight", nn.Parameter(twice(m.weight))),
    "load_state_dict": lambda m: m.load_state_dict(
        {"weight": twice(m.weight), "bias": m.bias.clone()}),
    "in place": lambda m: m.weight.fill_(0.5),
    "data set": lambda m: setattr(m.weight, "data", twice(m.weight)),
    "data copied to": lambda m: m.weight.data.copy_(twice(m.weight)),
    "data added to": lambda m: m.weight.data.add_(0.25),
    "numpy": by_numpy,
    "another dtype": lambda m: m.double(),
    "pruned": lambda m: nn.utils.prune.l1_unstructured(m, "weight", 0.5),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changed_weights_are_seen(change):
    import torch.nn.utils.prune  # noqa: F401
    layer = nn.Linear(24, 40).eval()
    x = torch.randn(7, 24)
    fast = compiled(layer)
    same(fast(x), layer(x))
    change(layer)
    x = x.to(layer.bias.dtype)
    same(fast(x), layer(x))
    same(fast(x), layer(x))


def test_refresh_sees_what_calls_do_not():
    layer = nn.Linear(24, 40).eval()
    x = torch.randn(7, 24)
    fast = compiled(layer)
    fast(x)
    layer.weight.detach().numpy()[0, 0] = 9.0
    fxjit.refresh(layer)
    same(fast(x), layer(x))


def test_gradients_are_left_to_pytorch(caplog):
    layer = nn.Linear(3, 4)
    fast = compiled(layer)
    x = torch.randn(2, 3)
    with torch.enable_grad(), caplog.at_level(logging.WARNING, "fxjit"):
        fast(x).sum().backward()
    assert layer.weight.grad is not None
    assert "torch.no_grad()" in caplog.text
    same(fast(x), layer(x))


def test_sizes_that_change():
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 3)).eval()
    fast = torch.compile(model, backend="fxjit", dynamic=True)
    for rows in (2, 5, 9, 1):
        x = torch.randn(rows, 8)
        same(fast(x), model(x))


def test_sizes_in_the_arithmetic():
    def scaled(x):
        return x.reshape(x.shape[0] * x.shape[1], -1) / x.shape[0] + x.shape[1]
    fast = torch.compile(scaled, backend="fxjit", dynamic=True)
    for rows in (2, 5, 9):
        x = torch.randn(rows, 3, 4)
        same(fast(x), scaled(x))


def test_sizes_are_summed():
    def joined(a, b, c):
        rows = torch.sym_sum([a.shape[0], b.shape[0], c.shape[0]])
        return torch.ones(rows) * rows, torch.cat([a, b, c]).view(rows, 2, 2)
    fast = torch.compile(joined, backend="fxjit", dynamic=True)
    for rows in ((2, 3, 4), (5, 2, 7)):
        inputs = [torch.randn(n, 4) for n in rows]
        for got, expected in zip(fast(*inputs), joined(*inputs)):
            same(got, expected)


def test_sizes_that_depend_on_data():
    def chosen(x):
        return x[x > 0] * 2
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        fast = compiled(chosen)
        for _ in range(3):
            x = torch.randn(11)
            same(fast(x), chosen(x))


def test_texts_for_pytorch_that_name_functions():
    def solved(a, b):  # Calls _linalg_check_errors with "torch.linalg.solve".
        return torch.linalg.solve(a + 1, b) * 2
    a, b = torch.eye(4) + torch.rand(4, 4), torch.rand(4, 2)
    same(compiled(solved)(a, b), solved(a, b), tolerance=1e-4)


def test_sparse_results_stay_with_pytorch():
    def picked(x):
        return (x * 2).to_sparse() * 3
    x = torch.eye(4)
    assert torch.equal(compiled(picked)(x).to_dense(), picked(x).to_dense())


def test_graph_breaks():
    def broken(x):
        y = torch.sin(x) + 1
        if y.sum() > 0:
            return torch.cos(y)
        return y
    same(compiled(broken)(torch.ones(4)), broken(torch.ones(4)))


VIEWS = {
    "meshgrid": lambda a, b: torch.meshgrid(a[0], b[0], indexing="ij"),
    "broadcast_tensors": lambda a, b: torch.broadcast_tensors(a[:, None], b),
    "type_as": lambda a, b: a.type_as(b),
    "atleast_3d": lambda a, b: torch.atleast_3d(a, b),
    "diff": lambda a, b: torch.diff(a, n=0),
    "einsum": lambda a, b: torch.einsum("ij->ji", a),
    "einsum of two": lambda a, b: torch.einsum("ij,kj->ik", a, b),
    "tensor_split": lambda a, b: torch.tensor_split(a, 2),
}


@pytest.mark.parametrize("name", VIEWS)
def test_writes_are_seen_by_views(name):
    def write(a, b):
        a, b = a * 1, b * 1
        views = VIEWS[name](a, b)
        a.mul_(3)
        return [view + 1 for view in ([views] if isinstance(views, torch.Tensor) else views)], a

    def write_view(a, b):
        a = a * 1
        views = VIEWS[name](a, b)
        view = views if isinstance(views, torch.Tensor) else views[0]
        if name in ("meshgrid", "broadcast_tensors"):  # Elements that lie in one place.
            view = view[:, :1]
        view.mul_(3)
        return a + 0
    a, b = torch.randn(4, 3), torch.randn(4, 3)
    for function in (write, write_view):
        same(compiled(function)(a, b), function(a, b))


def test_written_inputs():
    def write(cache, row, at):
        cache[:, at] = row
        return cache.sum(-1)
    fast = compiled(write)
    ours, theirs = torch.zeros(2, 5, 3), torch.zeros(2, 5, 3)
    for _ in range(3):
        row, at = torch.randn(2, 3), torch.tensor(3)
        same(fast(ours, row, at), write(theirs, row, at))
        same(ours, theirs)


def test_functions_that_fxjit_lacks_stay_with_pytorch(caplog):
    @torch.library.custom_op("fxjit_tests::twice", mutates_args=())
    def double_it(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @double_it.register_fake
    def _(x):
        return torch.empty_like(x)

    def mixed(x):
        return torch.relu(double_it(torch.sin(x)) + 1)
    with caplog.at_level(logging.WARNING, "fxjit"):
        same(compiled(mixed)(torch.randn(5)), mixed(torch.randn(5) * 0 + 1) * 0 + mixed(
            torch.zeros(5)), tolerance=9)
    assert "fxjit_tests.twice" in caplog.text


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers_are_native(kind, caplog):
    model = getattr(nn, kind)(6, 8, 2, bidirectional=True, batch_first=True).eval()
    x = torch.randn(3, 5, 6)
    with torch._dynamo.config.patch(allow_rnn=True), caplog.at_level(logging.WARNING, "fxjit"):
        same(compiled(model)(x), model(x))
    assert not caplog.messages


def test_random_numbers_are_those_of_pytorch():
    def noisy(x):
        return torch.nn.functional.dropout(x, 0.5, True) + torch.rand(8)
    fast = compiled(noisy)
    torch.manual_seed(3)
    got = fast(torch.ones(8))
    torch.manual_seed(3)
    same(got, noisy(torch.ones(8)))


def test_autocast():
    layer = nn.Linear(16, 16).eval()
    x = torch.randn(4, 16)

    def run(module):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return module(x)
    same(run(compiled(layer)), run(layer), tolerance=2e-2)


def test_inference_mode():
    layer = nn.Linear(16, 16).eval()
    fast = compiled(layer)
    with torch.inference_mode():
        x = torch.randn(4, 16)
        same(fast(x), layer(x))
        layer.weight.data.fill_(0.5)
        same(fast(x), layer(x))


def test_threads():
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16)).eval()
    fast = compiled(model)
    wrong = []

    def work(seed):
        x = torch.randn(seed, 16)
        for _ in range(20):
            with torch.no_grad():
                if not torch.allclose(fast(x), model(x), atol=1e-5):
                    wrong.append(seed)
    workers = [threading.Thread(target=work, args=(n,)) for n in (2, 3, 4, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_modules_that_share_a_graph():
    first, second = nn.Linear(8, 8).eval(), nn.Linear(8, 8).eval()

    @torch.compile(backend="fxjit")
    def call(layer, x):
        return layer(x)
    x = torch.randn(3, 8)
    for _ in range(2):
        for layer in (first, second, copy.deepcopy(first)):
            same(call(layer, x), layer(x))


def test_wrong_options_are_named():
    with pytest.raises(Exception, match="thread_count"):
        compiled(nn.Linear(2, 2).eval(), thread_count=2)(torch.randn(1, 2))
