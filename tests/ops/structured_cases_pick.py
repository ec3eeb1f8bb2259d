"""Ops that rearrange, pick or create elements. Used by
make_structured_reference.py."""

import torch
import torch.nn.functional as F

from structured_format import ALL, FLOATS, L, T, case, fail, layouts


def shape_ops():
    a, b = T((2, 3)), T((2, 3), offset=10)
    for name in ALL:
        case('cat', torch.cat, [T((2, 3), name), T((1, 3), name, 9)])
        case('flip', torch.flip, T((2, 3), name), (1,))
        case('tril', torch.tril, T((3, 4), name))
        case('triu', torch.triu, T((3, 4), name), 1)
    case('cat', torch.cat, [a, b], 1)
    case('cat', torch.cat, [a, b], -1)
    case('cat', torch.cat, [a, T((0, 3)), T((0,)), b])
    case('cat', torch.cat, [T((0,)), a])
    case('cat', torch.cat, [a, T((2, 3), 'float64')])
    case('cat', torch.cat, [T((2, 3), 'int64'), T((2, 3), 'float16')])
    case('cat', torch.cat, [T((3, 2), strides=(1, 3)), T((3, 1))], 1)
    fail('cat', torch.cat, [a, T((2, 4))])
    fail('cat', torch.cat, [a, T((2, 3, 1))])
    fail('cat', torch.cat, [a, b], 2)
    case('stack', torch.stack, [a, b])
    case('stack', torch.stack, [a, b], -1)
    case('stack', torch.stack, [T(()), T((), offset=1)])
    fail('stack', torch.stack, [a, T((3,))])
    repeat = torch.Tensor.repeat
    for x in layouts():
        case('repeat', repeat, x, (2,) + (1,) * (len(x.sizes) - 1))
        case('repeat', repeat, x, (3, 1) + (2,) * (len(x.sizes) - 1))
        case('repeat_interleave', torch.repeat_interleave, x, 3)
        case('repeat_interleave', torch.repeat_interleave, x, 2, 0)
        case('flip', torch.flip, x, (0, -1) if len(x.sizes) > 1 else (0,))
        case('roll', torch.roll, x, 1)
        case('roll', torch.roll, x, -2, 0)
    case('repeat', repeat, a, (1, 1))
    case('repeat', repeat, a, (0, 2))
    case('repeat', repeat, T(()), (3,))
    fail('repeat', repeat, a, (2,))
    case('flip', torch.flip, a, ())
    case('roll', torch.roll, T((3, 4)), (1, -3), (0, 1))
    for d in range(-3, 4):
        case('tril', torch.tril, T((3, 4)), d)
        case('triu', torch.triu, T((2, 3, 4)), d)
    case('masked_select', torch.masked_select, T((2, 3)),
         L([[True, False, True], [False, False, True]], 'bool'))
    case('masked_select', torch.masked_select, T((2, 3)),
         L([True, False, True], 'bool'))
    for name in ['float32', 'float16', 'int64', 'bool']:
        case('pad', F.pad, T((2, 3), name), (1, 2))
    case('pad', F.pad, a, (1, 2, 0, 1), 'constant', 7.0)
    case('pad', F.pad, a, (-1, 0), 'constant', 7.0)
    case('pad', F.pad, a, (2, -1, -1, 2))
    case('pad', F.pad, a, (0, 0))
    case('pad', F.pad, T((2, 2, 3, 2, 2)), (0, 0, 1, 0, 0, 0, 1, 1, 0, 2))
    fail('pad', F.pad, a, (1, 2, 3))
    image = T((1, 2, 4, 5))
    for mode in ['reflect', 'replicate', 'circular']:
        case('pad', F.pad, image, (1, 2, 3, 0), mode)
        case('pad', F.pad, T((1, 2, 5)), (2, 1), mode)
    case('constant_pad_nd', torch.constant_pad_nd, a, (1, 0, 0, 2), 3)


def sorting():
    spread = L([[7, -3, 12, 0], [5, 9, -8, 1], [2, 30, 4, 11]])
    for name in ALL:
        if name != 'bool':
            case('topk', torch.topk, T((6,), name), 2)
    for largest in (True, False):
        case('topk', torch.topk, spread, 3, -1, largest)
        case('topk', torch.topk, spread, 2, 0, largest)
        case('topk', torch.topk, spread, 4, 1, largest, True)
        case('topk', torch.topk, T((2, 3, 4)), 1, 1, largest)
    case('topk', torch.topk, T((3, 4), strides=(1, 3)), 2)
    case('topk', torch.topk, spread, 0)
    case('topk', torch.topk, T(()), 1)
    case('topk', torch.topk, T((0, 3)), 1)
    fail('topk', torch.topk, spread, 5)
    fail('topk', torch.topk, spread, -1)
    fail('topk', torch.topk, spread, 1, 2)
    case('topk', torch.topk, T((250,)), 9)
    case('topk', torch.topk, T((250,)), 9, -1, False)
    case('topk', torch.topk, T((250,)), 80)
    case('topk', torch.topk, T((2, 120)), 70, 1, False)
    for name in FLOATS:
        case('topk', torch.topk, T((4,), 'special_' + name), 2)
        case('topk', torch.topk, T((4,), 'special_' + name), 2, 0, False)
    for name in ALL:
        # torch orders equal numbers so only when asked to.
        case('sort', torch.sort, T((3, 20), name), stable=True)
        case('sort', torch.sort, T((3, 20), name), stable=True, dim=0,
             descending=True)
    case('sort', torch.sort, T((16,), 'special_float32'), stable=True)
    case('sort', torch.sort, T((16,), 'special_float32'), stable=True,
         descending=True)
    case('sort', torch.sort, T((3, 4), strides=(1, 3)), 1)
    case('sort', torch.sort, T(()))
    case('sort', torch.sort, T((0, 3)))
    case('sort', torch.sort, T((3, 0)))
    case('sort', torch.sort, T((3, 1)))
    case('argsort', torch.argsort, T((3, 20)), 0)
    case('argsort', torch.argsort, T((3, 20)), -1, True)
    fail('sort', torch.sort, spread, 2)


def gathers():
    w = T((6, 4))
    for name in ALL:
        case('embedding', F.embedding, L([[1, 5], [0, 1]]), T((6, 4), name))
        case('index_select', torch.index_select, T((3, 4), name), 1,
             L([3, 0, 0]))
        case('gather', torch.gather, T((3, 4), name), 1, L([[0, 3], [2, 2]]))
    case('embedding', F.embedding, L(2), w)
    case('embedding', F.embedding, L([3, 1], 'int32'), w)
    case('embedding', F.embedding, L([3, 0, 1]), w, 0)
    case('embedding', F.embedding, L([3, 0]), T((6, 4), strides=(1, 6)))
    case('embedding', F.embedding, L([]), w)
    fail('embedding', F.embedding, L([6]), w)
    fail('embedding', F.embedding, L([-1]), w)
    case('aten_embedding', torch.embedding, w, L([1, 2]))
    case('index_select', torch.index_select, T((2, 3, 4)), 0, L([1, 1, 0]))
    case('index_select', torch.index_select, T((2, 3, 4)), -1, L([1, 3]))
    case('index_select', torch.index_select,
         T((2, 3, 4), strides=(1, 2, 6)), 1, L([2, 0]))
    case('index_select', torch.index_select, T((3, 4)), 0, L([]))
    case('index_select', torch.index_select, T((3, 4)), 0, L([2], 'int32'))
    fail('index_select', torch.index_select, T((3, 4)), 0, L([3]))
    fail('index_select', torch.index_select, T((3, 4)), 2, L([0]))
    case('gather', torch.gather, T((3, 4)), 0, L([[0, 2, 1], [1, 0, 0]]))
    case('gather', torch.gather, T((3, 4), strides=(1, 3)), 0, L([[0, 2]]))
    case('gather', torch.gather, T((3,)), 0, L([2, 2, 1, 0]))
    fail('gather', torch.gather, T((3, 4)), 1, L([[4]]))
    case('take_along_dim', torch.take_along_dim, T((3, 4)), L([[0], [3], [1]]),
         1)
    case('take_along_dim', torch.take_along_dim, T((3, 4)), L([[0, 3]]), 1)
    case('take_along_dim', torch.take_along_dim, T((3, 4)), L([0, 11, 5]))
    case('take_along_dim', torch.take_along_dim, T((3, 4)),
         L([[-1, 3, 5, -9]]), 0)
    index = torch.ops.aten.index.Tensor
    case('index', index, T((2, 3, 4)), [None, L([2, 0])])
    case('index', index, T((2, 3, 4)), [L([1, 0]), None, L([0, 3])])
    case('index', index, T((2, 3, 4)), [L([[1], [0]]), L([0, 2])])
    case('index', index, T((2, 3)), [L([[True, False, True],
                                        [False, True, True]], 'bool')])
    fail('index', index, T((2, 3)), [L([2])])
    for name in ['float32', 'int64', 'float16']:
        case('scatter', torch.scatter, T((3, 4), name), 1, L([[0, 2], [3, 1]]),
             T((2, 2), name, 40))
        case('scatter_add', torch.scatter_add, T((3, 4), name), 0,
             L([[0, 2, 0, 1], [0, 2, 1, 1]]), T((2, 4), name, 40))
    case('scatter', torch.scatter, T((3, 4)), 0, L([[2, 1]]), 5.0)
    fail('scatter', torch.scatter, T((3, 4)), 0, L([[3, 1]]), 5.0)
    rows = T((4, 5), 'float32', 40)
    same = L([[2] * 5, [0] * 5, [2] * 5, [1] * 5])
    case('scatter_add', torch.scatter_add, T((3, 5)), 0, same, rows)
    case('scatter', torch.scatter, T((3, 5)), 0, same, rows)
    case('scatter_add', torch.scatter_add, T((3, 5), strides=(1, 3)), 0, same,
         T((4, 5), strides=(1, 4)))
    case('scatter_add', torch.scatter_add, T((3, 5)), 0,
         L([[]]), T((1, 0)))
    for name in ALL:
        if name != 'bool':
            case('index_add', torch.index_add, T((3, 4), name), 0, L([2, 0, 2]),
                 T((3, 4), name, 40))
            case('index_add', torch.index_add, T((2, 3, 4), name), 1, L([2, 2]),
                 T((2, 2, 4), name, 40), alpha=3)
        case('index_copy', torch.index_copy, T((3, 4), name), 1, L([3, 0]),
             T((3, 2), name, 40))
    case('index_add', torch.index_add, T((3, 4)), -1, L([0], 'int32'),
         T((3, 1), offset=40))
    case('index_add', torch.index_add, T((3, 4)), 0, L([1, 1]),
         T((2, 4), 'special_float32'))
    case('index_add', torch.index_add, T((5,)), 0, L([4, 0, 4]), T((3,)))
    case('index_add', torch.index_add, T((3, 4)), 0, L([]), T((0, 4)))
    case('index_copy', torch.index_copy, T((3, 4), strides=(1, 3)), 0, L([1]),
         T((1, 4), strides=(1, 1)))
    fail('index_add', torch.index_add, T((3, 4)), 0, L([1]), T((2, 4)))
    fail('index_add', torch.index_add, T((3, 4)), 0, L([1, 1]),
         T((2, 4), 'float64'))
    fail('index_copy', torch.index_copy, T((3, 4)), 0, L([[1]]), T((1, 4)))
    case('one_hot', F.one_hot, L([0, 2, 1]))
    case('one_hot', F.one_hot, L([[0, 2], [1, 3]]), 5)
    fail('one_hot', F.one_hot, L([0, 2]), 2)
    fail('one_hot', F.one_hot, L([-1]), 2)


def creations():
    for name in ALL:
        dtype = getattr(torch, name)
        case('zeros', torch.zeros, (2, 3), dtype=dtype)
        case('ones', torch.ones, (2, 3), dtype=dtype)
        case('full', torch.full, (2, 3), 3, dtype=dtype)
    case('zeros', torch.zeros, 3)
    case('zeros', torch.zeros, 2, 3)
    case('zeros', torch.zeros, ())
    case('ones', torch.ones, (0, 2))
    case('full', torch.full, (2,), 1.5)
    case('full', torch.full, (2,), 7)
    case('full', torch.full, (2,), True)
    case('full', torch.full, (2,), 2 ** 60 + 1)
    fail('zeros', torch.zeros, (2, -1))
    fail('ones', torch.ones, (2, -1))
    fail('full', torch.full, (2, -1), 1.0)
    case('new_zeros', torch.Tensor.new_zeros, T((2,), 'float16'), (2, 3))
    case('new_ones', torch.Tensor.new_ones, T((2,), 'int32'), (2, 3))
    case('new_full', torch.Tensor.new_full, T((2,), 'int32'), (2, 3), 4)
    case('arange', torch.arange, 5)
    case('arange', torch.arange, 0)
    case('arange', torch.arange, 2, 9, 3)
    case('arange', torch.arange, 9, 2, -3)
    case('arange', torch.arange, 0, 1, 0.25)
    case('arange', torch.arange, 1.5, 4.2)
    case('arange', torch.arange, 5, dtype=torch.float16)
    case('arange', torch.arange, 0, 5, 2, dtype=torch.int32)
    fail('arange', torch.arange, 5, 2)
    fail('arange', torch.arange, 0, 2, 0)
    case('eye', torch.eye, 3)
    case('eye', torch.eye, 2, 4)
    case('eye', torch.eye, 3, 2, dtype=torch.int64)
    case('linspace', torch.linspace, 0, 1, 5)
    case('linspace', torch.linspace, -2.0, 3.0, 8)
    case('linspace', torch.linspace, 1, 2, 1)
    case('linspace', torch.linspace, 1, 2, 0)
