"""Functions that fxjit takes apart by rules of its own, in compiled and in exported programs."""

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from fxjit import decompositions  # noqa: E402
from test_borders import Call, same  # noqa: E402

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


def test_what_no_rule_fits_is_refused_by_name():
    turned = Call(lambda x: x.t().put(INDEX, SOURCE)).eval()
    with pytest.raises(fxjit.UserError, match="aten.put.default"):
        fxjit.compile(turned, (X,))


def test_rules_give_what_pytorch_gives():
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x = torch.cat([SPECIAL, X.flatten()]).to(dtype)
        x, y = x[:, None], x
        ours, theirs = decompositions._nextafter(x, y), torch.nextafter(x, y)
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)
        known = ~theirs.isnan()
        assert torch.equal(ours.signbit()[known], theirs.signbit()[known])
