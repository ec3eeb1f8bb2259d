"""Windows over images of random forms: beside PyTorch in double precision, in all types and layouts."""

import random

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from torch import nn  # noqa: E402

# Of the largest number that results have.
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float64: 1e-13}
LAST = {2: torch.channels_last, 3: torch.channels_last_3d}
CONV = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
TRANSPOSED = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
POOL = {"max": {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d},
        "average": {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d},
        "LP": {1: nn.LPPool1d, 2: nn.LPPool2d},
        "adaptive max": {1: nn.AdaptiveMaxPool1d, 2: nn.AdaptiveMaxPool2d, 3: nn.AdaptiveMaxPool3d},
        "adaptive average": {1: nn.AdaptiveAvgPool1d, 2: nn.AdaptiveAvgPool2d,
                             3: nn.AdaptiveAvgPool3d}}


def several(draw, dims, choices):
    return [draw.choice(choices) for _ in range(dims)]


def convolution(draw, dims, channels, groups, results):
    """Of so many channels and results of a group; some windows are larger than the padded image."""
    return CONV[dims](channels * groups, results * groups, several(draw, dims, [1, 2, 3, 3, 5, 7]),
                      several(draw, dims, [1, 1, 2, 3]), several(draw, dims, [0, 1, 3]),
                      several(draw, dims, [1, 1, 2]), groups, draw.random() < .7)


def depthwise(draw, dims):
    return convolution(draw, dims, 1, draw.choice([2, 3, 8, 16, 24, 37]), draw.choice([1, 1, 2, 3, 4]))


def grouped(draw, dims):
    return convolution(draw, dims, draw.choice([2, 3, 4, 6, 8, 17]), draw.choice([2, 3, 5, 8]),
                       draw.choice([1, 3, 4, 8, 16]))


def dense(draw, dims):
    return convolution(draw, dims, draw.choice([1, 3, 8, 16, 24, 33]), 1,
                       draw.choice([1, 3, 8, 12, 16, 40]))


def transposed(draw, dims):
    groups = draw.choice([1, 1, 2, 6])
    stride, dilation = several(draw, dims, [1, 2, 2, 3]), several(draw, dims, [1, 1, 2])
    more = [draw.choice([0, max(s, d) - 1]) for s, d in zip(stride, dilation)]
    return TRANSPOSED[dims](draw.choice([1, 3, 8, 20]) * groups, draw.choice([1, 2, 5, 16]) * groups,
                            several(draw, dims, [1, 2, 3, 4, 5]), stride,
                            several(draw, dims, [0, 0, 1]), more, groups, draw.random() < .7, dilation)


def maximum_with_places(draw, dims):
    taps = several(draw, dims, [1, 2, 3, 5])
    return POOL["max"][dims](taps, several(draw, dims, [1, 2, 2, 3]),
                             [draw.choice([0, tap // 2]) for tap in taps],
                             several(draw, dims, [1, 1, 2]), return_indices=True,
                             ceil_mode=draw.random() < .4)


def pool(draw, dims):
    kind = draw.choice([kind for kind in POOL if dims in POOL[kind]])
    if kind.startswith("adaptive"):
        return POOL[kind][dims](draw.choice([1, 2, 5]))
    taps = several(draw, dims, [1, 2, 3, 5])
    if kind == "LP":
        return POOL[kind][dims](draw.choice([1., 2.]), taps[0], draw.choice([None, 1, 2]))
    pads = [draw.choice([0, tap // 2]) for tap in taps]
    options = {"ceil_mode": draw.random() < .4}
    if kind == "average":
        options["count_include_pad"] = draw.random() < .5
    elif draw.random() < .4:
        options["dilation"] = 2
    return POOL[kind][dims](taps, several(draw, dims, [1, 2, 2, 3]), pads, **options)


KINDS = [depthwise, grouped, dense, transposed, pool]
EPILOGUES = [nn.Identity, nn.ReLU, nn.SiLU]


def image(draw, module, dims, dtype):
    channels = getattr(module, "in_channels", None) or draw.choice([1, 3, 8, 13, 16])
    sizes = [draw.choice([1, 4, 7, 8, 12, 17, 33] if dims < 3 else [1, 4, 7, 9]) for _ in range(dims)]
    images = draw.choice([1, 1, 2, 0] if draw.random() < .3 else [1, 2])
    layout = draw.choice(["dense", "dense", "channels last", "part"])
    x = torch.randn(images, channels, *sizes)
    if layout == "channels last" and dims in LAST:
        x = x.contiguous(memory_format=LAST[dims])
    if layout == "part":
        whole = torch.randn(images, channels + 2, *sizes[:-1], sizes[-1] + 3)
        x = whole[:, 1:-1, ..., 1:-2]
    return x.to(dtype)


SPECIAL = [float("inf"), float("-inf"), float("nan")]


def make_special(draw, x):
    """One number in the middle is not finite."""
    if x.numel() > 0:
        x[tuple(size // 2 for size in x.shape)] = draw.choice(SPECIAL)


def make_alike(draw, x):
    """Of few numbers, so that windows have their greatest one more than once; some are not finite."""
    x.mul_(2).round_()
    for _ in range(draw.choice([0, 2, 8]) if x.numel() > 0 else 0):
        x[tuple(draw.randrange(size) for size in x.shape)] = draw.choice(SPECIAL)


def expect_equal(got, wanted, dtype, what):
    assert got.dtype == dtype and got.shape == wanted.shape, what
    got = got.double()
    assert torch.equal(got.isfinite(), wanted.isfinite()), what
    finite = wanted.isfinite()
    assert torch.equal(got[~finite].isnan(), wanted[~finite].isnan()), what
    largest = max(1., float(wanted[finite].abs().max())) if finite.any() else 1.
    error = float((got - wanted)[finite].abs().max()) if finite.any() else 0.
    assert error <= TOLERANCE[dtype] * largest, (what, error)


def refused(kind, module, x, what):
    if kind is transposed:  # Some of PyTorch's kernels refuse results without places.
        assert fxjit.compile(module, (x,), threads=1)(x).numel() == 0, what
        return
    with pytest.raises((RuntimeError, ValueError)):
        fxjit.compile(module, (x,), threads=1)(x)


class SideBySide(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, *images):
        return [layer(x) for layer, x in zip(self.layers, images)]


def results(layers, images):
    """What each layer makes of its image: compiled together, on one thread and on two."""
    for threads in [1, 2]:
        got = fxjit.compile(SideBySide(layers).eval(), tuple(images), threads=threads)(*images)
        yield from zip(range(len(layers)), got)


def text_of(module, x):
    return f"{module} of {list(x.shape)}, strides {x.stride()}, {x.dtype}"


def drawn(draw, kind, dims, dtype):
    """A layer, an image and its result in double; none where PyTorch refuses them."""
    module = nn.Sequential(kind(draw, dims), draw.choice(EPILOGUES)()).to(dtype).eval()
    x = image(draw, module[0], dims, dtype)
    # Winograd's transforms spread what is not finite over tiles (docs/limits.md).
    if kind in (depthwise, pool) and draw.random() < .4:
        make_special(draw, x)
    try:
        with torch.no_grad():
            wanted = nn.Sequential(*module).double()(x.double())
    except RuntimeError:  # Windows that are larger than the padded image, for one.
        refused(kind, module.to(dtype), x, text_of(module, x))
        return []
    return [(module.to(dtype), x, wanted)]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kind", KINDS)
def test_as_pytorch_does_in_double(kind, dtype):
    draw = random.Random(f"{kind.__name__} {dtype}")
    torch.manual_seed(0)
    cases = [case for dims in [1, 2, 2, 3] * 3 for case in drawn(draw, kind, dims, dtype)]
    layers, images, wanted = zip(*cases)
    for i, got in results(layers, images):
        expect_equal(got, wanted[i], dtype, text_of(layers[i], images[i]))


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_places_of_maxima(dtype):
    draw = random.Random(f"places {dtype}")
    torch.manual_seed(0)
    layers, images, wanted = [], [], []
    for dims in [1, 2, 2, 3] * 4:
        layer = maximum_with_places(draw, dims).eval()
        x = image(draw, layer, dims, dtype)
        make_alike(draw, x)
        try:
            wanted.append(layer(x.double()))
        except RuntimeError:
            refused(maximum_with_places, layer, x, text_of(layer, x))
            continue
        layers.append(layer), images.append(x)
    assert sum(places.numel() for _, places in wanted) > 1000
    for i, (values, places) in results(layers, images):
        what = text_of(layers[i], images[i])
        assert values.dtype == dtype and torch.equal(places, wanted[i][1]), what
        values, largest = values.double(), wanted[i][0]
        assert torch.equal(values.nan_to_num(.25), largest.nan_to_num(.25)), what
