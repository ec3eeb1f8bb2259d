"""Storage offsets, strides and aliasing where tensors go into fxjit and come out of it."""

import copy
import functools
import pickle
import typing
import warnings

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


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def tensors_of(tree):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree)
            if isinstance(leaf, torch.Tensor)]


def place(tensor):
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset()


def same(got, expected):
    for ours, theirs in zip(tensors_of(got), tensors_of(expected), strict=True):
        assert ours.dtype == theirs.dtype
        assert place(ours)[:2] == place(theirs)[:2]
        torch.testing.assert_close(ours, theirs, equal_nan=True)


def lies_in(tensor, base):
    return tensor.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()


def copied(base, views):
    """The views, of a copy of their base."""
    base = base.clone()
    return base, [base.as_strided(v.shape, v.stride(), v.storage_offset()) for v in views]


# What fxjit gives for views of the base, and what becomes of the base when its results are written.
def check(function, base, views, compiled):
    ours, our_views = copied(base, views)
    theirs, their_views = copied(base, views)
    got, expected = compiled(*our_views), function(*their_views)
    same(got, expected)
    for one, other in zip(tensors_of(got), tensors_of(expected), strict=True):
        assert lies_in(one, ours) == lies_in(other, theirs)
        if lies_in(other, theirs):
            assert one.storage_offset() == other.storage_offset()
        if torch._debug_has_internal_overlap(other) == 0:
            one.add_(100)
            other.add_(100)
    torch.testing.assert_close(ours, theirs)


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


def first_column(x):
    x[..., 0].zero_()
    return x


WRITTEN = {
    "later": lambda x: (x.narrow(-1, 1, x.shape[-1] - 1), first_column(x))[0],
    "before": lambda x: first_column(x)[1:].diagonal(),
    "rows": lambda x: (x[1:].mul_(2), x[2:])[1],
    "itself": lambda x: x.copy_(x).unflatten(0, (2, -1)),
    "copied": lambda x: x.copy_(x + 1)[1:].view(-1, 1, x.shape[1]),
    "scattered": lambda x: x.select_scatter(x[0] + 1, 0, 1)[1:],
    "twice": lambda x: x.slice_scatter(x[2:] * 2, 0, 2).diagonal_scatter(x[:, 0] + 1)[:, 1:],
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", WRITTEN)
def test_views_of_what_is_written_keep_their_place(name, dynamic):
    compiled = torch.compile(WRITTEN[name], backend="fxjit", dynamic=dynamic)
    base = torch.arange(40.)
    for offset in (0, 4, 7):
        ours, theirs = base.clone(), base.clone()
        sizes = (4, 5), (6, 1), offset
        got, expected = compiled(ours.as_strided(*sizes)), WRITTEN[name](theirs.as_strided(*sizes))
        same([got, ours], [expected, theirs])
        assert got.storage_offset() == expected.storage_offset()
        assert lies_in(got, ours) == lies_in(expected, theirs)


def test_results_behind_roll_lie_as_those_of_pytorch():
    def function(x):
        rolled = x.nan_to_num()[1:].roll(1, -1)
        return rolled, rolled + 1
    x = torch.randn(3, 3, 4, 4).contiguous(memory_format=torch.channels_last)
    same(torch.compile(function, backend="fxjit")(x), function(x))
    same(fxjit.compile(Call(function).eval(), (x,))(x), function(x))


def test_strides_that_are_products_of_sizes():
    def function(x, y):
        clamped = x.clamp_(max=1)
        return torch.where(clamped > 0, clamped, y), clamped
    compiled = torch.compile(function, backend="fxjit", dynamic=True)
    for sizes in ((3, 4, 5, 2), (4, 3, 6, 2)):
        a, b, c, d = sizes
        base = torch.arange(200.)
        ours, theirs = base.clone(), base.clone()

        def views(t):
            turned = t.as_strided(sizes, (1, a, a * b * d, a * b), 1)  # noqa: B023
            return turned, t.as_strided((2,), (0,), 4)
        same([compiled(*views(ours)), ours], [function(*views(theirs)), theirs])


OVERLAPS = {
    "both written": lambda a, c: (a.add_(1), c.mul_(2)),
    "one written": lambda a, c: (a.add_(1), c * 2),
    "written by a view": lambda a, c: (a[3:].mul_(3), c),
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", OVERLAPS)
def test_overlapping_inputs_of_which_one_is_written(name, dynamic):
    function = OVERLAPS[name]
    compiled = torch.compile(function, backend="fxjit", dynamic=dynamic)
    for _ in range(2):
        base = torch.arange(10.)
        check(function, base, [base[:6], base[4:]], compiled)


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


def seen_after(write):
    def function(x):
        place = x.as_strided((2, 3), (3, 1), 1)
        write(x)
        return place + 1, x.as_strided((4,), (2,), 2) * 2, place.t()[1:] - 1
    return function


PLACE_WRITES = {"copy": lambda x: x.copy_(x * 2), "itself": lambda x: x.copy_(x),
                "add": lambda x: x.add_(1), "relu": lambda x: x.relu_(),
                "part": lambda x: x[1:].fill_(3.),
                "item": lambda x: x.__setitem__((slice(None), 1), 5.),
                "turned": lambda x: x.t().view(torch.int32).view(torch.float32).copy_(x.t() * 2),
                "place": lambda x: x.as_strided((2, 2), (1, 2)).fill_(9.)}


@pytest.mark.parametrize("name", PLACE_WRITES)
def test_places_of_written_inputs(name):
    function = seen_after(PLACE_WRITES[name])
    for compiled in (fxjit.compile(Call(function).eval(), (torch.randn(3, 4),)),
                     torch.compile(function, backend="fxjit"),
                     torch.compile(function, backend="fxjit", dynamic=True)):
        for sizes in (((3, 4), (4, 1), 4), ((3, 4), (8, 2), 3), ((3, 4), (1, 3), 0)):
            ours, theirs = torch.arange(40.), torch.arange(40.)
            same(compiled(ours.as_strided(*sizes)), function(theirs.as_strided(*sizes)))
            assert torch.equal(ours, theirs)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_places_that_are_written_alone(dynamic):
    def function(x):
        x.as_strided((2, 2), (1, 2)).fill_(9.)
        return x.sum()
    compiled = torch.compile(function, backend="fxjit", dynamic=dynamic)
    ours, theirs = torch.arange(40.), torch.arange(40.)
    same(compiled(ours[3:9].view(2, 3)), function(theirs[3:9].view(2, 3)))
    same(compiled(ours.as_strided((3, 4), (8, 2), 3)),
         function(theirs.as_strided((3, 4), (8, 2), 3)))
    assert torch.equal(ours, theirs)


ROW = torch.arange(-1., 3.)
# PyTorch refuses them, warns of them as deprecated, or (index_fill_) both by type.
OVERLAPPING = {
    "column": lambda e: e.__setitem__((slice(None), 1), 5.),
    "rows": lambda e: e.__setitem__(slice(1, None), 5.),
    "mask": lambda e: e.masked_fill_(torch.eye(3, 4) > 0, 5.),
    "masked source": lambda e: e.masked_scatter_(e > 0, torch.ones(12)),
    "places": lambda e: e.index_fill_(0, torch.tensor([0]), 5.),
    "tensor": lambda e: e.fill_(torch.tensor(5.)),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_writes_to_elements_that_share_a_place_are_refused(name):
    def function(x):
        rows = x.view(1, 4).expand(3, 4)
        OVERLAPPING[name](rows)
        return rows + 1
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        fxjit.compile(Call(function).eval(), (ROW,))(ROW.clone())


def test_numbers_are_written_to_elements_that_share_a_place():
    def function(x):
        rows = x.view(1, 4).expand(3, 4)
        rows[0, 1] = 7.
        rows[1].mul_(2)
        return rows + 1, x.clone(), x.view(1, 4).expand(3, 4).fill_(5.)
    same(fxjit.compile(Call(function).eval(), (ROW,))(ROW.clone()), function(ROW.clone()))


def doubled(x, count):
    for _ in range(count):
        x = x + x
        x = x * .5
    return x


def shared_softmax(x, count):
    for _ in range(count):
        x = torch.softmax(x + x, 1) + x
    return x


# What each level of a pass that calls itself would meet: chains, diamonds, views of views, writes.
DEEP = {
    "chain": lambda x: functools.reduce(lambda y, i: y + i % 3, range(2000), x),
    "diamonds": lambda x: doubled(x, 1000),
    "diamonds in rows": lambda x: shared_softmax(x, 100),
    "views": lambda x: functools.reduce(lambda y, _: y.t(), range(2000), x) + 1,
    "views between": lambda x: functools.reduce(lambda y, _: y.t() + 1, range(1000), x),
    "writes": lambda x: functools.reduce(lambda y, i: y.add_(i % 2), range(500), x + 1),
    "bytes": lambda x: functools.reduce(lambda y, i: y ^ i % 5, range(700), (x > 0).to(torch.uint8)),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_graphs(name):
    x = torch.randn(4, 4)
    model = fxjit.from_fx(torch.fx.symbolic_trace(DEEP[name]))
    same(model(x), DEEP[name](x))
    assert model.report().native
