"""Tensors put beside each other, spread and turned, and elementwise functions
that are used now and then. Used by make_structured_reference.py."""

import torch

from structured_format import ALL, FLOATS, INTS, L, POOLS, T, case, fail

UNARY = ['deg2rad', 'rad2deg', 'sinc', 'lgamma', 'digamma', 'erfinv', 'logit',
         'erfc']
BINARY = ['hypot', 'logaddexp', 'logaddexp2']
PAIRS = ['atan2', 'xlogy', 'copysign', 'fmax', 'fmin']


def functions():
    POOLS['inside_float32'] = torch.linspace(-0.999, 0.999, 41)
    POOLS['inside_float64'] = POOLS['inside_float32'].double()
    for row in UNARY:
        function = getattr(torch, row)
        for name in FLOATS:
            case(row, function, T((3, 4), name))
            case(row, function, T((12,), 'special_' + name))
        for name in ['float32', 'float64']:
            case(row, function, T((41,), 'inside_' + name))
        case(row, function, T((3, 4), strides=(1, 3)))
        case(row, function, T((0, 2)))
        case(row, function, T((5,), 'int32'))
    case('logit', torch.logit, T((41,), 'inside_float32'), 0.01)
    for row in BINARY + PAIRS:
        function = getattr(torch, row)
        for name in FLOATS:
            case(row, function, T((3, 4), name), T((4,), name, 30))
            # The sign of NaN is nobody's.
            case(row, function, T((8,), 'special_' + name), T(
                (8,), 'special_' + name, 3 if row == 'copysign' else 8))
        case(row, function, T((3, 1)), T((1, 4), offset=9))
        if row in PAIRS:
            case(row, function, T((5,), 'int64'), T((5,), 'int64', 9))
    case('heaviside', torch.heaviside, T((16,), 'special_float32'), T((16,)))
    for name in FLOATS:
        special = T((16,), 'special_' + name)
        for row in ['isposinf', 'isneginf', 'nan_to_num']:
            case(row, getattr(torch, row), special)
        case('signbit', torch.signbit, T((8,), 'special_' + name, 3))
        case('nan_to_num', torch.nan_to_num, special, 1.0, 2.0, -3.0)
        case('isclose', torch.isclose, special, T((16,), 'special_' + name),
             equal_nan=True)
        case('isclose', torch.isclose, T((6,), name), T((6,), name), 0.1)
    for name in INTS:
        for row in ['isposinf', 'isneginf', 'signbit', 'nan_to_num']:
            case(row, getattr(torch, row), T((5,), name))
        case('isclose', torch.isclose, T((6,), name), T((6,), name, 3), 0.5)
    case('float_power', torch.float_power, T((4,), 'positive_float32'), 2.5)
    case('float_power', torch.float_power, L([1, 2, 3]), 2)


def arranged():
    a, b, line = T((2, 3)), T((2, 3), offset=9), T((3,))
    case('broadcast_to', torch.broadcast_to, line, (2, 3))
    case('broadcast_tensors', torch.broadcast_tensors, a, line)
    case('tile', torch.tile, a, (2, 1, 3))
    case('tile', torch.tile, a, (2,))
    for how in ['ij', 'xy']:
        case('meshgrid', torch.meshgrid, line, T((2,)), indexing=how)
        case('meshgrid', torch.meshgrid, line, T((2,)), T((4,)), indexing=how)
    for x in [T(()), line, a, T((2, 3, 2))]:
        for row in ['atleast_1d', 'atleast_2d', 'atleast_3d']:
            case(row, getattr(torch, row), x)
        for row in ['hstack', 'vstack', 'dstack', 'column_stack']:
            case(row, getattr(torch, row), [x, x])
        case('ravel', torch.ravel, x)
    case('tensor_split', torch.tensor_split, T((7, 2)), 3)
    case('tensor_split', torch.tensor_split, T((7, 2)), (1, 4, 6))
    case('tensor_split', torch.tensor_split, T((2, 7)), 2, 1)
    case('hsplit', torch.hsplit, T((2, 4)), 2)
    case('vsplit', torch.vsplit, T((4, 2)), [1, 3])
    case('dsplit', torch.dsplit, T((1, 2, 4)), 2)
    case('split_with_sizes', torch.split_with_sizes, T((5, 2)), [2, 3])
    for name in ALL:
        case('diag_embed', torch.diag_embed, T((2, 3), name))
        case('diag', torch.diag, T((3, 4), name), 1)
    case('diag_embed', torch.diag_embed, a, 1)
    case('diag_embed', torch.diag_embed, a, -2, 0, 2)
    case('diag_embed', torch.diag_embed, a, 1, 2, 0)
    case('diag', torch.diag, line)
    case('diag', torch.diag, line, -1)
    case('diagflat', torch.diagflat, a)
    case('trace', torch.trace, T((3, 4)))
    for name in ['float32', 'float64']:
        case('inner', torch.inner, T((2, 3), name), T((4, 3), name, 9))
        case('inner', torch.inner, T((3,), name), T((3,), name, 9))
        case('tensordot', torch.tensordot, T((2, 3, 4), name),
             T((3, 4, 5), name, 9), 2)
        case('tensordot', torch.tensordot, T((2, 3, 4), name),
             T((4, 5, 2), name, 9), ([0, 2], [2, 0]))
        case('cross', torch.linalg.cross, T((2, 3), name), T((2, 3), name, 9))
        case('kron', torch.kron, T((2, 3), name), T((2,), name, 9))
    for k in range(-1, 5):
        case('rot90', torch.rot90, a, k)
    case('fliplr', torch.fliplr, a)
    case('flipud', torch.flipud, a)
    case('adjoint', torch.adjoint, a)
    fail('trace', torch.trace, line)


FAMILIES = (functions, arranged)
