"""Branches and loops: torch.compile hands their graphs over; endless ones can be ended."""

import os
import signal
import threading
import time

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from fxjit import torch_backend  # noqa: E402
from torch import nn  # noqa: E402
from torch._higher_order_ops import associative_scan, scan, while_loop  # noqa: E402
from torch._higher_order_ops.map import map as map_slices  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def same(got, expected):
    got, expected = (torch.utils._pytree.tree_leaves(x) for x in (got, expected))
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        assert ours.dtype == theirs.dtype
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5, equal_nan=True)


def check(model, *calls, in_python=(), **options):
    """One graph for all calls, all of it native, with PyTorch's numbers."""
    fast = torch.compile(model, backend="fxjit", fullgraph=True, options=options or None)
    before = set(torch_backend.compiled_graphs())
    for inputs in calls:
        same(fast(*inputs), model(*inputs))
    graphs = [graph for graph in torch_backend.compiled_graphs() if graph not in before]
    assert graphs
    for graph in graphs:
        assert graph.in_python == list(in_python)
        assert graph.model.report().native != bool(in_python), graph.model.report()
    return graphs


def flag(value):
    return torch.tensor(value)


class Chooses(nn.Module):
    """A branch with layers, one inside of the other."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 8), nn.Linear(4, 8)

    def forward(self, p, x):
        def negative(x):
            return torch.cond(x.min() < -1, lambda x: x.exp(), lambda x: -x, (self.down(x),))

        return torch.cond(p, lambda x: torch.relu(self.up(x)), negative, (x,)) + 1


def test_a_branch_of_layers():
    x = torch.randn(3, 4)
    graphs = check(Chooses().eval(), (flag(True), x), (flag(False), x), (flag(False), x * 9))
    assert len(graphs) == 1


def test_a_branch_of_several_results():
    def model(x):
        a, b = torch.cond(x.sum() > 0, lambda x: (x + 1, x.sum(0)), lambda x: (x * 2, x[0] + 0), (x,))
        return a * 2, b

    x = torch.rand(3, 4)
    check(model, (x,), (-x,), (x * float("nan"),))


class Repeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, n, x):
        def body(i, x):
            return i + 1, torch.tanh(self.linear(x))

        return while_loop(lambda i, x: i < n, body, (torch.tensor(0), x))


def test_a_loop_of_a_layer():
    x = torch.randn(3, 4)
    check(Repeats().eval(), *((flag(n), x) for n in (0, 1, 7, -3)))


def test_a_branch_in_a_loop():
    def model(n, x):
        def body(i, x):
            return i + 1, torch.cond(i % 2 == 0, lambda x: x + 1, lambda x: x * 0.5, (x,))

        return while_loop(lambda i, x: i < n, body, (torch.tensor(0), x))[1]

    check(model, *((flag(n), torch.ones(2, 3)) for n in (0, 1, 6, 7)))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_scans(dim, reverse):
    def model(c, x):
        return scan(lambda c, x: (c * 0.5 + x, (c * x, x.sum())), c, x, dim=dim, reverse=reverse)

    check(model, (torch.randn(5), torch.randn(5, 5)))


def test_associative_scans():
    def model(x):
        return associative_scan(lambda a, b: a * 0.5 + b, x, 0, combine_mode="generic")

    check(model, (torch.randn(8, 3),))


def test_maps():
    def model(x, y):
        return map_slices(lambda x, y: torch.softmax(x, -1) @ y, x, y)

    check(model, (torch.randn(4, 3, 5), torch.randn(5, 2)))


def test_sizes_that_change():
    def model(x):
        return torch.cond(x.sum() > 0, lambda x: x.cumsum(0), lambda x: x * x.shape[0], (x,))

    calls = []
    for rows in 2, 3, 5:
        for x in torch.rand(rows, 3), -torch.rand(rows, 3):
            torch._dynamo.mark_dynamic(x, 0)
            calls.append((x,))
    assert len(check(model, *calls)) == 1


def test_what_fxjit_lacks_stays_with_pytorch():
    def model(p, x):
        return torch.cond(p, lambda x: torch.bernoulli(x * 0 + 1), lambda x: x + 1, (x,))

    x = torch.rand(3)
    check(model, (flag(True), x), (flag(False), x), in_python=["torch.ops.aten.bernoulli.default"])


def test_weights_that_change():
    model = Repeats().eval()
    fast = torch.compile(model, backend="fxjit")
    x = torch.randn(3, 4)
    same(fast(flag(3), x), model(flag(3), x))
    model.linear.weight.mul_(0.5)
    same(fast(flag(3), x), model(flag(3), x))


MANY = flag(2**62)


class Counts(nn.Module):
    def forward(self, n, x):
        return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 0.5), (torch.tensor(0), x))[1]


def counting(**options):
    return fxjit.compile(Counts().eval(), (flag(1), torch.ones(3)), **options)


def test_a_limit_ends_loops():
    x = torch.ones(3)
    for call in (counting(loop_limit=100),
                 torch.compile(Counts(), backend="fxjit", options={"loop_limit": 100})):
        call(flag(100), x)
        with pytest.raises(RuntimeError, match="while_loop. iterations: expected at most 100, got"):
            call(MANY, x)


@pytest.mark.parametrize("limit", [-1, "many", 2.5])
def test_limits_are_numbers(limit):
    with pytest.raises((TypeError, ValueError), match="loop_limit: expected"):
        counting(loop_limit=limit)


def interrupted(call, number=signal.SIGINT, handler=signal.default_int_handler, raised=KeyboardInterrupt):
    """Sends a signal once the loop of `call` runs, which then ends by what the handler raises.

    The model was called before, so that it is compiled and only the loop takes much CPU time.
    """
    clock = time.pthread_getcpuclockid(threading.get_ident())
    start, ended = time.clock_gettime(clock), threading.Event()

    def send():
        while time.clock_gettime(clock) < start + 0.2:
            if ended.wait(0.01):
                return
        os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    before = signal.signal(number, handler)
    try:
        with pytest.raises(raised):
            sender.start()
            call()
    finally:
        ended.set()
        sender.join()
        signal.signal(number, before)


def test_ctrl_c_ends_a_loop():
    model, x = counting(), torch.ones(3)
    for _ in range(2):  # What came before leaves nothing behind.
        same(model(flag(3), x), x / 8)
        interrupted(lambda: model(MANY, x))
    assert model.report().native


def test_ctrl_c_ends_a_loop_that_is_interpreted():
    def model(n, x):
        def body(i, x):
            return i + 1, torch.bernoulli(x * 0 + 1)

        return while_loop(lambda i, x: i < n, body, (torch.tensor(0), x))[1]

    fast, x = torch.compile(model, backend="fxjit"), torch.ones(3)
    same(fast(flag(3), x), x)
    interrupted(lambda: fast(MANY, x))
    same(fast(flag(3), x), x)


def test_handlers_raise_what_they_like():
    class Late(Exception):
        pass

    def late(number, frame):
        raise Late

    model, x = counting(), torch.ones(3)
    model(flag(3), x)
    interrupted(lambda: model(MANY, x), signal.SIGALRM, late, Late)


def test_branches_that_do_not_fit():
    def model(p, x):
        return torch.cond(p, lambda x: x + 1, lambda x: x.double(), (x,))

    with pytest.raises(Exception, match="expected same dtype but got torch.float32 and torch.float64"):
        torch.compile(model, backend="fxjit")(flag(True), torch.ones(3))
