"""Inputs that are written, and views of them: where results lie, and what the writes change."""

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from places import Call, check, lies_in, same  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


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
