"""Results that depend on the numbers, or have sizes that do, and quantiles.
Used by make_structured_reference.py."""

import torch
import torch.nn.functional as F

from structured_format import ALL, FLOATS, INTS, L, T, case, fail, layouts


def data_sized():
    unique, consecutive = torch.unique, torch.unique_consecutive
    for name in ALL:
        case('nonzero', torch.nonzero, T((3, 4), name))
        case('item', torch.Tensor.item, T((1, 1), name, 3))
    for name in INTS + ['bool']:
        case('unique', unique, T((4, 10), name), return_inverse=True,
             return_counts=True)
        case('unique_consecutive', consecutive, T((40,), name),
             return_counts=True)
    for name in FLOATS:
        case('nonzero', torch.nonzero, T((16,), 'special_' + name))
        case('unique', unique, T((16,), 'special_' + name),
             return_inverse=True, return_counts=True)
        case('unique_consecutive', consecutive, T((16,), 'special_' + name),
             return_inverse=True, return_counts=True)
    few = L([[2, 1, 2], [0, 1, 0], [2, 1, 2], [0, 0, 0]], 'int32')
    for dim in [0, 1, -1]:
        case('unique', unique, few, dim=dim, return_inverse=True,
             return_counts=True)
        case('unique_consecutive', consecutive, few, dim=dim,
             return_inverse=True, return_counts=True)
    case('unique', unique, few, True, False, True)
    for x in layouts():
        case('nonzero', torch.nonzero, x)
        case('argwhere', torch.argwhere, x)
        case('nonzero', torch.nonzero, x, as_tuple=True)
        case('unique', unique, x, return_inverse=True)
        case('unique', unique, x, dim=-1, return_counts=True)
        case('unique_consecutive', consecutive, x, dim=0)
    case('unique', unique, T((2, 3, 4), 'int64'), dim=1, return_inverse=True)
    for x in [T(()), T((), 'special_float32'), T((0,)), T((2, 0, 3))]:
        case('nonzero', torch.nonzero, x)
        case('nonzero', torch.nonzero, x, as_tuple=True)
        case('unique', unique, x, return_inverse=True, return_counts=True)
        case('unique_consecutive', consecutive, x, return_counts=True)
    case('unique', unique, T((0, 3)), dim=0)
    fail('unique', unique, T((0, 3)), dim=1)
    case('item', torch.Tensor.item, T((), 'special_float32', 4))
    fail('item', torch.Tensor.item, T((3,)))
    fail('item', torch.Tensor.item, T((0,)))


def counts():
    for name in INTS:
        x = L([3, 1, 3, 0, 7], name)
        case('bincount', torch.bincount, x)
        case('bincount', torch.bincount, x, minlength=10)
        for weights in ['float32', 'float64', 'float16', 'int32']:
            case('bincount', torch.bincount, x, T((5,), weights))
    case('bincount', torch.bincount, L([]))
    case('bincount', torch.bincount, L([]), minlength=2)
    case('bincount', torch.bincount, T((3,), 'uint8', 4, (2,)), minlength=3)
    fail('bincount', torch.bincount, L([1, -1]))
    fail('bincount', torch.bincount, L([[1, 1]]))
    fail('bincount', torch.bincount, L([1, 1]), T((3,)))
    fail('bincount', torch.bincount, L([1, 1]), None, -1)
    fail('bincount', torch.bincount, T((2,)))


def repeats():
    repeat, x = torch.repeat_interleave, T((2, 3))
    for name in ['int32', 'int64']:
        case('repeat_interleave', repeat, x, L([2, 0, 1], name), 1)
        case('repeat_interleave', repeat, x, L([2, 0, 1, 1, 3, 0], name))
        case('repeat_interleave', repeat, x, L(2, name), -2)
        case('repeat_interleave', repeat, x, L([3], name), 0)
    case('repeat_interleave', repeat, T((3, 2), strides=(1, 3)), L([1, 0, 2]), 0)
    case('repeat_interleave', repeat, T((0, 2)), L([]), 0)
    fail('repeat_interleave', repeat, x, L([2, -1, 1]), 1)
    fail('repeat_interleave', repeat, x, L([2, 1]), 1)
    fail('repeat_interleave', repeat, x, L([[2, 1, 1]]), 1)


def medians():
    for name in ALL[:-1]:
        case('nanmedian', torch.nanmedian, T((3, 5), name))
    for name in FLOATS:
        special = T((4, 4), 'special_' + name)
        case('nanmedian', torch.nanmedian, special)
        case('nanmedian', torch.nanmedian, special, 1)
        case('nanmedian', torch.nanmedian, special, 0, True)
        case('nanmedian', torch.nanmedian, T((5,), name), -1)
    case('nanmedian', torch.nanmedian, T((), 'special_float32', 2))
    case('nanmedian', torch.nanmedian, T((2,), 'special_float32', 2, (12,)))
    case('nanmedian', torch.nanmedian, T((1, 2), 'special_float32', 2, (1, 12)), 1)
    case('nanmedian', torch.nanmedian, T((0,)))
    fail('nanmedian', torch.nanmedian, T((2, 0)), 1)


def divisors():
    for row, function in [('gcd', torch.gcd), ('lcm', torch.lcm)]:
        for name in INTS:
            case(row, function, T((3, 4), name), T((3, 4), name, 20))
            case(row, function, T((3, 1), name), T((4,), name, 20))
        case(row, function, T((4, 3), 'int32', 0, (1, 4)), T((3,), 'int64', 9))
        case(row, function, L([-128, -128, 127], 'int8'), L([6, 96, 3], 'int8'))
        case(row, function, L([0, 0, 5]), L([0, 4, 0]))
        fail(row, function, T((3,)), T((3,)))
        fail(row, function, T((3,), 'bool'), T((3,), 'bool'))


def incomplete_gammas():
    for row, function in [('igamma', torch.igamma), ('igammac', torch.igammac)]:
        for name in ['float32', 'float64']:
            wide = 'positive_wide_' + name
            case(row, function, T((4, 4), wide), T((4,), wide, 8))
            case(row, function, T((16,), 'special_' + name), T((16, 1), wide))
            case(row, function, T((16, 1), 'special_' + name),
                 T((16,), 'special_' + name))


def attributes():
    for default in [None, 5, 0.5, 'text', (1, 2)]:
        case('getattr', getattr, T((2, 3)), 'missing', default)
        case('getattr', getattr, T((2, 3)), 'ndim', default)
        case('getattr', getattr, T((2, 3)), 'T', default)


def unpools():
    flat = L([[[0, 3, 6]], [[1, 2, 5]]])
    case('max_unpool1d', F.max_unpool1d, T((2, 1, 3)), flat, 3, 2)
    case('max_unpool1d', F.max_unpool1d, T((2, 1, 3)), flat, 3, 2,
         output_size=(2, 1, 8))
    places = L([[[[0, 3], [9, 15]], [[5, 2], [8, 14]]]])
    for name in ['float32', 'float64']:
        case('max_unpool2d', F.max_unpool2d, T((1, 2, 2, 2), name), places, 2)
    case('max_unpool2d', F.max_unpool2d,
         T((1, 2, 2, 2), strides=(8, 1, 2, 4)), places, (2, 2), None, 0,
         (5, 5))
    case('max_unpool2d', F.max_unpool2d, T((2, 2, 2)),
         L([[[0, 3], [9, 15]], [[5, 2], [8, 14]]]), 2, 2)
    case('max_unpool2d', F.max_unpool2d, T((1, 1, 2, 2), 'special_float32'),
         L([[[[0, 2], [6, 8]]]]), 3, 2, 1)
    case('max_unpool2d', F.max_unpool2d, T((1, 1, 1, 1)), L([[[[0]]]]), 1)
    case('max_unpool3d', F.max_unpool3d, T((1, 1, 1, 2, 2)),
         L([[[[[0, 3], [9, 15]]]]]), (1, 2, 2))
    fail('max_unpool2d', F.max_unpool2d, T((1, 2, 2, 2)), places, 2,
         output_size=(9, 5))


def ctc():
    both = L([[1, 2, 2], [3, 1, 1]])
    line = L([1, 2, 3, 1, 1])
    for pool in ['float32', 'float64']:
        x = T((7, 2, 4), pool)
        for how in ['none', 'mean', 'sum']:
            case('ctc_loss', F.ctc_loss, x, both, (7, 6), (3, 2),
                 reduction=how)
        case('ctc_loss', F.ctc_loss, x, both, L([7, 5]), L([2, 3]))
        case('ctc_loss', F.ctc_loss, x, line, (7, 7), (2, 3), 0, 'none')
        case('ctc_loss', F.ctc_loss, x, both, (7, 0), (0, 0), 3, 'none')
        case('ctc_loss', F.ctc_loss, x, both, (2, 3), (3, 3), 0, 'none')
        case('ctc_loss', F.ctc_loss, x, both, (2, 7), (3, 3), 0, 'mean', True)
    each = lambda *args: F.ctc_loss(*args, reduction='none')
    case('_ctc_loss', each, T((7, 2, 4)), both, (7, 6), (3, 2), 0)
    case('ctc_loss', F.ctc_loss, T((7, 4)), L([1, 2]), (7,), (2,))
    case('ctc_loss', F.ctc_loss, T((7, 4)), L([1, 2]), (6,), (2,), 0, 'none')
    case('ctc_loss', F.ctc_loss, T((7, 2, 4), strides=(1, 7, 14)), both,
         (7, 6), (3, 2))
    case('ctc_loss', F.ctc_loss, T((1, 1, 4)), L([[1]]), (1,), (1,))
    fail('ctc_loss', F.ctc_loss, T((7, 2, 4)), both, (7, 7), (2, 2), 4)


def quantiles():
    hows = ['linear', 'lower', 'higher', 'midpoint', 'nearest']
    for row in ['quantile', 'nanquantile']:
        function = getattr(torch, row)
        for how in hows:
            for share in [0.0, 0.3, 0.5, 1.0]:
                case(row, function, T((7, 5)), share, 1, interpolation=how)
            case(row, function, T((16,), 'special_float32'), 0.4,
                 interpolation=how)
            case(row, function, T((4, 4), 'special_float64'), 0.5, -1, True,
                 interpolation=how)
        for name in ['float32', 'float64']:
            case(row, function, T((3, 4), name), 0.25)
            case(row, function, T((3, 4), name), 0.7, keepdim=True)
            case(row, function, T((6,), name),
                 T((1,), 'special_' + name, 15), 0)
        for x in layouts():
            case(row, function, x, 0.6, 0)
            case(row, function, x, 0.1, -1, True)
            case(row, function, x, T((2,), 'special_float32', 0), 0)
            case(row, function, x, T((), 'special_float32', 15))
            case(row, function, x, T((2,), 'special_float32', 0),
                 keepdim=True)
        case(row, function, T((2, 2), 'special_float32', 2, (0, 0)), 0.5, 0)
        case(row, function, T(()), 0.5)
        case(row, function, T((1, 3)), 0.5, 0)
        fail(row, function, T((3, 4)), 0.5, 2)
    quantile = torch.quantile
    fail('quantile', quantile, T((3,)), 1.5)
    fail('quantile', quantile, T((3,)), T((2,), 'special_float32', 4))
    fail('quantile', quantile, T((3,), 'int64'), 0.5)
    fail('quantile', quantile, T((3,), 'float16'), 0.5)
    fail('quantile', quantile, T((0,)), 0.5)
    fail('quantile', quantile, T((3,)), T((1,), 'float64'))
    fail('quantile', quantile, T((3,)), T((1, 1)))
    fail('quantile', quantile, T((3,)), 0.5, interpolation='cubic')


FAMILIES = (data_sized, attributes, unpools, ctc, quantiles, counts, repeats, medians,
            divisors, incomplete_gammas)
