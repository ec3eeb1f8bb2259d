"""Writes special_reference.txt: what PyTorch's eager functions give for special
numbers, in the format of make_reference.py.

Run with a Python that has torch 2.13:  python tests/ops/make_special_reference.py

Each pool holds 64 numbers: zeros, infinities, NaN, both ends of the type, small
and large numbers, and where functions turn. Ops of one argument have all of
them, ops of two all pairs of the first 16 and, in f32, some of the others.
"""

import os

import torch
import torch.nn.functional as F

import make_reference as made

INF = float('inf')
MOST = {'float32': 3.4028234663852886e38, 'float64': 1.7976931348623157e308,
        'float16': 65504.0, 'bfloat16': 3.3895313892515355e38}
FIRST = {'float32': 2.0**-126, 'float64': 2.0**-1022, 'float16': 2.0**-14,
         'bfloat16': 2.0**-126}
LEAST = {'float32': 2.0**-149, 'float64': 2.0**-1074, 'float16': 2.0**-24,
         'bfloat16': 2.0**-133}
# Beyond these exp overflows, and vanishes.
EXP = {'float32': (88.5, 89.5, -86.5, -104.5),
       'float64': (709.5, 710.5, -708.0, -746.0),
       'float16': (11.0, 11.25, -9.0, -18.0),
       'bfloat16': (88.5, 89.5, -86.5, -104.0)}


def numbers(name):
    most, first, least = MOST[name], FIRST[name], LEAST[name]
    pairs = [0.0, INF, 1.0, most, first, least, 0.5, 2.0]
    values = [sign * x for x in pairs for sign in (1, -1)][:15] + [float('nan')]
    step = torch.finfo(getattr(torch, name)).eps
    large = most**0.5
    values += [-2.0, most / 2, -most / 2, 2 * first, 3 * least, -5 * least,
               1 + step, 1 - step, -1 - step, large, -large, 2 * large,
               1 / large, -1 / large, *EXP[name], most / 8, -most / 8]
    values += [3.0, -3.0, 1.5, -1.5, 2.5, -2.5, 0.1, -0.1, 0.7, -0.7, 6.0, -6.0,
               10.0, -10.0, 20.0, 20.5, -20.0, 100.0, -100.0, 1e-3, -1e-3, 4.0,
               3.140625, -3.140625, 0.25, -0.25, 30.0, 1000.0]
    assert len(values) == 64, len(values)
    return values



UNARY = [(name, getattr(torch, name), ()) for name in (
    'neg positive abs sign reciprocal square sqrt rsqrt floor ceil round trunc '
    'frac exp exp2 expm1 log log2 log10 log1p erf erfc sin cos tan asin acos '
    'atan sinh cosh asinh acosh atanh relu sigmoid tanh logit sinc signbit '
    'isposinf isneginf deg2rad rad2deg nan_to_num isnan isinf isfinite '
    'logical_not').split()]
UNARY += [(name, getattr(F, name), ()) for name in (
    'relu6 hardsigmoid hardswish mish silu selu hardtanh leaky_relu elu celu '
    'softplus softsign tanhshrink hardshrink softshrink').split()]
UNARY += [('log_sigmoid', F.logsigmoid, ()), ('threshold', F.threshold, (0.5, 20.0)),
          ('special_entr', torch.special.entr, ()), ('clamp', torch.clamp, (-1.0, 2.0)),
          ('clamp_min', torch.clamp_min, (0.5,)), ('clamp_max', torch.clamp_max, (0.5,))]
UNARY += [(name, getattr(torch, name), (number,))
          for name, given in [('add', (0.0, -0.0, 1.5)), ('sub', (0.0, -0.0, 1.5)),
                              ('rsub', (0.0, -0.0, 1.5)), ('mul', (0.0, -1.0, 3.0)),
                              ('div', (0.0, 3.0, -3.0, 0.3, -7.0)),
                              ('remainder', (3.0, -3.0)), ('fmod', (3.0,)),
                              ('floor_divide', (3.0, -3.0)),
                              ('pow', (0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, 2.5))]
          for number in given]

BINARY = [(name, getattr(torch, name)) for name in (
    'add sub mul div minimum maximum fmax fmin floor_divide pow '
    'atan2 hypot logaddexp logaddexp2 xlogy copysign heaviside eq ne lt le gt '
    'ge').split()]


def main():
    made.lines.clear()
    made.refused.clear()
    for name in made.FLOATS:
        pool = torch.tensor(2 * numbers(name), dtype=torch.float64)
        pool = pool.to(getattr(torch, name))
        # A NaN with a sign would be another number to signbit.
        made.POOLS[name] = torch.where(pool.isnan(), pool.abs(), pool)
        made.lines.append('pool %s %s' % (name, made.encode(made.POOLS[name])))
    with torch.backends.mkldnn.flags(enabled=False):
        for op, fn, rest in UNARY + [('gelu', F.gelu, ())]:
            for dtype in made.FLOATS:
                made.case(op, fn, made.View(dtype, sizes=(64,)), *rest)
        for dtype in made.FLOATS:
            made.case('gelu', F.gelu, made.View(dtype, sizes=(64,)),
                      approximate='tanh')
    for dtype in made.FLOATS[:2]:  # From zero on: PyTorch's poles are finite.
        made.case('polygamma', lambda x, n: torch.polygamma(n, x),
                  made.View(dtype, 0, (7,), (2,)), 1)
    # PyTorch's vectors have NaN where x / y overflows.
    for op, fn in [('fmod', torch.fmod), ('remainder', torch.remainder)]:
        for dtype in made.FLOATS:
            made.case(op, fn, made.View(dtype, 0, (16, 1)),
                      made.View(dtype, 0, (8,)))
    for op, fn in BINARY:
        for dtype in made.FLOATS:
            made.case(op, fn, made.View(dtype, 0, (16, 1)),
                      made.View(dtype, 0, (16,)))
        for place in (1, 9, 26):
            made.case(op, fn, made.View('float32', 0, (64,)),
                      made.View('float32', place, (64,)))
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, 'special_reference.txt'), 'w') as out:
        out.write('\n'.join(made.lines) + '\n')
    print('%d lines, refused: %s' % (len(made.lines), made.refused))


main()
