"""Storage offsets, strides and aliasing where tensors go into fxjit and come out of it."""

import copy
import pickle
import typing
import warnings

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from places import Call, check, place, same  # noqa: E402
from torch import nn  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


VIEWS = {
    "chunk": lambda x: x.chunk(2)[1],
    "split": lambda x: x.split(3)[1],
    "narrow": lambda x: x.narrow(0, 2, 3),
    "select": lambda x: x.select(0, 2),
    "select last": lambda x: x[-1],
    "tensor_split": lambda x: x.tensor_split(2)[1],
    "second half": lambda x: x[x.shape[0] // 2:],
    "flatten": lambda x: x.flatten()[3:],
    "as_strided": lambda x: x.as_strided((2, 2), (2, 1)),
    "step": lambda x: x[1::2],
    "transposed": lambda x: x.t()[1:],
    "diagonal": lambda x: x.diagonal(1),
    "unbind": lambda x: x.unbind(1)[1],
    "several": lambda x: (x[1:], x + 1, x[2:].t(), x),
    "of a result": lambda x: (y := x * 2, y[1:]),
    "results alone": lambda x: (x * 2)[1:],
    "another type": lambda x: x.view(torch.int32)[1:] + 1,
    "smaller elements": lambda x: x.view(torch.int16)[1:, 3:] + 1,
    "larger elements": lambda x: x.view(torch.int64)[1:] + 1,
    "complex": lambda x: torch.view_as_real(torch.view_as_complex(x.unflatten(1, (-1, 2))))[1:],
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_inputs_keep_their_place(name, dynamic):
    function = VIEWS[name]
    compiled = torch.compile(function, backend="fxjit", dynamic=dynamic)
    for rows in (6, 8):
        base = torch.randn(rows + 2, 4)
        check(function, base, [base[:rows]], compiled)
        check(function, base, [base[1:rows + 1]], compiled)


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_compiled_models_keep_their_place(name):
    function = VIEWS[name]
    base = torch.randn(8, 4)
    views = [base[1:7]]
    compiled = fxjit.compile(Call(function).eval(), (torch.randn(6, 4),))
    check(function, base, views, compiled)


def test_results_behind_roll_lie_as_those_of_pytorch():
    def function(x):
        rolled = x.nan_to_num()[1:].roll(1, -1)
        return rolled, rolled + 1
    x = torch.randn(3, 3, 4, 4).contiguous(memory_format=torch.channels_last)
    same(torch.compile(function, backend="fxjit")(x), function(x))
    same(fxjit.compile(Call(function).eval(), (x,))(x), function(x))


def test_as_strided_counts_from_the_storage():
    def function(x):
        return x.as_strided((2,), (1,), 2) + 1
    base = torch.arange(8.)
    for view in (base[1:], base, base[3:5]):
        for compiled in (torch.compile(function, backend="fxjit"),
                         fxjit.compile(Call(function).eval(), (view,)),
                         fxjit.from_fx(torch.fx.symbolic_trace(function))):
            torch.testing.assert_close(compiled(view), function(view))


def test_functions_of_pytorch_see_offsets_and_strides():
    seen = []

    @torch.library.custom_op("fxjit_tests::placed", mutates_args=())
    def placed(x: torch.Tensor) -> torch.Tensor:
        seen.append(place(x))
        return x.clone(memory_format=torch.contiguous_format)

    @placed.register_fake
    def _(x):
        return torch.empty(x.shape)

    def function(x, image):
        thrice = image.contiguous(memory_format=torch.channels_last)
        return [placed(t) for t in (x, x[1:], (x * 2)[1:], (x + 1).t()[1:], thrice,
                                    thrice.clone(), thrice.contiguous(),
                                    image.permute(0, 2, 3, 1).contiguous())]
    x, image = torch.randn(6, 4)[1:], torch.randn(2, 3, 4, 5)
    expected = function(x, image)
    wanted = seen[:]
    seen.clear()
    same(torch.compile(function, backend="fxjit")(x, image), expected)
    # A graph may make anew what a view of a result begins with.
    assert [p[:2] for p in seen] == [p[:2] for p in wanted]
    assert [p for p in seen[:2]] == wanted[:2]


class Numbers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("held", torch.arange(3.))


class Buffers(Numbers):
    def forward(self):
        return self.held * 2, self.held


class Count(Numbers):
    def forward(self, n):
        return self.held + n


class Nothing(nn.Module):
    def forward(self):
        return torch.ones(2, 3)


@pytest.mark.parametrize("module, args", [(Buffers(), ()), (Count(), (3,)), (Nothing(), ())],
                         ids=["buffers", "a number", "nothing"])
def test_results_without_array_arguments_are_tensors(module, args, tmp_path):
    module.eval()
    path = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(module, args), path)
    for model in (fxjit.compile(module, args), fxjit.load(path),
                  torch.compile(module, backend="fxjit")):
        same(model(*args), module(*args))
    traced = torch.fx.symbolic_trace(module)
    same(fxjit.from_fx(traced)(*args), module(*args))


class Pair(typing.NamedTuple):
    more: torch.Tensor
    less: torch.Tensor


def types_of(tree):
    if isinstance(tree, dict):
        return {key: types_of(item) for key, item in tree.items()}
    items = tree if isinstance(tree, (tuple, list)) else ()
    return type(tree), [types_of(item) for item in items]


@pytest.mark.parametrize("function", [
    lambda x: x.max(1), lambda x: Pair(x + 1, x - 1),
    lambda x: {"sorted": [x.sort(1), x * 2], "pair": Pair(x, (x.topk(2), x))},
], ids=["of PyTorch", "of the user", "inside"])
def test_named_tuples_stay_what_they_are(function):
    x = torch.randn(3, 4)
    expected = function(x)
    model = fxjit.compile(Call(function).eval(), (x,))
    for fast in (model, pickle.loads(pickle.dumps(model)), copy.copy(model)):
        got = fast(x)
        assert types_of(got) == types_of(expected)
        same(got, expected)


def test_one_example_for_two_inputs_stays_two():
    model = Call(lambda x, y, z: x - 2 * y + 4 * z).eval()
    x = torch.randn(4)
    whole = torch.randn(8)
    for examples in ((x, x, x), (whole[:4], whole[4:], whole[2:6])):
        fast = fxjit.compile(model, examples)
        args = [torch.randn(4) for _ in range(3)]
        torch.testing.assert_close(fast(*args), model(*args))
    fast = fxjit.compile(Call(lambda x, y=None: x.add_(1) + y).eval(), (whole[:4], whole[:4]))
    one, other = torch.zeros(4), torch.ones(4)
    torch.testing.assert_close(fast(one, other), torch.full((4,), 2.))


def test_lost_gradients_are_told_once():
    fast = fxjit.compile(nn.Linear(3, 2).eval(), (torch.randn(1, 3),))
    x = torch.randn(1, 3, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast(x)
        with torch.enable_grad():
            fast(x.detach())
    with torch.enable_grad():
        with pytest.warns(UserWarning, match="records no gradients"):
            assert not fast(x).requires_grad
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fast(x)
