"""Concatenations of what a graph computes, whoever else reads their operands: beside PyTorch in
double precision."""

import random

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

# Of the largest number that a result has.
TOLERANCE = {torch.float32: 2e-5, torch.float16: 2e-2, torch.bfloat16: 8e-2}
LAYOUTS = {"dense": torch.contiguous_format, "channels last": torch.channels_last}
WIDTHS = [1, 3, 4, 8, 12, 16, 20, 33]


def layers_of(draw, width):
    """Layers that keep the places of an image of so many channels."""
    results = draw.choice(WIDTHS)
    return draw.choice([
        lambda: nn.Conv2d(width, results, 1),
        lambda: nn.Sequential(nn.Conv2d(width, results, 1), nn.SiLU()),
        lambda: nn.Sequential(nn.Conv2d(width, results, 3, padding=1), nn.ReLU()),
        lambda: nn.Conv2d(width, width * 2, 3, padding=1, groups=width),
        lambda: nn.Sequential(nn.Conv2d(width, width, 5, padding=2, groups=width), nn.Hardswish()),
        lambda: nn.Sequential(nn.BatchNorm2d(width), nn.ReLU()),
        lambda: nn.GroupNorm(1, width),
        lambda: nn.MaxPool2d(3, 1, 1),
        lambda: nn.AvgPool2d(3, 1, 1),
        lambda: nn.Softmax(1),
        lambda: nn.Softmax(3),
        lambda: nn.ConvTranspose2d(width, results, 3, padding=1),
        lambda: nn.Sequential(nn.Upsample(scale_factor=2), nn.AvgPool2d(2)),
        lambda: nn.GELU(),
    ])()


class Squeeze(nn.Module):
    """Scales an image by what its own channels say."""

    def __init__(self, width):
        super().__init__()
        self.scale = nn.Conv2d(width, width, 1)

    def forward(self, x):
        return x * self.scale(x.mean((2, 3), keepdim=True)).sigmoid()


class Grown(nn.Module):
    """A random graph: each value is a layer, sum, part or concatenation of values before it."""

    def __init__(self, draw, width):
        super().__init__()
        self.layers, self.plan, widths = nn.ModuleList(), [], [width]
        for _ in range(draw.choice([4, 8, 14])):
            widths.append(self.add(draw, widths))
        more = draw.sample(range(1, len(widths)), draw.choice([0, 1, 2]))
        self.kept = sorted({len(widths) - 1, *more})

    def add(self, draw, widths):
        last = len(widths) - 1
        of = draw.choice([last, last, draw.randrange(len(widths))])
        kind = draw.choice(["layer", "layer", "cat", "cat", "all", "sum", "part"])
        if kind == "layer":
            layer = draw.choice([layers_of, lambda _, width: Squeeze(width)])(draw, widths[of])
            self.layers.append(layer.eval())
            self.plan.append((kind, len(self.layers) - 1, of))
            return layer.eval()(torch.randn(1, widths[of], 4, 4)).shape[1]
        if kind in ("cat", "all"):
            several = [draw.randrange(len(widths)) for _ in range(draw.choice([1, 2, 2, 3]))]
            several.append(last)
            several = list(range(1, len(widths))) if kind == "all" and last > 1 else several
            self.plan.append(("cat", several, draw.choice([1, -3])))
            return sum(widths[i] for i in several)
        if kind == "sum":
            like = draw.choice([i for i in range(len(widths)) if widths[i] == widths[of]])
            self.plan.append((kind, of, like))
            return widths[of]
        start = draw.randrange(widths[of])
        size = draw.randint(1, widths[of] - start)
        self.plan.append((kind, of, start, size))
        return size

    def forward(self, x):
        values = [x]
        for kind, *rest in self.plan:
            if kind == "layer":
                values.append(self.layers[rest[0]](values[rest[1]]))
            elif kind == "cat":
                values.append(torch.cat([values[i] for i in rest[0]], rest[1]))
            elif kind == "sum":
                values.append(values[rest[0]] + values[rest[1]])
            else:
                values.append(values[rest[0]].narrow(1, *rest[1:]))
        return tuple(values[i] for i in self.kept)


def expect_near(got, wanted, dtype, what):
    assert got.dtype == dtype and got.shape == wanted.shape, what
    assert torch.equal(got.isnan(), wanted.isnan()), what
    largest = max(1., float(wanted.nan_to_num().abs().max())) if wanted.numel() else 1.
    error = float((got.double() - wanted).nan_to_num().abs().max()) if wanted.numel() else 0.
    assert error <= TOLERANCE[dtype] * largest, (what, error)


def expect_as_in_double(module, inputs, dtype, compiled):
    images = [(list(x.shape), x.stride()) for x in inputs]
    what = f"{module} {getattr(module, 'plan', '')} of {images}"
    got = compiled(*inputs)
    with torch.no_grad():
        wanted = module.double()(*(x.double() for x in inputs))
    module.to(dtype)
    assert len(got) == len(wanted), what
    for one, other in zip(got, wanted):
        expect_near(one, other, dtype, what)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("part", range(4))
def test_random_graphs(dtype, part):
    draw = random.Random(f"{dtype} {part}")
    torch.manual_seed(part)
    for case in range(4 if dtype == torch.float32 else 2):
        width = draw.choice(WIDTHS)
        module = Grown(draw, width).to(dtype).eval()
        x = torch.randn(draw.choice([1, 1, 2, 3]), width, draw.choice([1, 5, 9]),
                        draw.choice([4, 7, 16]))
        x = x.to(dtype).contiguous(memory_format=LAYOUTS[draw.choice(list(LAYOUTS))])
        with torch.no_grad():
            compiled = fxjit.compile(module, (x,), threads=1 + (case + part) % 2)
        expect_as_in_double(module, (x,), dtype, compiled)


class Along(nn.Module):
    """Two products and a softmax side by side along any dim, stacked, and of several types."""

    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, y):
        a, b = self.first(x), self.second(y).relu()
        c = (x * 2 + y).softmax(-1)
        joined = [torch.cat([a, b, c], dim) for dim in range(-x.dim(), 0)]
        empty = x.new_empty(0)
        return [*(whole + 1 for whole in joined), torch.stack([a * 3, b, c - 1], 1).exp(),
                torch.cat([c.half(), b * 2], -1).float() * 2,
                torch.cat([empty, b - 3, a * a], 0) * 2,
                torch.cat([self.first(c), torch.ones_like(c), c], -1).sum(-1),
                torch.cat([torch.cat([x.sin(), y.cos()], 1),
                           torch.cat([b.exp(), y.tanh()], 1)], 0) * 2,
                torch.cat([(x > y), (x < y)], -1).logical_not().float()]


@pytest.mark.parametrize(
    "shape", [(6, 24), (2, 5, 16), (2, 3, 4, 8), (1, 1, 1), (3, 0, 8), (2, 3, 33)])
def test_along_any_dim(shape):
    torch.manual_seed(1)
    module = Along(shape[-1]).eval()
    x, y = torch.randn(shape), torch.randn(shape)
    if x.numel():
        x[(0,) * len(shape)], y[(-1,) * len(shape)] = float("nan"), float("inf")
    for threads in [1, 2]:
        with torch.no_grad():
            got = fxjit.compile(module, (x, y), threads=threads)(x, y)
            wanted = module(x, y)
        for i, (one, other) in enumerate(zip(got, wanted)):
            assert one.dtype == other.dtype and one.shape == other.shape
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4, equal_nan=True, msg=f"{i}")


class Kept(nn.Module):
    """Results that are operands of another result."""

    def forward(self, x):
        first, second = x.exp(), x.tanh()
        return first, torch.cat([first, second], 1), second


def test_results_have_memory_of_their_own():
    x = torch.randn(1, 16, 3, 4)
    got = fxjit.compile(Kept().eval(), (x,), threads=1)(x)
    wanted = [one.clone() for one in got]
    for i, one in enumerate(got):
        one.zero_()
        for k in range(i + 1, len(got)):
            assert torch.equal(got[k], wanted[k]), (i, k)


class Attended(nn.Module):
    """A step of generation: what is kept grows by the token's own."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(width, 3 * width)

    def forward(self, x, keys, values):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, -1))
        keys, values = torch.cat([keys, k * 2], 2), torch.cat([values, v], 2)
        mixed = F.scaled_dot_product_attention(q, keys, values)
        return mixed.transpose(1, 2).flatten(2), keys, values


def test_sizes_that_change():
    torch.manual_seed(2)
    attended, grown = Attended(32, 4).eval(), Grown(random.Random(11), 8).eval()
    torch._dynamo.reset()
    by_sizes = [torch.compile(module, backend="fxjit", dynamic=True)
                for module in (attended, grown)]
    for tokens, kept, side in [(1, 3, 5), (2, 0, 8), (7, 4, 9), (1, 16, 12), (3, 9, 31)]:
        inputs = (torch.randn(2, tokens, 32), torch.randn(2, 4, kept, 8), torch.randn(2, 4, kept, 8))
        with torch.no_grad():
            expect_as_in_double(attended, inputs, torch.float32, by_sizes[0])
            expect_as_in_double(grown, (torch.randn(1, 8, side, 6),), torch.float32, by_sizes[1])
