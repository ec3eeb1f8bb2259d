"""Arithmetic of complex numbers by all ways, beside PyTorch's eager functions."""

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from places import Call  # noqa: E402

MAPS = ("exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh "
        "cosh tanh asinh acosh atanh sigmoid sgn square sinc neg abs angle conj_physical isnan "
        "isinf isfinite logical_not").split()
INDEX = torch.tensor([[2, 0], [1, 1]])
MASK = torch.tensor([[True, False, True], [False, True, True]])
FUNCTIONS = {name: lambda x, y, r, name=name: getattr(torch, name)(x) for name in MAPS} | {
    "silu": lambda x, y, r: torch.nn.functional.silu(x),
    "add": lambda x, y, r: (x + y, x + r, r + x, x + 2, 2 - x, x - r, r - x, x + 2j, 2j + r),
    "alpha": lambda x, y, r: (torch.add(x, y, alpha=3), torch.sub(x, r, alpha=2),
                              torch.rsub(x, y, alpha=3)),
    "mul": lambda x, y, r: (x * y, x * r, r * x, x * 2, x * 2j, r * 2j, (1 + 2j) * x),
    "div": lambda x, y, r: (x / y, x / r, r / x, x / 2, 1 / x, x / 2j, 2j / r),
    "pow": lambda x, y, r: (x ** y, x ** r, r.abs() ** x, x ** 2, x ** 3, x ** .5, x ** -1,
                            x ** 0, x ** 1, x ** 1.7, x ** 2j, 2 ** x, x ** -2, x ** -.5),
    "sum": lambda x, y, r: (x.sum(), x.sum(1), x.sum(0, True), x.mean(), x.mean((0, 1), True),
                            x.sum(dtype=torch.complex128)),
    "prod": lambda x, y, r: (x.prod(), x.prod(1), x.prod(-2, True), x[0, 0].prod()),
    "running": lambda x, y, r: (x.cumsum(1), x.cumsum(-2), x.cumprod(1), x.cumprod(0)),
    "spread": lambda x, y, r: (x.var(), x.var(1, correction=0), x.std(1)),
    "norm": lambda x, y, r: (x.norm(), torch.linalg.vector_norm(x, 3, 1)),
    "products": lambda x, y, r: (x @ y.mT, torch.mm(x.mT, y), x[0] @ y[1], x @ y[1],
                                 torch.vdot(x[0], y[1]), torch.dot(x[0], y[1]),
                                 torch.outer(x[0], y[1]), torch.kron(x, y)),
    "batched": lambda x, y, r: (torch.bmm(x[None], y.mT[None]), x[None, None] @ y.mT,
                                torch.einsum("ij,kj->ik", x, y),
                                torch.tensordot(x, y, dims=([1], [1]))),
    "linear": lambda x, y, r: (torch.nn.functional.linear(x, y),
                               torch.nn.functional.linear(x, y, x[:, 0]),
                               torch.addmm(x[:, :2], x, y.mT, beta=2, alpha=.5),
                               torch.baddbmm(x[None, :, :2], x[None], y.mT[None])),
    "fused": lambda x, y, r: (torch.addcmul(x, y, r, value=2), torch.addcdiv(x, y, x, value=2)),
    "where": lambda x, y, r: (torch.where(MASK, x, y), torch.where(MASK, x, 0.),
                              torch.where(MASK, r, y), x.masked_fill(MASK, 2.),
                              torch.where(MASK, x, 1j)),
    "compare": lambda x, y, r: (x == y, x != x, x == r, r != y, x == 2j, x.any(), x.all(1),
                                x.bool()),
    "index": lambda x, y, r: (x[INDEX[:, 0] // 2], x[:, INDEX], x.gather(1, INDEX), x[MASK],
                              x.index_select(1, INDEX[0]), x.take(INDEX), x[1, ::2]),
    "index writes": lambda x, y, r: (x.scatter(1, INDEX[:, :1], y),
                                     x.index_put((INDEX[0] // 2,), y),
                                     x.index_add(1, INDEX[0], y[:, :2]),
                                     x.select_scatter(y[0], 0, 1),
                                     x.slice_scatter(y[:, :2], 1, 0, 2)),
    "shapes": lambda x, y, r: (x.repeat(2, 1), x.tile(2), x.tril(), x.triu(1), x.diagonal(),
                               torch.diag_embed(x), x.flip(0), x.roll(1, 1), torch.cat([x, y]),
                               torch.stack([x, r * 1j]), x.rot90(), x.trace(), x.mH, x.adjoint(),
                               torch.nn.functional.pad(x, (1, 0, 0, 1)), x.mT.contiguous()),
    "creation": lambda x, y, r: (torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 2),
                                 torch.zeros_like(x, dtype=torch.float32), x.new_zeros(2),
                                 torch.ones(2, dtype=torch.complex64) * x[:, :2]),
    "in place": lambda x, y, r: ((x * 1).add_(y), (x + 0).mul_(2j), (x * 1).exp_(),
                                 (x * 1).zero_(), (x * 1).copy_(r)),
}


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def leaves(tree):
    return torch.utils._pytree.tree_leaves(tree)


def numbers(dtype):
    torch.manual_seed(1)
    x, y = torch.randn(2, 2, 3, dtype=dtype)
    return x, y, torch.randn(2, 3, dtype=x.real.dtype)


def all_of(names):
    return lambda *args: {name: FUNCTIONS[name](*args) for name in names}


def check(got, expected):
    for name, results in expected.items():
        for i, (ours, theirs) in enumerate(zip(leaves(got[name]), leaves(results), strict=True)):
            torch.testing.assert_close(ours, theirs, msg=lambda m: f"{name} {i}: {m}")
            assert ours.stride() == theirs.stride(), (name, i)


def by_export(function, args, tmp_path):
    return fxjit.compile(Call(function).eval(), args)


def by_file(function, args, tmp_path):
    path = tmp_path / "program.pt2"
    torch.export.save(torch.export.export(Call(function).eval(), args), path)
    return fxjit.load(path)


def by_torch(function, args, tmp_path):
    return torch.compile(function, backend="fxjit")


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("way", [by_export, by_file, by_torch])
def test_functions(way, dtype, tmp_path):
    function, args = all_of(FUNCTIONS), numbers(dtype)
    check(way(function, args, tmp_path)(*args), function(*args))


INFINITY, NAN = float("inf"), float("nan")
PARTS = [0., -0., INFINITY, -INFINITY, NAN, 1., -1., .5, -2., 100., -100., 800., 1e10, -1e10]
POWERS = {f"pow {p}": lambda x, p=p: x ** p for p in (2, 3, .5, -1, -2, -.5, 0, 1, 1.7, 2j)}
OF_ONE = {name: lambda x, name=name: getattr(torch, name)(x) for name in MAPS} | POWERS | {
    "silu": torch.nn.functional.silu, "2 **": lambda x: 2 ** x, "1 /": lambda x: 1 / x,
    "/ 2": lambda x: x / 2, "* 2": lambda x: x * 2, "* 2j": lambda x: x * 2j,
    "+ 2j": lambda x: x + 2j, "/ 2j": lambda x: x / 2j, "2j /": lambda x: 2j / x,
    "- 2": lambda x: x - 2, "2 -": lambda x: 2 - x, "sum": lambda x: x.view(-1, 4).sum(1)}
OF_TWO = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow,
    "eq": torch.eq, "where": lambda x, y: torch.where(x == y, x, y),
    "alpha": lambda x, y: torch.sub(x, y, alpha=2), "addcmul": lambda x, y: torch.addcmul(x, x, y),
    "add real": lambda x, y: (x.real + y, x + y.real, x.real - y),
    "mul real": lambda x, y: (x.real * y, x * y.real), "div real": lambda x, y: x / y.real,
    "real div": lambda x, y: x.real / y, "pow real": lambda x, y: (x ** y.real, x.real ** y)}
# PyTorch's vectors and their ends give zeros of these either sign, and its acos of complex128 is a
# difference of two angles.
EITHER_ZERO = {"neg", "silu", "sinc", "acos", "mul", "addcmul", "div", "real div", "2j /"}


def grid(dtype):
    parts = torch.tensor(PARTS, dtype=dtype.to_real())
    return torch.complex(*torch.meshgrid(parts, parts, indexing="ij")).flatten()


def check_special(name, ours, theirs):
    """NaN is one number, and part by part, beside what rounding makes of the whole."""
    assert ours.dtype == theirs.dtype
    if not theirs.is_complex():
        ours, theirs = ours.double(), theirs.double()
        near = torch.isclose(ours, theirs, rtol=1e-5, atol=0, equal_nan=True)
        assert near.all(), (name, ours[~near][:4], theirs[~near][:4])
        return
    size = theirs.abs().to(torch.float64)
    bound = torch.where(size.isfinite(), size, 0) * 64 * torch.finfo(theirs.dtype).eps
    for one, other in ((ours.real.double(), theirs.real.double()),
                       (ours.imag.double(), theirs.imag.double())):
        near = (one == other) | (one.isnan() & other.isnan()) | ((one - other).abs() <= bound)
        if name not in EITHER_ZERO:
            near &= (one != 0) | (other != 0) | (one.signbit() == other.signbit())
        assert near.all(), (name, ours[~near][:4], theirs[~near][:4])


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("way", [by_export, by_torch])
@pytest.mark.parametrize("functions", [OF_ONE, OF_TWO], ids=["one", "two"])
def test_special_numbers(functions, way, dtype, tmp_path):
    args = (grid(dtype),)
    if functions is OF_TWO:
        some = args[0][::2]
        args = tuple(a.flatten() for a in torch.meshgrid(some, some, indexing="ij"))

    def function(*args):
        return {name: one(*args) for name, one in functions.items()}
    got, expected = way(function, args, tmp_path)(*args), function(*args)
    for name, results in expected.items():
        for ours, theirs in zip(leaves(got[name]), leaves(results), strict=True):
            check_special(name, ours, theirs)
