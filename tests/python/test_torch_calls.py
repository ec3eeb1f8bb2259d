"""Calls of what torch.compile(model, backend="fxjit") made: sizes, memory that results share,
threads, processes, and what calls leave behind."""

import gc
import itertools
import logging
import sys

import fxjit
import pytest
from test_processes import resident_kib

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from fxjit import torch_backend  # noqa: E402
from torch import nn  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def graphs_of(call):
    """The graphs that a call makes anew."""
    before = set(torch_backend.compiled_graphs())
    call()
    return [graph for graph in torch_backend.compiled_graphs() if graph not in before]


def test_marked_sizes_take_one_graph():
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU()).eval()
    fast = torch.compile(model, backend="fxjit")

    def call():
        for rows in (4, 7, 30):
            x = torch.randn(rows, 8)
            torch._dynamo.mark_dynamic(x, 0)
            torch.testing.assert_close(fast(x), model(x))
    assert len(graphs_of(call)) == 1


def test_sizes_that_changed_once_may_change_again():
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU()).eval()
    fast = torch.compile(model, backend="fxjit")

    def call():
        for rows in (4, 7, 30, 11, 2):
            x = torch.randn(rows, 8)
            torch.testing.assert_close(fast(x), model(x))
    assert len(graphs_of(call)) == 2  # Of the first size, then of all.


def shared(tensors):
    """Which pairs lie in the same memory."""
    places = [t.untyped_storage().data_ptr() for t in tensors]
    return [a == b for a, b in itertools.combinations(places, 2)]


@pytest.mark.parametrize("function", [
    lambda x: (x, x.view(-1), x[1:], x + 1),
    lambda x: (x.t(), x.t(), x.unsqueeze(0)),
    lambda x: (y := torch.sin(x), y.view(-1), y.t(), y[0], y),
    lambda x: (y := x * 2, y, y),
    lambda x: {"a": [x.relu(), (x.neg(), None)], "b": (x, 3, "text")},
    lambda x: (x.add_(1), x, x.view(-1)),
    lambda x: (y := x.view(-1), y.mul_(2), x),
], ids=["input", "views", "results", "one twice", "nested", "written", "written by a view"])
def test_results_share_memory_as_pytorchs_do(function):
    ours, theirs = torch.randn(3, 4), None
    theirs = ours.clone()
    got = torch.compile(function, backend="fxjit")(ours)
    expected = function(theirs)
    got, ours_spec = torch.utils._pytree.tree_flatten(got)
    expected, theirs_spec = torch.utils._pytree.tree_flatten(expected)
    assert ours_spec == theirs_spec
    tensors = [[leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
               for leaves in ([ours, *got], [theirs, *expected])]
    for one, other in zip(*tensors, strict=True):
        torch.testing.assert_close(one, other)
    assert shared(tensors[0]) == shared(tensors[1])


def test_training_mode_without_gradients_is_compiled():
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).train()
    other = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).train()
    other.load_state_dict(model.state_dict())
    x = torch.randn(6, 4)
    torch.testing.assert_close(torch.compile(model, backend="fxjit")(x), other(x))
    torch.testing.assert_close(model.state_dict(), other.state_dict())


def test_what_pytorch_runs_stands_in_the_report(caplog):
    @torch.library.custom_op("fxjit_tests::thrice", mutates_args=())
    def thrice(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    @thrice.register_fake
    def _(x):
        return torch.empty_like(x)

    def mixed(x):
        return torch.relu(thrice(torch.sin(x)) + 1)
    x = torch.randn(5)
    fast = torch.compile(mixed, backend="fxjit")
    with caplog.at_level(logging.WARNING, "fxjit"):
        (graph,) = graphs_of(lambda: torch.testing.assert_close(fast(x), mixed(x)))
    lines = [r.getMessage() for r in caplog.records if "thrice" in r.getMessage()]
    assert len(lines) == 1
    assert "thrice" in graph.model.report()
    assert not graph.model.report().native
    assert "thrice" in fxjit.explain(mixed, x)


def test_lstms_that_dynamo_leaves_out_are_told():
    model = nn.LSTM(6, 8).eval()
    x = torch.randn(5, 2, 6)
    torch.testing.assert_close(torch.compile(model, backend="fxjit")(x), model(x))
    told = fxjit.explain(model, x)
    assert told.graphs == [] and "allow_rnn" in told
    torch._dynamo.reset()
    with torch._dynamo.config.patch(allow_rnn=True):
        assert fxjit.explain(model, x).native_share == 1


def test_threads_follow_pytorchs():
    model = nn.Linear(64, 64).eval()
    fast = torch.compile(model, backend="fxjit")
    x = torch.randn(8, 64)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert len(graphs_of(lambda: fast(x))) == 1
        assert not graphs_of(lambda: fast(x))
        torch.set_num_threads(2)
        assert len(graphs_of(lambda: torch.testing.assert_close(fast(x), model(x)))) == 1
    finally:
        torch.set_num_threads(before)


class Rows(torch.utils.data.Dataset):
    def __init__(self, call):
        self.call = call

    def __len__(self):
        return 6

    def __getitem__(self, number):
        with torch.no_grad():
            return self.call(torch.full((1, 8), float(number)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("compiled_before", [True, False])
def test_workers_of_a_data_loader(compiled_before):
    model = nn.Linear(8, 4).eval()
    fast = torch.compile(model, backend="fxjit")
    if compiled_before:
        fast(torch.randn(1, 8))
    loader = torch.utils.data.DataLoader(Rows(fast), batch_size=2, num_workers=2, timeout=120)
    got = torch.cat([batch.reshape(-1, 4) for batch in loader])
    expected = torch.cat([model(torch.full((1, 8), float(n))) for n in range(6)])
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(fast(torch.ones(1, 8)), model(torch.ones(1, 8)))


def test_ten_thousand_calls_leave_nothing_behind():
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).eval()
    fast = torch.compile(model, backend="fxjit")
    loaded = fxjit.compile(model, (torch.randn(2, 8),))
    x = torch.randn(2, 8)

    def call():
        fast(x)
        loaded(x)
        with pytest.raises(TypeError):
            loaded(x, x)

    for _ in range(500):
        call()
    gc.collect()
    held = [x, *model.parameters()]
    references = [sys.getrefcount(t) for t in held]
    count = len(gc.get_objects())

    def growth():
        before = resident_kib()
        for _ in range(4_000):
            call()
        gc.collect()
        return resident_kib() - before

    # What is left behind grows each time, the memory that others keep does not.
    assert min(growth() for _ in range(3)) < 1024
    assert [sys.getrefcount(t) for t in held] == references
    assert len(gc.get_objects()) < count + 500


@pytest.mark.parametrize("kind", ["torch.compile", "export"])
def test_errors_name_the_op_and_the_users_line(kind):
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(10, 4)

        def forward(self, ids):
            return self.table(ids) * 2

    model = Words().eval()
    fast = (torch.compile(model, backend="fxjit") if kind == "torch.compile"
            else fxjit.compile(model, (torch.tensor([1, 2]),)))
    line = Words.forward.__code__.co_firstlineno + 1
    with pytest.raises(IndexError, match=rf"(?s)out of range.*test_torch_calls.py:{line}.*%embed"):
        fast(torch.tensor([1, 20]))
