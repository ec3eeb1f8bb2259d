"""Functions that fxjit takes apart by rules of its own, in compiled and in exported programs."""

import pickle
import subprocess
import sys

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from fxjit import decompositions  # noqa: E402
from places import Call, same  # noqa: E402

X, Y = torch.linspace(-3, 3, 12).view(3, 4), torch.linspace(-1, 2, 4)
INDEX, SOURCE = torch.tensor([[1, -1], [3, 3]]), torch.tensor([[5., 6.], [7., 8.]])
INFINITY = float("inf")
SPECIAL = torch.tensor([0., -0., 1., -1., INFINITY, -INFINITY, float("nan"), 1e-45, -1e-45, 3.4e38])
FUNCTIONS = {
    "add": lambda x, y: torch._foreach_add([x, y], [y, x], alpha=2),
    "number": lambda x, y: torch._foreach_mul([x, y], 2.),
    "numbers": lambda x, y: torch._foreach_sub([x, y], [2., 3.]),
    "power": lambda x, y: torch._foreach_pow(2., [x, y]),
    "least": lambda x, y: torch._foreach_minimum([x, y], 1.),
    "greatest": lambda x, y: torch._foreach_maximum([x, y], [y, x]),
    "norm": lambda x, y: torch._foreach_norm([x, y], 1),
    "nextafter": torch.nextafter,
    "addcdiv": lambda x, y: torch._foreach_addcdiv([x, y], [x, y], [y, y], [.5, 2.]),
    "addcmul": lambda x, y: torch._foreach_addcmul([x, y], [x, y], [y, y], value=.5),
    "one": lambda x, y: torch._foreach_exp([x, y]),
    "in place": lambda x, y: (torch._foreach_mul_([x, y], 3.), x + 1, y)[1:],
    "put": lambda x, y: x.put(INDEX[0], SOURCE[0]),
    "put more": lambda x, y: x.put(INDEX, SOURCE, accumulate=True),
    "put_": lambda x, y: (x * 1).put_(INDEX[0], SOURCE[0]),
    "fake_quantize": lambda x, y: torch.fake_quantize_per_tensor_affine(x, .1, 3, 0, 31),
    "fake_quantize tensors": lambda x, y: torch.fake_quantize_per_tensor_affine(
        x, y[3] / 9, torch.tensor(3, dtype=torch.int32), 0, 31),
    "fake_quantize special": lambda x, y: torch.fake_quantize_per_tensor_affine(
        SPECIAL, .3, 0, -8, 7),
    "fake_quantize channels": lambda x, y: torch.fake_quantize_per_channel_affine(
        x, y + 2, torch.arange(4, dtype=torch.int32), 1, 0, 7),
}


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    with torch.no_grad():
        yield


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_taken_apart(name):
    function = FUNCTIONS[name]
    expected = function(X.clone(), Y.clone())
    same(fxjit.compile(Call(function).eval(), (X.clone(), Y.clone()))(X.clone(), Y.clone()),
         expected)
    compiled = torch.compile(function, backend="fxjit")
    same(compiled(X.clone(), Y.clone()), expected)
    assert not any("_foreach" in call or "quantize" in call
                   for call in fxjit.explain(function, X.clone(), Y.clone()).in_python)


@pytest.mark.parametrize("name", ["put", "fake_quantize", "fake_quantize tensors",
                                  "fake_quantize channels"])
def test_files_are_taken_apart(name, tmp_path):
    module = Call(FUNCTIONS[name]).eval()
    torch.export.save(torch.export.export(module, (X, Y)), tmp_path / "program.pt2")
    same(fxjit.load(tmp_path / "program.pt2")(X, Y), module(X, Y))


FILLED = {
    "a result": lambda x: (x * 1).fill_diagonal_(2.),
    "an input": lambda x: (x.fill_diagonal_(2.), x + 1)[1],
    "tall": lambda x: (x.repeat(3, 1)).fill_diagonal_(2., wrap=True),
    "places": lambda x: x.as_strided_scatter(torch.ones(2, 2), (2, 2), (1, 3), 2),
}


@pytest.mark.parametrize("name", FILLED)
def test_writes_of_places_in_programs(name):
    function = FILLED[name]
    ours, theirs = X.clone(), X.clone()
    fast = fxjit.compile(Call(function).eval(), (X.clone(),))
    same([fast(ours), ours], [function(theirs), theirs])


SQUARE = torch.tensor([[4., 1., 0.], [1., 3., -1.], [0., -1., 5.]])
STAYING = {
    "qr": lambda x: tuple(torch.linalg.qr(x)),
    "svd": lambda x: tuple(torch.linalg.svd(x * 2)),
    "eigh": lambda x: torch.linalg.eigh(x).eigenvalues + 1,
    "eig": lambda x: tuple(torch.linalg.eig(x)),
    "lu": lambda x: tuple(torch.linalg.lu(x)),
    "lu_factor": lambda x: tuple(torch.linalg.lu_factor(x)),
    "pinv": torch.linalg.pinv,
    "matrix_exp": lambda x: torch.matrix_exp(x) @ x,
    "turned put": lambda x: x.t().put(INDEX, SOURCE),
    "frexp": lambda x: tuple(torch.frexp(x)),
}


@pytest.mark.parametrize("name", STAYING)
def test_what_no_rule_fits_stays_with_pytorch(name, tmp_path, caplog):
    module, path = Call(STAYING[name]).eval(), tmp_path / "program.pt2"
    expected = module(SQUARE)
    same(fxjit.compile(module, (SQUARE,))(SQUARE), expected)
    assert "calls that stay with PyTorch: torch.ops.aten." in caplog.text
    torch.export.save(torch.export.export(module, (SQUARE,)), path)
    same(fxjit.load(path)(SQUARE), expected)


LOADED = """
import pickle, sys, torch
print(pickle.loads(sys.stdin.buffer.read())(torch.eye(3) * 4)[1].tolist())
"""


def test_pickles_of_what_stays_with_pytorch():
    model = fxjit.compile(Call(STAYING["eig"]).eval(), (SQUARE,))
    done = subprocess.run([sys.executable, "-c", LOADED], input=pickle.dumps(model),
                          capture_output=True, check=True)
    assert done.stdout.startswith(b"[[(1+0j)")


WITHOUT_PYTORCH = """
import fxjit, sys
try:
    fxjit.load(sys.argv[1])
except fxjit.MissingFunctions as error:
    assert isinstance(error, fxjit.UserError) and "torch" not in sys.modules
    print(error)
"""


def test_what_files_lack_without_pytorch_has_a_type(tmp_path):
    path = tmp_path / "program.pt2"
    torch.export.save(torch.export.export(Call(STAYING["qr"]).eval(), (SQUARE,)), path)
    done = subprocess.run([sys.executable, "-c", WITHOUT_PYTORCH, path], capture_output=True,
                          check=True, text=True)
    assert "torch.ops.aten.linalg_qr.default" in done.stdout


@torch.library.custom_op("fxjit_tests::filled_by", mutates_args={"x", "others"})
def filled_by(x: torch.Tensor, others: list[torch.Tensor], y: float) -> torch.Tensor:
    for one in [x, *others]:
        one.fill_(y)
    return x * others[0] + 1


filled_by.register_fake(lambda x, others, y: torch.empty_like(x))


def test_functions_that_write_arguments(tmp_path):
    def function(x):
        y, z = x * 1, x + 1
        return torch.ops.fxjit_tests.filled_by(x, [y[1:2].expand_as(x).clone(), z], 3.), y, z

    module = Call(function).eval()
    ours, theirs = X.clone(), X.clone()
    expected = module(theirs)
    same(fxjit.compile(module, (X,))(ours), expected)
    assert torch.equal(ours, theirs)
    torch.export.save(torch.export.export(module, (X,)), tmp_path / "program.pt2")
    same(fxjit.load(tmp_path / "program.pt2")(X.clone()), expected)


def test_rules_give_what_pytorch_gives():
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x = torch.cat([SPECIAL, X.flatten()]).to(dtype)
        x, y = x[:, None], x
        ours, theirs = decompositions._nextafter(x, y), torch.nextafter(x, y)
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)
        known = ~theirs.isnan()
        assert torch.equal(ours.signbit()[known], theirs.signbit()[known])
