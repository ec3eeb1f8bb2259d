"""Python numbers that a type does not hold, and writes of memory that is read elsewhere: PyTorch
refuses both, in the words that stand here."""

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from places import Call, same  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def row(x):
    return x.view(1, 3)


FIRST = torch.tensor([0])
NUMBERS = {
    "clamp": lambda x, n: x.clamp(-5, n), "clamp_min": lambda x, n: x.clamp_min(n),
    "clamp_": lambda x, n: (y := x + 0, y.clamp_(max=n))[0],
    "full_like": torch.full_like, "full": lambda x, n: torch.full((2,), n, dtype=x.dtype),
    "new_full": lambda x, n: x.new_full((2,), n), "fill_": lambda x, n: (x + 0).fill_(n),
    "fill": lambda x, n: torch.fill(x, n), "where": lambda x, n: torch.where(x > 1, x, n),
    "where first": lambda x, n: torch.where(x > 1, n, x),
    "pad": lambda x, n: F.pad(x, (1, 1), value=n),
    "cropped": lambda x, n: F.pad(x, (-1, 0), value=n),
    "constant_pad": lambda x, n: torch.constant_pad_nd(x, (1, 1), n),
    "index_fill": lambda x, n: x.index_fill(0, FIRST, n),
    "scatter": lambda x, n: x.scatter(0, FIRST, n), "pow": lambda x, n: x ** n,
    "base": lambda x, n: n ** x,
    "masked_fill": lambda x, n: x.masked_fill(x > 1, n),
    "masked_fill_": lambda x, n: (x + 0).masked_fill_(x > 1, n),
    "add": lambda x, n: x + n, "alpha": lambda x, n: torch.add(x, x, alpha=n),
    "sub": lambda x, n: x - n, "sub alpha": lambda x, n: torch.sub(x, x, alpha=n),
    "mul": lambda x, n: x * n, "equal": lambda x, n: x == n, "less": lambda x, n: x < n,
    "hardshrink": lambda x, n: F.hardshrink(x, abs(n)),
    "and": lambda x, n: x & n, "threshold": lambda x, n: F.threshold(x, 1, n),
    "addcmul": lambda x, n: torch.addcmul(x, x, x, value=n),
    "addmm": lambda x, n: torch.addmm(row(x)[:, :1], row(x), row(x).t(), alpha=n),
    "addmv": lambda x, n: torch.addmv(x[:1], row(x), x, alpha=n),
    "index_add": lambda x, n: x.index_add(0, FIRST, x[:1], alpha=n),
    "item": lambda x, n: (y := x + 0, y.__setitem__(0, n))[0],
    "items": lambda x, n: (y := x + 0, y.__setitem__(y > 1, n))[0],
}
# torch.compile takes it apart before a backend sees it, and then nothing is refused.
TRACED_IN_PARTS = {"hardshrink"}
OF_TYPES = [(torch.uint8, 300), (torch.uint8, -5), (torch.uint8, -300), (torch.int8, 300),
            (torch.int32, 2**40), (torch.float16, -1e9), (torch.float16, 10**9),
            (torch.float32, 1e300), (torch.bfloat16, 1e39), (torch.bool, 2)]


@pytest.mark.parametrize("dtype, number", OF_TYPES)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_beyond_a_type(name, dtype, number):
    def function(x):
        return NUMBERS[name](x, number)
    x = torch.tensor([1, 2, 3]).to(dtype)
    try:
        expected, error = function(x), None
    except Exception as raised:
        expected, error = None, str(raised)
    if error and "without overflow" not in error:
        return  # Another error.
    ways = [lambda: fxjit.compile(Call(function).eval(), (x,))]
    if name not in TRACED_IN_PARTS:
        ways.append(lambda: torch.compile(function, backend="fxjit"))
    for make in ways:
        if error:
            with pytest.raises(RuntimeError, match="without overflow"):
                make()(x)
        else:
            same(make()(x), expected)


def items(y, index, value):
    y[index] = value


rest = slice(1, None)
WRITES = {
    "shifted": lambda y: items(y, rest, y[:-1]), "back": lambda y: items(y, slice(-1), y[1:]),
    "copy_": lambda y: y[1:].copy_(y[:-1]), "add_": lambda y: y[1:].add_(y[:-1]),
    "itself": lambda y: y.mul_(y), "turned": lambda y: y[:4].view(2, 2).add_(y[:4].view(2, 2).t()),
    "gaps": lambda y: y.view(2, 4)[:, 2:].copy_(y.view(2, 4)[:, :2]),
    "rows": lambda y: y.view(4, 2)[1:].add_(y.view(4, 2)[:-1]), "one": lambda y: y.add_(y[0]),
    "row": lambda y: y.view(4, 2).add_(y[:2]), "apart": lambda y: y[4:].add_(y[:4]),
    "steps": lambda y: y[::2].add_(y[1::2]), "expanded": lambda y: y[:1].expand(4).add_(1),
    "expanded fill": lambda y: y[:1].expand(4).fill_(1),
    "picked": lambda y: items(y, torch.tensor([0, 1]), y[1:3]),
    "scatter_": lambda y: y.scatter_(0, torch.tensor([0, 1]), y),
    "index_add_": lambda y: y.index_add_(0, torch.tensor([0, 1]), y[1:3]),
    "index_copy_": lambda y: y.index_copy_(0, torch.tensor([0, 1]), y[1:3]),
    "addcmul_": lambda y: y[1:].addcmul_(y[:-1], y[:-1]),
    "cumsum_": lambda y: y.cumsum_(0), "pow_": lambda y: y[1:].pow_(y[:-1]),
}
# Proxies of torch.fx take no item assignments.
OF_ITEMS = {"shifted", "back", "picked"}


@pytest.mark.parametrize("of_input", [False, True], ids=["of a result", "of an input"])
@pytest.mark.parametrize("name", WRITES)
def test_writes_of_what_is_read_elsewhere(name, of_input):
    def function(x):
        y = x if of_input else x * 1
        WRITES[name](y)
        return y
    x = torch.arange(8.)
    try:
        expected, error = function(x.clone()), None
    except RuntimeError as raised:
        expected, error = None, str(raised)
    module = Call(function).eval()
    fast = fxjit.compile(module, (x.clone(),))
    traced = fxjit.from_fx(torch.fx.symbolic_trace(function)) if name not in OF_ITEMS else fast
    for model in (fast, traced):
        if error:
            with pytest.raises(RuntimeError, match="unsupported operation: "):
                model(x.clone())
        else:
            same(model(x.clone()), expected)


TWO = torch.tensor([0, 1])
TAKEN_APART = {
    "put_": lambda y: y.put_(TWO, torch.tensor([5., 6.])),
    "put_ accumulating": lambda y: y.put_(TWO, torch.tensor([5., 6.]), True),
    "index_reduce_": lambda y: y.index_reduce_(0, TWO, torch.full((2, 3), 9.), "amax"),
    "scatter_": lambda y: y.scatter_(0, torch.tensor([[0, 1, 0]]), torch.full((1, 3), 9.)),
    "scatter_reduce_": lambda y: y.scatter_reduce_(0, torch.tensor([[0, 1, 0]]),
                                                   torch.full((1, 3), 9.), "sum"),
    "index_copy_": lambda y: y.index_copy_(0, TWO, torch.full((2, 3), 9.)),
    "masked_scatter_": lambda y: y.masked_scatter_(torch.ones(2, 3) > 0, torch.arange(6.)),
    "mul_": lambda y: y.mul_(2),
    "fill_": lambda y: y.fill_(3), "zero_": lambda y: y.zero_(),
}


@pytest.mark.parametrize("layout", ["expanded", "dense"])
@pytest.mark.parametrize("name", TAKEN_APART)
def test_writes_beside_a_call_that_rules_take_apart(name, layout, tmp_path):
    """Rules of PyTorch make results of writes, also of those that PyTorch refuses."""
    def function(x):
        y = x.expand(2, 3)
        y = y if layout == "expanded" else y.clone()
        TAKEN_APART[name](y)
        return y, torch.nextafter(x, x * 2)
    x = torch.arange(1., 4)
    module = Call(function).eval()
    torch.export.save(torch.export.export(module, (x,)), tmp_path / "write.pt2")
    try:
        expected = function(x.clone())
    except RuntimeError:
        for make in (lambda: fxjit.compile(module, (x,)),
                     lambda: fxjit.load(tmp_path / "write.pt2")):
            with pytest.raises(RuntimeError, match="more than one element of the written-to"):
                make()(x.clone())
        return
    if layout == "expanded":  # PyTorch's own rules make other numbers of these.
        with pytest.raises(NotImplementedError, match="share places"):
            fxjit.compile(module, (x,))
        return
    for fast in (fxjit.compile(module, (x,)), fxjit.load(tmp_path / "write.pt2")):
        for ours, theirs in zip(fast(x.clone()), expected, strict=True):
            same(ours, theirs)
