"""Programs with the functions of torch.ao's pt2e, whose integers are those of PyTorch bit by bit."""

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
decomposed = pytest.importorskip("torch.ao.quantization.fx._decomposed")

U8 = (0, 255, torch.uint8)
I8 = (-128, 127, torch.int8)
WEIGHT = (-127, 127, torch.int8)


def by_tensor(x, scale, zero, limits=U8):
    return torch.ops.quantized_decomposed.quantize_per_tensor(x, scale, zero, *limits)


def real(q, scale, zero, limits=U8):
    return torch.ops.quantized_decomposed.dequantize_per_tensor(q, scale, zero, *limits)


def numbers(*sizes, least=-128, most=127, dtype=torch.int8):
    generator = torch.Generator().manual_seed(len(sizes))
    return torch.randint(least, most + 1, sizes, generator=generator, dtype=dtype)


class Linear(torch.nn.Module):
    """Linear layers between quantised tensors, of one scale and of one for each channel."""

    def __init__(self):
        super().__init__()
        self.register_buffer("first", numbers(24, 40, least=-127))
        self.register_buffer("second", numbers(10, 24, least=-127))
        self.register_buffer("scales", torch.linspace(0.001, 0.01, 10))
        self.register_buffer("zeros", torch.zeros(10, dtype=torch.int64))
        self.bias = torch.nn.Parameter(torch.linspace(-1, 1, 24))

    def forward(self, x):
        x = real(by_tensor(x, 0.0173, 119), 0.0173, 119)
        x = torch.nn.functional.linear(x, real(self.first, 0.0031, 0, WEIGHT), self.bias)
        x = real(by_tensor(x.relu(), 0.021, 0), 0.021, 0)
        weight = torch.ops.quantized_decomposed.dequantize_per_channel(
            self.second, self.scales, self.zeros, 0, *WEIGHT)
        return by_tensor(torch.nn.functional.linear(x, weight), 0.037, -5, I8)


class Image(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", numbers(8, 6, 3, 3, least=-127))
        self.register_buffer("scales", torch.linspace(0.001, 0.01, 8))
        self.register_buffer("zeros", torch.zeros(8, dtype=torch.int64))

    def forward(self, x):
        weight = torch.ops.quantized_decomposed.dequantize_per_channel(
            self.weight, self.scales, self.zeros, 0, *WEIGHT)
        x = real(by_tensor(x, 0.02, 128), 0.02, 128)
        x = torch.nn.functional.conv2d(x, weight, None, 1, 1).relu()
        return by_tensor(x, 0.04, 0)


class Channels(torch.nn.Module):
    def forward(self, x):
        scales = torch.tensor([0.1, 0.3, 0.7])
        zeros = torch.tensor([0, 3, -128])
        return torch.ops.quantized_decomposed.quantize_per_channel(x, scales, zeros, 1, *I8)


class Given(torch.nn.Module):
    """Scale and zero point are tensors of the call."""

    def forward(self, x, scale, zero):
        q = torch.ops.quantized_decomposed.quantize_per_tensor.tensor(x, scale, zero, *I8)
        return q, torch.ops.quantized_decomposed.dequantize_per_tensor.tensor(q, scale, zero, *I8)


class Dynamic(torch.nn.Module):
    """Scales of the call: of the whole tensor, and of each row."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", numbers(12, 40, least=-127))

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        scale, zero = ops.choose_qparams.tensor(x, 0, 255, 1e-7, torch.uint8)
        q = ops.quantize_per_tensor.tensor(x, scale, zero, *U8)
        x = ops.dequantize_per_tensor.tensor(q, scale, zero, *U8)
        symmetric = ops.choose_qparams_symmetric.tensor(x, *I8[:2], 1e-7, torch.int8)
        scales, zeros = ops.choose_qparams_per_token_asymmetric(x, torch.int8)
        rows = ops.quantize_per_token(x, scales, zeros, *I8)
        x = ops.dequantize_per_token(rows, scales, zeros, *I8, torch.float32)
        return *symmetric, q, rows, torch.nn.functional.linear(x, real(self.weight, 0.0031, 0, WEIGHT))


class Groups(torch.nn.Module):
    """A weight with a scale for every 32 numbers of the depth, as torchao writes it."""

    def __init__(self, columns=1100, depth=1024, zero=0):
        super().__init__()
        self.register_buffer("weight", numbers(columns, depth, least=-8, most=7))
        scales = torch.linspace(0.001, 0.01, columns * depth // 32)
        self.register_buffer("scales", scales.reshape(columns, depth // 32, 1))
        self.register_buffer("zeros", torch.full(self.scales.shape, zero, dtype=torch.int8))

    def forward(self, x):
        groups = self.weight.reshape(*self.scales.shape[:2], 32)
        weight = (groups.to(x.dtype) - self.zeros.to(x.dtype)) * self.scales
        return torch.nn.functional.linear(x, weight.reshape(self.weight.shape))


class Whole(torch.nn.Module):
    """Sums of integers, as torchao's layers with dynamic scales have them."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", numbers(40, 24))

    def forward(self, x):
        return torch._int_mm(x, self.weight)


def reals(*sizes):
    return torch.randn(sizes, generator=torch.Generator().manual_seed(7)) * 2


# Halves of scales are between two integers.
HALVES = torch.arange(-40, 41).reshape(27, 3) * 0.05
PROGRAMS = {
    "linear": (Linear, (reals(5, 40),)),
    "image": (Image, (reals(2, 6, 9, 9),)),
    "channels": (Channels, (HALVES,)),
    "dynamic": (Dynamic, (reals(5, 40),)),
    "given": (Given, (HALVES, torch.tensor(0.1, dtype=torch.float64), torch.tensor(-3))),
    "groups": (Groups, (reals(3, 1024),)),
    "whole": (Whole, (numbers(17, 40),)),
}


def expect_equal(got, expected):
    got, expected = (one if isinstance(one, tuple | list) else (one,) for one in (got, expected))
    for a, b in zip(got, expected, strict=True):
        a = torch.as_tensor(a)
        assert a.dtype == b.dtype
        if b.is_floating_point():
            torch.testing.assert_close(a, b)
            continue
        # Sums of PyTorch's floats are not exact: a result between two integers may be either.
        assert (a.to(torch.int64) - b.to(torch.int64)).abs().max() <= 1
        assert (a != b).sum() <= b.numel() // 100


@pytest.mark.parametrize("name", PROGRAMS)
def test_exported(tmp_path, name):
    module, inputs = PROGRAMS[name]
    torch.export.save(torch.export.export(module().eval(), inputs), tmp_path / "model.pt2")
    model = fxjit.load(tmp_path / "model.pt2")
    expect_equal(model(*inputs), module()(*inputs))
    assert model.report().native


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled(name):
    module, inputs = PROGRAMS[name]
    with torch.no_grad():
        compiled = torch.compile(module().eval(), backend="fxjit")
        expect_equal(compiled(*inputs), module()(*inputs))


def test_products_are_of_integers(tmp_path):
    inputs = PROGRAMS["linear"][1]
    torch.export.save(torch.export.export(Linear().eval(), inputs), tmp_path / "model.pt2")
    model = fxjit.load(tmp_path / "model.pt2")
    model(*inputs)
    products = [row for row in model.report().rows if "matmul" in row["label"]]
    assert len(products) == 2
    assert all("quantize" in row["label"] for row in products), products


@pytest.mark.parametrize("zero", [0, -3])
def test_weights_in_groups_are_made_once(tmp_path, zero):
    module, x = Groups(zero=zero).eval(), reals(3, 1024)
    torch.export.save(torch.export.export(module, (x,)), tmp_path / "model.pt2")
    model = fxjit.load(tmp_path / "model.pt2")
    expect_equal(model(x), module(x))
    assert len(model.report().rows) == 1
