"""What branches and loops compute."""

import torch
import torch.nn.functional as F
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops.map import map as map_slices

from torch.fx.experimental.proxy_tensor import make_fx

from mirror import case, fill

ZERO = torch.tensor(0)


def runs(m, f, *inputs):
    """The numbers that torch computes by the graph of `f`."""
    m.outputs(make_fx(f)(*inputs), *inputs)


@case
def branch_in_a_loop(m):
    def f(n, x):
        def step(i, x):
            y = torch.cond(
                i % 2 == 0, lambda x: x + 1, lambda x: x * 0.5, (x,)
            )
            return i + 1, y

        return while_loop(lambda i, x: i < n, step, (ZERO, x))[1]

    for n in 0, 1, 6, 7:
        runs(m, f, torch.tensor(n), fill([2, 3]))


@case
def loop_in_a_branch(m):
    def f(p, x):
        def halve(x):
            return while_loop(
                lambda x: x.abs().sum() > 1, lambda x: (x * 0.5,), (x,)
            )[0]

        return torch.cond(p, halve, lambda x: -x, (x,))

    runs(m, f, torch.tensor(True), fill([3, 3]) * 8)
    runs(m, f, torch.tensor(False), fill([3, 3]) * 8)


@case
def states_that_change_places(m):
    def f(n, a, b):
        return while_loop(
            lambda i, a, b: i < n,
            lambda i, a, b: (i + 1, b.clone(), a + b),
            (ZERO, a, b),
        )

    for n in 0, 1, 2, 9:
        runs(m, f, torch.tensor(n), fill([5]), fill([5], 1))


@case
def states_that_stay(m):
    def f(a, b):
        return while_loop(
            lambda a, b: a.sum() < 20,
            lambda a, b: (a + b, b.clone()),
            (a, b),
        )

    runs(m, f, fill([5]), fill([5], 1).abs() + 1)


@case
def layers_in_a_loop(m):
    def f(n, x, w, b):
        return while_loop(
            lambda i, x: i < n,
            lambda i, x: (i + 1, F.relu(F.linear(x, w, b)) * 0.5),
            (ZERO, x),
        )[1]

    inputs = fill([4, 8]), fill([8, 8], 1), fill([8], 2)
    for n in 0, 1, 5:
        runs(m, f, torch.tensor(n), *inputs)


@case
def numbers_that_are_none(m):
    def f(x):
        y = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))
        return while_loop(
            lambda i, x: i < 2, lambda i, x: (i + 1, x.exp()), (ZERO, y)
        )[1]

    nan, inf = float("nan"), float("inf")
    runs(m, f, torch.tensor([1.0, nan, -1.0]))
    runs(m, f, torch.tensor([1.0, inf, -3.0]))
    runs(m, f, torch.tensor([1.0, -inf, -0.0]))


@case
def operands_without_elements(m):
    def f(x, c):
        y = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))
        z = while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, x + 1), (ZERO, y)
        )[1]
        return (z, *scan(lambda c, x: (c + x.sum(), x * 2), c, y))

    runs(m, f, fill([3, 0]), torch.tensor(1.0))
    runs(m, f, fill([3, 2]), torch.tensor(1.0))


@case
def operands_of_any_strides(m):
    def f(x, c):
        x = x.t()
        y = torch.cond(
            x.sum() > 0, lambda x: x[:, ::2] + 1, lambda x: x[:, ::2] * 2, (x,)
        )
        z = while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, x * 2 + 1), (ZERO, x)
        )[1]
        return (y, z, *scan(lambda c, x: (c + x, c * x), c, x))

    runs(m, f, fill([4, 5]).abs(), fill([4], 1))
    runs(m, f, -fill([4, 5]).abs(), fill([4], 1))


@case
def several_stacks(m):
    def f(c, d, x, y):
        def step(carry, slices):
            c, d = carry
            x, y = slices
            return (c + x, d * 0.5), (c * y, x - d, y.sum())

        (c, d), stacks = scan(step, (c, d), (x, y))
        return (c, d, *stacks)

    inputs = fill([5]), fill([5], 1), fill([7, 5], 2), fill([7, 5], 3)
    runs(m, f, *inputs)


@case
def scans_back_along_another_dim(m):
    def f(c, x):
        return scan(lambda c, x: (c + x, c * x), c, x, dim=1, reverse=True)

    runs(m, f, fill([3]), fill([3, 4], 1))
    runs(m, f, fill([2]), fill([2, 9], 1))


@case
def products_of_slices(m):
    def f(x, w):
        return map_slices(lambda x, w: torch.tanh(x @ w), x, w)

    runs(m, f, fill([5, 3, 4]), fill([4, 2], 1))
    runs(m, f, fill([1, 6, 4]), fill([4, 2], 1))


@case
def running_maxima(m):
    def f(x):
        return associative_scan(
            lambda a, b: torch.maximum(a, b), x, 1, combine_mode="generic"
        )

    runs(m, f, fill([3, 7]))
    runs(m, f, fill([3, 1]))


@case
def other_types(m):
    def f(x, h):
        x = while_loop(lambda x: x.sum() < 100, lambda x: (x * 2 + 1,), (x,))[0]
        h = torch.cond(x[0] > 5, lambda h: h * 2, lambda h: h - 1, (h,))
        return x, h

    runs(m, f, fill([4], 1, torch.int64), fill([3], 0, torch.bfloat16))
    runs(m, f, fill([4], 1, torch.int32), fill([3], 0, torch.float64))
