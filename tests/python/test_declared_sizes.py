"""Sizes with declared names: dynamic_shapes of load and from_fx, and Dynamo's symbols."""

import copy

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from torch.export import Dim  # noqa: E402

from fxjit import torch_backend  # noqa: E402


def mixed(x, mask):
    y = torch.nn.functional.gelu(x) * mask.unsqueeze(-1)
    return y.mean(1) + x.shape[1]


def same(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


def inputs(batch, length):
    return torch.randn(batch, length, 8), torch.rand(batch, length)


def named_model(shapes):
    return fxjit.from_fx(torch.fx.symbolic_trace(mixed), dynamic_shapes=shapes, threads=1)


@pytest.mark.parametrize("shapes", [
    {"x": {0: Dim("batch"), 1: Dim("length", min=2, max=64)},
     "mask": {0: Dim("batch"), 1: Dim("length", min=2, max=64)}},
    (("batch", "length", None), ["batch", "length"]),
    ({0: Dim.AUTO, 1: Dim.DYNAMIC, 2: Dim.STATIC}, (Dim.AUTO, Dim.AUTO)),
])
def test_names_are_there_in_the_first_call(shapes):
    model = named_model(shapes)
    for batch, length in ((3, 9), (5, 12), (7, 33)):
        given = inputs(batch, length)
        same(model(*given), mixed(*given))
        assert len(model.report().kinds) == 1
    kind = model.report().kinds[0]
    assert [size["least"] for size in kind["sizes"]] == [2, 2]
    assert not any(guard["specialises"] for guard in kind["guards"])


def test_sizes_outside_of_their_range_are_refused():
    model = named_model({"x": {1: Dim("length", min=2, max=64)}})
    with pytest.raises(RuntimeError, match=r"input x, dim 1 \(length\).*2\.\.64, got 65"):
        model(*inputs(3, 65))


def test_sizes_of_one_name_are_equal():
    model = named_model({"x": {1: "length"}, "mask": {1: "length"}})
    with pytest.raises(RuntimeError, match=r"input mask, dim 1 \(length\).*of 7.*got 1"):
        model(torch.randn(3, 7, 8), torch.rand(3, 1))


@pytest.mark.parametrize("shapes, error", [
    ({"z": {0: "n"}}, ValueError), ({"x": {-1: "n"}}, ValueError), ((1, 2, 3), ValueError),
    ({"x": {0: 1.5}}, TypeError), ({"x": {0: Dim("n", min=4, max=8)}, "mask": {0: Dim("n", min=9)}},
                                   fxjit.UserError)])
def test_declarations_that_say_nothing_are_refused(shapes, error):
    with pytest.raises(error):
        named_model(shapes)


def test_exported_programs_have_the_names_of_their_symbols():
    class Mixed(torch.nn.Module):
        def forward(self, x, mask):
            return mixed(x, mask)

    length = Dim("length", min=2, max=64)
    model = fxjit.compile(Mixed().eval(), inputs(3, 9), threads=1,
                          dynamic_shapes=({1: length}, {1: length}))
    model(*inputs(3, 12))
    assert len(model.report().kinds) == 1
    assert model.report().kinds[0]["sizes"][0]["most"] == 64
    again = copy.deepcopy(model)
    again(*inputs(3, 10))
    assert len(again.report().kinds) == 1


def test_dynamo_tells_its_symbols():
    torch.compiler.reset()
    before = set(torch_backend.compiled_graphs())
    fast = torch.compile(mixed, backend="fxjit", dynamic=True)
    for batch, length in ((3, 9), (5, 12), (4, 4)):
        given = inputs(batch, length)
        with torch.no_grad():
            same(fast(*given), mixed(*given))
    made = [one for one in torch_backend.compiled_graphs() if one not in before]
    assert sum(len(one.model.report().kinds) for one in made) == 1


class Compared(torch.nn.Module):
    """The greater and the lesser of two sizes."""

    def forward(self, x, y):
        n, m = x.shape[0], y.shape[0]
        most, least = torch.sym_max(n, m), torch.sym_min(n, m)
        total = n + m + 3
        return (torch.ones(most, 2) * 2, torch.ones(least), x.sum() * total,
                y * torch.sym_max(most, 4))


PAIRS = ((5, 9), (9, 5), (12, 3), (3, 12), (6, 7), (7, 6), (40, 41))


def check_compared(call, reports):
    model = Compared()
    for n, m in PAIRS:
        given = torch.randn(n, 4), torch.randn(m, 4)
        for got, expected in zip(call(*given), model(*given), strict=True):
            same(got, expected)
    kinds = [kind for report in reports() for kind in report.kinds]
    assert 1 <= len(kinds) <= 4
    assert not any(guard["specialises"] for kind in kinds for guard in kind["guards"])


def test_the_greater_of_two_sizes_by_torch_compile():
    torch.compiler.reset()
    before = set(torch_backend.compiled_graphs())
    fast = torch.compile(Compared(), backend="fxjit", dynamic=True, fullgraph=True)
    check_compared(fast, lambda: [one.model.report() for one in torch_backend.compiled_graphs()
                                  if one not in before])


def test_the_greater_of_two_sizes_in_an_exported_program(tmp_path):
    shapes = ({0: Dim("n", min=2, max=64)}, {0: Dim("m", min=2, max=64)})
    program = torch.export.export(Compared(), (torch.randn(5, 4), torch.randn(9, 4)),
                                  dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "compared.pt2")
    model = fxjit.load(str(tmp_path / "compared.pt2"), threads=1)
    check_compared(model, lambda: [model.report()])


@pytest.mark.parametrize("function", [
    lambda x, mask: torch.nn.functional.pad(x, (0, 0, 2, 1)) * 2,
    lambda x, mask: torch.nn.functional.pad(mask, (1, 1, 2, 0), value=0.5),
    lambda x, mask: torch.cat([mask.new_full((1, mask.shape[1]), 3.), mask * 2]),
    lambda x, mask: mask.new_zeros(mask.shape[1], 2) + mask[0].unsqueeze(-1),
], ids=["pad", "pad both", "new_full", "new_zeros"])
def test_tensors_that_calls_make_of_sizes_keep_the_names(function):
    class Calls(torch.nn.Module):
        def forward(self, x, mask):
            return function(x, mask)

    length = Dim("length", min=2)
    model = fxjit.compile(Calls().eval(), inputs(3, 9), threads=1,
                          dynamic_shapes=({1: length}, {1: length}))
    for size in (9, 12, 5):
        args = inputs(3, size)
        same(model(*args), function(*args))
    assert len(model.report().kinds) == 1
    assert not any(guard["specialises"] for guard in model.report().kinds[0]["guards"])
