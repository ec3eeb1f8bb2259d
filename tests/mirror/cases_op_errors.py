"""What torch says of operands that do not go together."""

import torch
import torch.nn.functional as F
from torch.fx import symbolic_trace

from mirror import case, fill


def ints(*sizes):
    return fill(sizes, dtype=torch.int64)


def bools(*sizes):
    return fill(sizes, dtype=torch.bool)


@case
def broadcast_errors(m):
    x, y = fill([2, 3]), fill([4])
    m.error(lambda: x + y)
    m.error(lambda: torch.mul(fill([5, 2, 3]), fill([4, 1, 3])))
    m.error(lambda: torch.sub(fill([5, 2, 3]), fill([4, 3, 3])))
    m.error(lambda: torch.maximum(y, x))
    m.error(lambda: x.eq(y))
    m.error(lambda: torch.where(x > 0, x, y))
    m.error(lambda: torch.where(bools(3), fill([4]), fill([5])))
    m.error(lambda: torch.lerp(x, y, 0.5))
    m.error(lambda: torch.addcmul(x, x, y))
    m.error(lambda: x.clamp(min=y))
    m.error(lambda: x.masked_fill(y > 0, 1.0))
    m.error(lambda: torch.broadcast_tensors(x, y))
    m.error(lambda: F.mse_loss(x, y))
    m.error(lambda: F.binary_cross_entropy(x, y))


@case
def broadcast_errors_in_place(m):
    m.error(lambda: fill([3]).add_(fill([2, 3])))
    m.error(lambda: fill([3]).add_(fill([4])))
    m.error(lambda: fill([3]).copy_(fill([4])))
    m.error(lambda: fill([1]).copy_(fill([4])))
    m.error(lambda: fill([3]).masked_fill_(bools(2, 3), 0.0))
    m.error(lambda: ints(3).add_(0.5))
    m.error(lambda: ints(3).div_(2))
    m.error(lambda: bools(3).add_(1))


@case
def expanding_errors(m):
    x = fill([2, 3])
    m.error(lambda: x.expand(2, 4))
    m.error(lambda: x.expand(3))
    m.error(lambda: ints(2, 3).expand(3))
    m.error(lambda: fill([3]).expand(-1, 3))
    m.error(lambda: torch.broadcast_to(fill([3]), (2, 4)))
    m.error(lambda: x.view(4))
    m.error(lambda: x.view(-1, 4))
    m.error(lambda: x.view(-1, -1))
    m.error(lambda: x.t().view(6))
    m.error(lambda: x.reshape(5))
    m.error(lambda: torch.cat([x, fill([2, 4])]))
    m.error(lambda: torch.cat([x, fill([3])]))
    m.error(lambda: torch.stack([x, fill([2, 4])]))
    m.error(lambda: x.transpose(0, 2))
    m.error(lambda: x.permute(0, 0))
    m.error(lambda: fill([4]).narrow(0, 5, 1))
    m.error(lambda: fill([4]).split([1, 2]))


@case
def product_errors(m):
    x = fill([2, 3])
    m.error(lambda: x @ fill([4, 5]))
    m.error(lambda: torch.matmul(fill([3]), fill([4])))
    m.error(lambda: torch.matmul(fill([2, 2, 3]), fill([3, 3, 5])))
    m.error(lambda: torch.bmm(fill([2, 2, 3]), fill([2, 4, 5])))
    m.error(lambda: torch.addmm(fill([4]), x, fill([3, 5])))
    m.error(lambda: torch.mv(x, fill([4])))
    m.error(lambda: x @ ints(3, 2))
    m.error(lambda: F.linear(x, fill([5, 4])))
    m.error(lambda: F.linear(x, fill([5, 3]), fill([4])))
    m.error(lambda: F.embedding(fill([2]), fill([4, 3])))


@case
def type_errors(m):
    f, i, b = fill([2]), ints(2), bools(2)
    for call in (
        lambda: f & f, lambda: i | f, lambda: f ^ 1, lambda: ~f,
        lambda: f.double() << 1, lambda: -b, lambda: b - b, lambda: b - 1,
        lambda: torch.div(b, b, rounding_mode="floor"), lambda: b // b,
        lambda: torch.remainder(b, b),
        lambda: torch.div(f, f, rounding_mode="x"), lambda: torch.pow(i, -1),
        lambda: torch.pow(b, b), lambda: F.gelu(i),
        lambda: F.gelu(f, approximate="x"), lambda: F.celu(f, 0.0),
        lambda: F.elu(i), lambda: F.selu(i), lambda: F.silu(i),
        lambda: F.softplus(i), lambda: F.leaky_relu(i), lambda: F.hardswish(i),
        lambda: F.hardsigmoid(i), lambda: F.mish(i), lambda: F.logsigmoid(i),
        lambda: F.hardshrink(i), lambda: F.softshrink(i), lambda: torch.frac(i),
        lambda: f.clamp(),
        lambda: torch.addcdiv(i, i, i), lambda: torch.where(f, f, f),
        lambda: f.masked_fill(i, 1), lambda: f.masked_fill(b, f),
        lambda: torch.softmax(i, 0), lambda: torch.log_softmax(i, 0),
        lambda: torch.softmax(ints(2, 2), 0), lambda: i.to(torch.int32).exp_(),
    ):
        m.error(call)


@case
def errors_of_runs(m):
    gm = symbolic_trace(lambda x, y: torch.relu(x + y))
    m.error(lambda: gm(fill([2, 3]), fill([4])))
    m.error(
        lambda: torch.fx.Interpreter(gm).run(fill([2, 3]), fill([4])),
        until="\nOriginal traceback",
    )
