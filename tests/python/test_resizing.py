"""Images to other sizes: beside PyTorch's eager functions, by all modes, layouts and types."""

import itertools
import random

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from torch.nn import functional as F  # noqa: E402

MODES = {3: ["nearest", "nearest-exact", "linear"],
         4: ["nearest", "nearest-exact", "bilinear", "bicubic"],
         5: ["nearest", "nearest-exact", "trilinear"]}
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}
LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


class Resized(torch.nn.Module):
    def __init__(self, post, options):
        super().__init__()
        self.post, self.options = post, options

    def forward(self, x):
        return self.post(F.interpolate(x, **self.options))


def options_of(mode, draw, sizes):
    options = {"mode": mode}
    if mode.endswith(("linear", "cubic")):
        options["align_corners"] = draw.random() < .5
    if draw.random() < .5:
        options["size"] = [draw.choice([1, 2, 4, 8, 9, 15, 16, 31]) for _ in sizes]
    else:
        options["scale_factor"] = draw.choice([2., 3., .5, 1.5, 4.])
        options["recompute_scale_factor"] = draw.random() < .5
    return options


def image(draw, rank, dtype):
    sizes = [draw.choice([2, 3, 5, 7, 8, 9, 16, 17]) for _ in range(rank - 2)]
    channels = draw.choice([1, 2, 3, 4, 5, 8, 12, 17])
    layout = draw.choice(["dense", "channels last", "part"])
    x = torch.randn(draw.choice([1, 2]), channels, *sizes)
    if layout == "channels last" and rank in LAST:
        x = x.contiguous(memory_format=LAST[rank])
    if layout == "part":
        x = torch.randn(2, channels + 2, *sizes[:-1], sizes[-1] + 3)[:, 1:-1, ..., 1:-2]
    if draw.random() < .3:
        x[(0,) * rank] = draw.choice([float("inf"), float("nan")])
    return x.to(dtype)


@pytest.mark.parametrize("rank, dtype", list(itertools.product(MODES, TOLERANCE)))
def test_as_pytorch_does(rank, dtype):
    draw = random.Random(f"{rank} {dtype}")
    torch.manual_seed(0)
    for mode in MODES[rank] * 3:
        x = image(draw, rank, dtype)
        options = options_of(mode, draw, x.shape[2:])
        post = draw.choice([lambda y: y, F.silu, lambda y: y * 2 + y.relu()])
        module = Resized(post, options).eval()
        wanted = module(x)
        got = fxjit.compile(module, (x,), threads=draw.choice([1, 2]))(x)
        assert got.dtype == wanted.dtype
        torch.testing.assert_close(got, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype],
                                   equal_nan=True, msg=f"{options} {tuple(x.shape)} {x.stride()}")


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("layout", ["planes", "channels last"])
def test_one_step_with_what_follows(mode, layout):
    x = torch.randn(1, 16, 12, 20)
    if layout == "channels last":
        x = x.contiguous(memory_format=torch.channels_last)
    module = Resized(lambda y: F.relu(y) + 1, {"scale_factor": 2., "mode": mode}).eval()
    compiled = fxjit.compile(module, (x,))
    torch.testing.assert_close(compiled(x), module(x))
    steps = [line for line in str(compiled.report()).splitlines() if "<-" in line]
    assert len(steps) == 1 and "resample+relu+add" in steps[0], steps
