"""What models meet seldom: placement rules of indexing, narrow index types,
numbers of another type than the tensor, spreads that overflow or cancel. Used
by make_structured_reference.py."""

import operator

import torch
import torch.nn.functional as F

from structured_format import ALL, FLOATS, INTS, L, POOLS, T, case, fail

POOLS['huge_float32'] = torch.tensor([1e20, -1e20, 3e19, 0.0, 2e20, 1e20, -5e19,
                                      7e18])
POOLS['level_float32'] = (1e4 + 1e-2 * torch.sin(
    torch.arange(192, dtype=torch.float64))).float()
COLON = slice(None)


def placements():
    x = T((3, 4, 5, 2))
    one, rows = L(1), L([[0, 2, 1], [1, 1, 0]])
    for index in [(one, COLON, rows), (COLON, one, COLON, L([1, 0])),
                  (one, rows), (rows, COLON, one), (one,), (one, one),
                  (one, Ellipsis, L([0, 1])), (Ellipsis, one), (0, COLON, rows),
                  (COLON, 0, rows), (rows, 0), (rows, COLON, 0),
                  (None, rows), (rows, None), (rows, None, rows),
                  (COLON, rows, None, rows), (one, None, rows),
                  (None, one, COLON, rows), (Ellipsis, L([1, 0])),
                  (slice(1, None), rows), (COLON, rows, slice(None, None, 2)),
                  (rows, slice(1, 3), rows), (L([-1, 0]), COLON, L([-5, 4])),
                  (L(-1), COLON, L([-5, 4])), [0, 2], [[0, 1], [2, 0]],
                  (COLON, [0, 2, -1]), ([0, 1], COLON, [1, 2]), True, False,
                  (True, rows), (None, True), (rows, True),
                  (L([2, 0], 'int32'), COLON, L(1, 'int32')), (L(1, 'int8'),),
                  (L([[1], [2]]), L([0, 2, 1])), (L([]),), (COLON, L([])),
                  (one, COLON, L([[], []]))]:
        case('getitem', operator.getitem, x, index)
    for index in [(L([5]),), (COLON, L([-5])), (L(3),), (COLON, L(-5)), 7,
                  (L([0, 1]), L([0, 1, 2])), (L([1], 'int8'),),
                  (one, one, one, one, one)]:
        fail('getitem', operator.getitem, x, index)
    case('getitem', operator.getitem, T((3, 4)), L([1, 0, 1], 'uint8'))
    case('getitem', operator.getitem, T((3, 4)), L(True, 'bool'))
    case('getitem', operator.getitem, T(()), L(True, 'bool'))
    for name in ALL:
        case('getitem', operator.getitem, T((3, 4, 2), name),
             (one, COLON, L([1, 0])))
    case('index', torch.ops.aten.index.Tensor, T((3, 4)),
         [L([1, 0, 1], 'uint8')])
    fail('index', torch.ops.aten.index.Tensor, T((3, 4)), [L([1], 'int16')])


def narrow_indices():
    x, index = T((3, 4)), [[0, 2, 1], [1, 1, 0]]
    small = L(index, 'int32')
    case('gather', torch.gather, x, 1, small)
    case('gather', torch.gather, x, 0, small)
    fail('take_along_dim', torch.take_along_dim, x, L([[1, 0, 2, 1]], 'int32'),
         0)
    case('scatter', torch.scatter, x, 1, small, T((2, 3), offset=40))
    case('scatter_add', torch.scatter_add, x, 1, small, T((2, 3), offset=40))
    for kind in ['int16', 'uint8', 'float32']:
        fail('gather', torch.gather, x, 1, L(index, kind))
        fail('scatter', torch.scatter, x, 1, L(index, kind), 1.0)


def numbers_of_other_types():
    for name in FLOATS + INTS:
        x = T((9,), name)
        case('threshold', F.threshold, x, 1, 7)
        case('threshold', F.threshold, x, 0.5, 7.5)
        if name != 'uint8':
            case('hardtanh', F.hardtanh, x, -0.5, 1.5)
        case('relu6', F.relu6, x)
        case('clamp', torch.clamp, x, 0, 2)
        case('clamp', torch.clamp, x, 0.5, 2.5)
    flags = T((4,), 'bool')
    fail('sub', torch.sub, flags, flags)
    fail('sub', torch.sub, flags, 1)
    fail('rsub', torch.rsub, flags, 1)


def spreads():
    for name in ['huge_float32', 'level_float32']:
        sizes = (2, 4) if name == 'huge_float32' else (4, 48)
        for row, function in [('var', torch.var), ('std', torch.std)]:
            case(row, function, T(sizes, name), -1)
            case(row, function, T(sizes, name), 0)
            case(row, function, T(sizes, name))
            case(row, function, T(sizes, name), -1, unbiased=False)
    for pool in FLOATS:
        special = 'special_' + pool
        for row in ['max', 'min', 'argmax', 'argmin', 'amax', 'amin']:
            case(row, getattr(torch, row), T((16,), special))
            case(row, getattr(torch, row), T((4, 4), special), -1)
        case('sort', torch.sort, T((16,), special), stable=True)
        case('maximum', torch.maximum, T((8,), special), T((8,), special, 8))
        case('minimum', torch.minimum, T((8,), special), T((8,), special, 8))


FAMILIES = (placements, narrow_indices, numbers_of_other_types, spreads)
