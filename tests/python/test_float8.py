"""torch's real numbers of 8 bits: in and out, cast as torch casts, moved, and as weights."""

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")

TYPES = [torch.float8_e4m3fn, torch.float8_e5m2]
OTHERS = [torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
REALS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
# Numbers, ties between them, and what is beyond the greatest.
EDGES = [0.0, -0.0, 1.0, 1.0625, 1.1875, 1.125, -1.375, 447.0, 448.0, 449.0, 464.0, 465.0, 480.0,
         57344.0, 61439.0, 61440.0, 65504.0, 2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 2.0**-16, 2.0**-17,
         1.5 * 2.0**-17, -3.0 * 2.0**-18, float("inf"), -float("inf"), float("nan")]


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def check(function, *arguments):
    """Equal bits; NaN of any sign is NaN."""
    got = torch.compile(function, backend="fxjit", fullgraph=True)(*arguments)
    expected = function(*arguments)
    for ours, theirs in zip(got, expected, strict=True):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        ours, theirs = ours.to(torch.float64), theirs.to(torch.float64)
        assert torch.equal(ours.isnan(), theirs.isnan())
        ours, theirs = ours.nan_to_num(0.125), theirs.nan_to_num(0.125)
        assert torch.equal(ours, theirs) and torch.equal(ours.signbit(), theirs.signbit())


@pytest.mark.parametrize("real", REALS, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_casts_to(dtype, real):
    x = torch.cat([torch.tensor(EDGES), 50 * torch.randn(1000), torch.randn(1000) / 500]).to(real)
    check(lambda x: (x.to(dtype), x.to(dtype).to(torch.float32)), x)


@pytest.mark.parametrize("real", REALS, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_casts_from(dtype, real):
    codes = torch.arange(256, dtype=torch.uint8).view(dtype)
    check(lambda x: (x.to(real), x.to(real) * 2), codes)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_moves(dtype):
    x = torch.randn(4, 6).to(dtype)
    index = torch.tensor([3, 0, 3])
    check(lambda x, i: (x.t().contiguous(), torch.cat([x, x], 1), x.reshape(3, 8), x[i], x[1:, ::2],
                        torch.where(x.to(torch.float32) > 0, x, x.flip(0)), x.clone()), x, index)


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_weights(dtype, rows):
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", (torch.randn(96, 130) / 4).to(dtype))
            self.register_buffer("scale", torch.rand(96, 1) + 0.5)

        def forward(self, x):
            return x @ (self.weight.to(x.dtype) * self.scale).t()

    layer, x = Layer(), torch.randn(rows, 130)
    got = torch.compile(layer, backend="fxjit")(x)
    wide = layer.weight.to(torch.float64) * layer.scale
    torch.testing.assert_close(got.double(), x.double() @ wide.t(), rtol=0, atol=2e-5)


def test_exported_programs(tmp_path):
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.randn(8, 5).to(torch.float8_e4m3fn))

        def forward(self, x):
            return (x.to(torch.float8_e5m2).to(torch.float32) @ self.weight.to(torch.float32)
                    ).to(torch.float8_e4m3fn)

    layer, x = Layer(), torch.randn(3, 8)
    torch.export.save(torch.export.export(layer, (x,)), tmp_path / "model.pt2")
    got = fxjit.load(tmp_path / "model.pt2")(x)
    assert got.dtype == torch.float8_e4m3fn
    assert torch.equal(got.view(torch.uint8), layer(x).view(torch.uint8))


@pytest.mark.parametrize("dtype", OTHERS, ids=str)
def test_others_are_refused_by_name(tmp_path, dtype):
    torch.export.save(torch.export.export(torch.nn.ReLU(), (torch.randn(3),)),
                      tmp_path / "model.pt2")
    model = fxjit.load(tmp_path / "model.pt2")
    with pytest.raises(TypeError, match=f"{str(dtype)[6:]}, which fxjit lacks"):
        model(torch.zeros(3).to(dtype))
