"""What depends on weights alone and is large is made once, not by calls: beside PyTorch."""

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


class Standardised(nn.Linear):
    """A linear layer whose weights, 2 MiB, have no mean and a variance of one in each row."""

    def forward(self, x):
        return F.linear(x, F.layer_norm(self.weight, (self.in_features,)), self.bias).relu()


class Widened(nn.Module):
    """Weights that are larger in the type that is computed in."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-9, 9, (1024, 1024), dtype=torch.int8))

    def forward(self, x):
        return (self.weight.float() * x).sum(1)


def steps_of(compiled):
    return [line for line in str(compiled.report()).splitlines() if "<-" in line]


def test_calls_have_the_product_alone():
    torch.manual_seed(0)
    module, x = Standardised(512, 1024).eval(), torch.randn(3, 512)
    compiled = fxjit.compile(module, (x,))
    torch.testing.assert_close(compiled(x), module(x), rtol=1e-5, atol=1e-3)
    steps = steps_of(compiled)
    assert len(steps) == 1 and "matmul+add+relu" in steps[0], steps


def test_not_what_is_larger_than_its_sources():
    torch.manual_seed(0)
    module, x = Widened().eval(), torch.randn(1024)
    compiled = fxjit.compile(module, (x,))
    torch.testing.assert_close(compiled(x), module(x), rtol=1e-5, atol=1e-3)
    assert "cast" in steps_of(compiled)[0]


class SeenAsBits(nn.Module):
    """The same calls on large weights that were computed, and on the bits of these."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(512, 1024))

    def forward(self, x):
        made = self.weight * 2  # Exact.
        return x + made.abs(), made.view(torch.int32).abs()


def test_weights_and_their_bits_are_told_apart():
    torch.manual_seed(0)
    module, x = SeenAsBits().eval(), torch.randn(1024)
    numbers, bits = fxjit.compile(module, (x,))(x)
    torch.testing.assert_close(numbers, module(x)[0])
    assert bits.dtype == torch.int32
    assert torch.equal(bits, module(x)[1])
