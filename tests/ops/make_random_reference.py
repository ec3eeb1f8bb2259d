"""Writes random_reference.txt: PyTorch's random numbers for fixed seeds.

Run with a Python that has torch 2.13 on a CPU that is not Intel's, where PyTorch
draws some numbers by MKL:  python tests/ops/make_random_reference.py

Lines as in structured_reference.txt. Each call is made with the seed 7. Its
result is a tuple: what the call gave, and the next number of torch.rand, which
tells how far the generator went.
"""

import os

import torch
import torch.nn.functional as F

import structured_format
from make_structured_reference import write
from structured_format import FLOATS, INTS, T, case, fail, lines

SEED = 7
with_next = True  # Off: results are what the calls give, and nothing more.
C = structured_format.POOLS
C['chance_float32'] = torch.rand(
    64, generator=torch.Generator().manual_seed(3))
C['chance_float64'] = C['chance_float32'].double()
C['chance_float16'] = C['chance_float32'].half()


# Random functions of tensors that lie one element after the other: elsewhere
# PyTorch draws in the order of memory.
def draw(row, function, *args, **kwargs):
    def seeded(*real, **named):
        torch.manual_seed(SEED)
        result = function(*real, **named)
        return (result, torch.rand(1)) if with_next else result
    case(row, seeded, *args, **kwargs)


def method(name):
    return lambda x, *args, **kwargs: getattr(x.clone(), name)(*args, **kwargs)


def sized():
    for row, function in [('rand', torch.rand), ('randn', torch.randn)]:
        for sizes in [(3,), (15,), (16,), (17,), (4, 9), (33,), (2, 0), ()]:
            draw(row, function, sizes)
            draw(row, function, sizes, dtype=torch.float64)
        for name in FLOATS:
            for n in [5, 16, 31, 40]:
                draw(row, function, (n,), dtype=getattr(torch, name))
        fail(row, function, (2, -1))
        fail(row, function, (2,), dtype=torch.int64)
    for row, function in [('rand_like', torch.rand_like),
                          ('randn_like', torch.randn_like)]:
        for name in FLOATS:
            draw(row, function, T((3, 7), name))
        draw(row, function, T((2, 3), 'int64'), dtype=torch.float32)
        draw(row, function, T((0, 3)))
        fail(row, function, T((2, 3), 'int64'))


def integers():
    for high in [2, 10, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32, 2 ** 62]:
        draw('randint', torch.randint, high, (5,))
    draw('randint', torch.randint, -5, 20, (3, 4))
    draw('randint', torch.randint, -2 ** 62, 2 ** 62, (4,))
    for name in FLOATS + INTS:
        draw('randint', torch.randint, 0, 50, (7,), dtype=getattr(torch, name))
        draw('randint_like', torch.randint_like, T((7,), name), 50)
        draw('randint_like', torch.randint_like, T((7,), name), 3, 50)
    draw('randint', torch.randint, 10, (0,))
    fail('randint', torch.randint, 5, 5, (2,))
    fail('randint', torch.randint, 0, 300, (2,), dtype=torch.uint8)
    fail('randint', torch.randint, -200, 3, (2,), dtype=torch.int8)
    for n in [0, 1, 2, 10, 100]:
        draw('randperm', torch.randperm, n)
    draw('randperm', torch.randperm, 20, dtype=torch.int32)
    draw('randperm', torch.randperm, 20, dtype=torch.float32)
    fail('randperm', torch.randperm, -1)


def normals():
    row, normal = 'normal_values', torch.normal
    for n in [6, 20]:
        for name in FLOATS:
            draw(row, normal, T((n,), name), 2.0)
        draw(row, normal, 1.5, T((n,), 'chance_float32'))
        draw(row, normal, T((n,)), T((n,), 'chance_float32', 3))
        draw(row, normal, T((n, 1)), T((3,), 'chance_float32'))
        draw(row, normal, 1.0, 3.0, (n,))
    fail(row, normal, 0.0, -1.0, (2,))
    fail(row, normal, T((2,)), T((2,), 'special_float32', 3))


def chances():
    for name in ['float32', 'float64', 'float16']:
        draw('bernoulli_values', torch.bernoulli, T((5, 7), 'chance_' + name))
    draw('bernoulli_values', torch.bernoulli, T((5, 7)), 0.3)
    draw('bernoulli', torch.ops.aten.bernoulli.p, T((5, 7)), 0.3)
    for name in FLOATS + INTS + ['bool']:
        draw('bernoulli_', method('bernoulli_'), T((30,), name), 0.3)
    draw('bernoulli_', method('bernoulli_'), T((30,)))
    draw('bernoulli_', method('bernoulli_'), T((6, 5)),
         T((5,), 'chance_float32'))
    draw('bernoulli_', method('bernoulli_'), T((6, 5)),
         T((6, 1), 'chance_float64'))
    fail('bernoulli_values', torch.bernoulli, T((3,), 'special_float32', 4))
    fail('bernoulli_values', torch.bernoulli, T((3,), 'int64'))
    fail('bernoulli_', method('bernoulli_'), T((3,)), 1.5)


def multinomials():
    row, f = 'multinomial', torch.multinomial
    for name in ['float32', 'float64', 'float16']:
        draw(row, f, T((20,), 'chance_' + name), 5)
        draw(row, f, T((20,), 'chance_' + name), 1)
        draw(row, f, T((3, 20), 'chance_' + name), 20)
    for name in ['float32', 'float64']:
        draw(row, f, T((3, 20), 'chance_' + name), 40, True)
        draw(row, f, T((20,), 'chance_' + name), 1, True)
    fail(row, f, T((3,), 'special_float32', 3), 1)
    fail(row, f, T((3,), 'special_float32', 9), 1)
    fail(row, f, T((1,), 'special_float32', 0), 1)
    fail(row, f, T((2,), 'chance_float32'), 3)
    fail(row, f, T((2,), 'chance_float32'), 0)
    fail(row, f, T((2, 2, 2), 'chance_float32'), 1)
    fail(row, f, T((2,), 'int64'), 1)


# Each is called as a method, and as the function that exported graphs call.
def fills():
    aten = torch.ops.aten
    table = [('uniform', [(), (-1.5, 2.5)]), ('normal', [(), (1.0, 2.0)]),
             ('exponential', [(), (2.5,)]), ('cauchy', [(), (1.0, 0.5)]),
             ('log_normal', [(), (0.5, 0.25)])]
    for row, choices in table:
        function = getattr(aten, 'normal_functional' if row == 'normal' else
                           row)
        for args in choices:
            for name in FLOATS:
                for n in [7, 40]:
                    draw(row + '_', method(row + '_'), T((n,), name), *args)
            draw(row, function, T((4, 5)), *args)
        draw(row, function, T((0, 5)))
    for name in FLOATS + INTS:
        draw('geometric_', method('geometric_'), T((20,), name), 0.3)
    draw('geometric', aten.geometric, T((20,)), 0.3)
    for name in FLOATS + INTS + ['bool']:
        draw('random_', method('random_'), T((20,), name))
        if name != 'bool':
            draw('random_', method('random_'), T((20,), name), 100)
            draw('random_', method('random_'), T((20,), name), 20, 90)
    for name in INTS:
        draw('random_', method('random_'), T((20,), name), 1, None)
    draw('random_', method('random_'), T((5,), 'int64'), -2 ** 63, None)
    draw('random', aten.random, T((20,), 'int64'))
    draw('random', aten.random, T((20,), 'int64'), 10)
    fail('uniform_', method('uniform_'), T((2,)), 2, 1)
    fail('normal_', method('normal_'), T((2,)), 0, -1)
    fail('exponential_', method('exponential_'), T((2,)), 0)
    fail('cauchy_', method('cauchy_'), T((2,)), 0, 0)
    fail('log_normal_', method('log_normal_'), T((2,)), 0, 0)
    fail('geometric_', method('geometric_'), T((2,)), 1)
    fail('random_', method('random_'), T((2,)), 3, 3)
    fail('exponential_', method('exponential_'), T((2,), 'int64'))
    fail('uniform_', method('uniform_'), T((2,), 'int64'))
    fail('normal_', method('normal_'), T((2,), 'int64'))


def dropouts():
    for name in FLOATS:
        draw('dropout', F.dropout, T((5, 7), name), 0.3)
    for p in [0.0, 0.5, 0.9, 1.0]:
        draw('dropout', F.dropout, T((5, 7)), p)
        draw('alpha_dropout', F.alpha_dropout, T((5, 7)), p, True)
    draw('dropout', F.dropout, T((0, 7)), 0.3)
    draw('dropout', F.dropout, T((16,), 'special_float32'), 0.3)
    draw('dropout', F.dropout, T((5, 7)), 0.3, False)
    for row, sizes in [('dropout1d', [(2, 3, 4), (3, 4)]),
                       ('dropout2d', [(2, 3, 4, 2), (3, 4, 2)]),
                       ('dropout3d', [(2, 3, 4, 2, 2), (3, 4, 2, 2)]),
                       ('feature_alpha_dropout', [(2, 3, 4, 2), (5, 3)])]:
        for shape in sizes:
            draw(row, getattr(F, row), T(shape), 0.4, True)
    draw('native_dropout', torch.native_dropout, T((5, 7)), 0.3, True)
    draw('native_dropout', torch.native_dropout, T((5, 7)), 0.3, False)
    draw('native_dropout', torch.native_dropout, T((5, 7)), 1.0, True)
    fail('dropout', F.dropout, T((3,)), 1.5)
    for hard in [False, True]:
        for name in FLOATS[:2]:
            draw('gumbel_softmax', F.gumbel_softmax, T((5, 7), name), 0.5,
                 hard)
        draw('gumbel_softmax', F.gumbel_softmax, T((5, 7)), 1, hard, dim=0)


FAMILIES = (sized, integers, normals, chances, multinomials, fills, dropouts)


def main():
    for family in FAMILIES:
        family()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        'random_reference.txt')
    write(path, list(dict.fromkeys(lines)))


if __name__ == '__main__':
    main()
