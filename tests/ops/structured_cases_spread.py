"""Scans, scatters that combine, searches, windows, and what puts tensors beside
each other. Used by make_structured_reference.py."""

import torch
import torch.nn.functional as F

from structured_format import ALL, FLOATS, L, T, case, fail, layouts, view

NUMBERS = [name for name in ALL if name != 'bool']
IMAGE = (2, 3, 4, 5)


def scans():
    rows = ['cumprod', 'cummax', 'cummin', 'logcumsumexp']
    for row in rows:
        function = getattr(torch, row)
        for name in ALL if row != 'logcumsumexp' else FLOATS:
            case(row, function, T((3, 4), name), 1)
        for x in layouts():
            case(row, function, x, 0)
            case(row, function, x, -1)
        for name in FLOATS:
            case(row, function, T((16,), 'special_' + name), 0)
        case(row, function, T(()), 0)
        case(row, function, T((0, 3)), 0)
        fail(row, function, T((3, 4)), 2)
    case('cumprod', torch.cumprod, T((3, 4)), 1, dtype=torch.float64)


# Negative and equal indices, tensors of indices apart from each other, indices
# of 32 bits, and none at all.
def updates():
    put, grid = torch.ops.aten.index_put, T((4, 5, 3))
    corners, columns = L([0, -1, 0]), L([-2, 2, -2])
    for name in ALL:
        source = T((3, 3), name, 40)
        case('index_put', put, T((4, 5, 3), name), [corners, columns], source,
             True)
        case('index_put', put, T((4, 5, 3), name), [columns], T((), name, 9))
    for add in [True, False]:
        case('index_put', put, grid, [corners, None, L([2, 0, -3])],
             T((3, 5), offset=40), add)
        case('index_put', put, grid, [None, L([[3], [1]]), L([0, -1])],
             T((4, 2, 2), offset=40), add)
        case('index_put', put, grid, [L([]), L([])], T((0, 3)), add)
        case('index_put', put, T((4, 5, 3), strides=(1, 12, 4)), [columns],
             T((3, 5, 3), offset=40), add)
    case('index_put', put, T((4, 5)), [L([1, 3], 'int32')], T((2, 5)))
    # The last of equal indices stays.
    case('index_put', put, T((4, 5)), [L([1, 1, 1])], T((3, 5), offset=40))
    for bad in [5, -6]:
        fail('index_put', put, grid, [None, L([0, bad])], T((4, 2, 3)))
        fail('index_put', put, grid, [L([0, 1]), L([0, bad])], T((2, 3)), True)
    fail('index_put', put, grid, [L([0, 1]), L([0, 1, 2])], T((2, 3)))
    for row in ['index_add', 'index_copy']:
        call = getattr(torch, row)
        case(row, call, T((3, 4)), 1, L([]), T((3, 0)))
        case(row, call, T((3, 4)), -2, L([2, 2]), T((2, 4), offset=40))
        case(row, call, T((3, 4), strides=(1, 3)), 1, L([3, 1]), T((3, 2)))
        for bad in [3, -1]:
            fail(row, call, T((3, 4)), 0, L([0, bad]), T((2, 4)))
    rows = L([[2, 2, 0, 1], [2, 1, 0, 1]])
    case('scatter', torch.scatter, T((3, 4)), 0, rows, T((2, 4), offset=40))
    for name in ALL:
        case('scatter', torch.scatter, T((3, 4), name), 0, L([[2, 0]]),
             T((2, 4), name, 40))
    for row in ['scatter', 'scatter_add']:
        call = getattr(torch, row)
        case(row, call, T((3, 4)), 1, no_places(), T((0, 4)))
        for bad in [3, -1]:
            fail(row, call, T((3, 4)), 0, L([[0, bad]]), T((1, 2)))
    case('scatter_reduce', torch.scatter_reduce, T((3, 4)), 1,
         no_places(), T((0, 4)), 'amax')


def no_places():
    places = L([])
    places.tensor = places.tensor.reshape(0, 4)
    return places


def scatters():
    index = L([[0, 2, 0, 1], [0, 2, 1, 1]])
    for how in ['sum', 'prod', 'mean', 'amax', 'amin']:
        for name in ['float32', 'float64', 'float16', 'int32', 'int64']:
            for keep in [True, False]:
                case('scatter_reduce', torch.scatter_reduce, T((3, 4), name), 0,
                     index, T((2, 4), name, 40), how, include_self=keep)
        case('scatter_reduce', torch.scatter_reduce, T((3, 4)), 1, index,
             T((3, 4), 'special_float32', strides=(4, 1)), how)
        case('scatter_reduce', torch.scatter_reduce, T((3, 4), strides=(1, 3)),
             0, index, T((2, 4), offset=40, strides=(1, 2)), how)
        if how != 'sum':
            case('index_reduce', torch.index_reduce, T((3, 4)), 0,
                 L([2, 0, 2]), T((3, 4), offset=40), how)
            case('index_reduce', torch.index_reduce, T((3, 4)), 1, L([1, 1]),
                 T((3, 2), offset=40), how, include_self=False)
    fail('scatter_reduce', torch.scatter_reduce, T((3, 4)), 0, L([[3]]),
         T((1, 1)), 'sum')
    for name in ALL:
        case('scatter', torch.scatter, T((3, 4), name), 0, index,
             T((2, 4), name, 40), reduce='multiply')
    case('scatter', torch.scatter, T((3, 4)), 0, index, 2.5, reduce='multiply')
    fail('scatter', torch.scatter, T((3, 4)), 0, index, 2.5, reduce='sum')
    put = torch.index_put
    for name in ALL:
        case('index_put', put, T((4, 5), name), (L([3, 0]),),
             T((2, 5), name, 40))
    for add in [True, False]:
        x = T((4, 5, 2))
        case('index_put', put, x, (L([3, -4]),), T((2, 5, 2), offset=40), add)
        case('index_put', put, x, (L([1, 0]), L([[4], [2]])),
             T((2, 2, 2), offset=40), add)
        case('index_put', put, x, (L([1, 0]),), T((1, 2), offset=40), add)
        case('index_put', torch.ops.aten.index_put, x, [None, L([1, 4])],
             T((4, 2, 2), offset=40), add)
    case('index_put', put, T((4, 5)), (L([1, 1, 1]),), T((3, 5), offset=40),
         True)
    case('index_put', put, T((3,)), (L([True, False, True], 'bool'),), T((2,)))
    fail('index_put', put, T((4, 5)), (L([4]),), T((1, 5)))
    fail('index_put', put, T((4, 5)), (L([1]),), T((1, 5), 'float64'))
    updates()
    case('index_fill', torch.index_fill, T((3, 4)), 1, L([3, 0, -2]), 7.5)
    case('index_fill', torch.index_fill, T((3, 4), 'int32'), 0, L([1]), 7)
    mask = L([[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 0, 0]], 'bool')
    for name in ALL:
        case('masked_scatter', torch.masked_scatter, T((3, 4), name), mask,
             T((8,), name, 40))
    case('select_scatter', torch.select_scatter, T((3, 4)), T((3,), offset=9),
         1, -2)
    case('slice_scatter', torch.slice_scatter, T((3, 4)), T((3, 2), offset=9),
         1, 1, 3)
    case('slice_scatter', torch.slice_scatter, T((5, 2)), T((2, 2), offset=9),
         0, 1, 5, 2)
    case('take', torch.take, T((3, 4)), L([[0, 11], [-1, 5]]))


def searches():
    line, lines = L([1, 3, 5, 7, 9]), L([[1, 3, 5], [2, 4, 6]])
    values = L([[3, 6, 9], [0, 3, 12]])
    for right in [True, False]:
        case('searchsorted', torch.searchsorted, line, values, right=right)
        case('searchsorted', torch.searchsorted, lines, values, right=right)
        case('bucketize', torch.bucketize, values, line, right=right)
        case('bucketize', torch.bucketize, T((3, 4)), L([-1, 0, 1], 'float32'),
             right=right)
        case('bucketize', torch.bucketize, T((16,), 'special_float32'),
             L([-1, 0, 1], 'float32'), right=right)
    case('searchsorted', torch.searchsorted, line, values, out_int32=True)
    case('searchsorted', torch.searchsorted, line, 5)
    mixed, order = L([5, 1, 3, 9]), L([1, 2, 0, 3])
    case('searchsorted', torch.searchsorted, mixed, values, sorter=order)
    case('searchsorted', torch.searchsorted, mixed, 5, sorter=order,
         right=True)
    case('searchsorted', torch.searchsorted, L([[5, 1], [2, 4]]),
         L([[1, 5], [3, 2]]), sorter=L([[1, 0], [0, 1]]))
    fail('searchsorted', torch.searchsorted, mixed, 5, sorter=L([0, 1]))
    fail('searchsorted', torch.searchsorted, mixed, 5,
         sorter=L([0, 1, 2, 3], 'int32'))
    fail('searchsorted', torch.searchsorted, mixed, 5, sorter=L([0, 1, 2, 4]))
    case('searchsorted', torch.searchsorted, L([], 'float32'), T((3,)))
    case('isin', torch.isin, values, L([3, 12]))
    case('isin', torch.isin, values, L([3, 12]), invert=True)
    for name in NUMBERS:
        x = T((3, 5), name)
        case('aminmax', torch.aminmax, x, dim=1)
        case('count_nonzero', torch.count_nonzero, x)
        case('count_nonzero', torch.count_nonzero, x, 1)
        case('median', torch.median, x)
    for name in FLOATS:
        special = T((4, 4), 'special_' + name)
        case('nansum', torch.nansum, special, -1)
        case('nanmean', torch.nanmean, T((3, 2), 'special_' + name), -1)
        case('var_mean', torch.var_mean, T((3, 4), name), -1)
        case('std_mean', torch.std_mean, T((3, 4), name), 0, keepdim=True)
    spread = L([[7, -3, 12, 0], [5, 9, -8, 1], [2, 30, 4, 11]])
    case('aminmax', torch.aminmax, spread)
    case('median', torch.median, spread, 1)
    case('median', torch.median, spread, 0, True)
    case('median', torch.median, T((8,), 'special_float32'))
    case('kthvalue', torch.kthvalue, spread, 2)
    case('kthvalue', torch.kthvalue, spread, 3, 0, True)
    fail('kthvalue', torch.kthvalue, spread, 5)


def windows():
    for x in layouts():
        view('unfold_method', torch.Tensor.unfold, x, 0, min(2, x.sizes[0]), 1)
        view('unfold_method', torch.Tensor.unfold, x, -1, 3, 2)
    fail('unfold_method', torch.Tensor.unfold, T((3,)), 0, 4, 1)
    for name in ['float32', 'float64', 'float16']:
        image = T(IMAGE, name)
        case('unfold', F.unfold, image, 2)
        case('unfold', F.unfold, image, (2, 3), (2, 1), (1, 0), (1, 2))
        if name == 'float16':
            continue  # torch rounds each sum.
        case('fold', F.fold, T((1, 12, 12), name), (4, 5), 2)
        case('fold', F.fold, T((2, 6, 9), name), (4, 5), (2, 3), (1, 1),
             (1, 0), (2, 1))
    case('unfold', F.unfold, T((3, 4, 5)), 3, 1, 1)
    fail('unfold', F.unfold, T(IMAGE), 6)
    for name in FLOATS:
        case('pixel_shuffle', F.pixel_shuffle, T((2, 8, 2, 3), name), 2)
        case('pixel_unshuffle', F.pixel_unshuffle, T((2, 2, 4, 6), name), 2)
        case('channel_shuffle', F.channel_shuffle, T((2, 6, 2, 2), name), 3)


def samples():
    for name in ['float32', 'float64']:
        image, grid = T(IMAGE, name), T((2, 3, 4, 2), name, 7)
        for mode in ['bilinear', 'nearest', 'bicubic']:
            for padding in ['zeros', 'border', 'reflection']:
                for align in [True, False]:
                    case('grid_sample', F.grid_sample, image, grid, mode,
                         padding, align)
        case('grid_sample', F.grid_sample, T((1, 2, 3, 4, 2), name),
             T((1, 2, 2, 3, 3), name, 7), align_corners=False)
        case('affine_grid', F.affine_grid, T((2, 2, 3), name), (2, 3, 4, 5),
             align_corners=False)
        case('affine_grid', F.affine_grid, T((2, 3, 4), name),
             (2, 1, 3, 4, 2), align_corners=True)
    case('grid_sample', F.grid_sample, T(IMAGE, strides=(60, 1, 15, 3)),
         T((2, 3, 4, 2), offset=7), align_corners=True)


def bags():
    for name in ['float32', 'float64']:
        table = T((6, 3), name)
        for mode in ['sum', 'mean', 'max']:
            even, line = L([[1, 5, 0], [2, 2, 4]]), L([1, 5, 0, 2, 2])
            case('embedding_bag', F.embedding_bag, even, table, mode=mode)
            case('embedding_bag', F.embedding_bag, even, table, mode=mode,
                 padding_idx=2)
            case('embedding_bag', F.embedding_bag, line, table,
                 L([0, 2, 2, 4]), mode=mode)
            case('embedding_bag', F.embedding_bag, line, table, L([0, 3, 5]),
                 mode=mode, include_last_offset=True)
        case('embedding_bag', F.embedding_bag, even, table, mode='sum',
             per_sample_weights=T((2, 3), name, 30))
        case('embedding_bag', F.embedding_bag, line, table, L([0, 2]),
             mode='mean', padding_idx=5)
    fail('embedding_bag', F.embedding_bag, L([1, 2]), T((6, 3)))


def written():
    def call(row, *args, **kwargs):
        case(row, lambda x, *rest, **named: getattr(x.clone(), row)(
            *rest, **named), *args, **kwargs)

    x, index = T((3, 4)), L([[0, 2, 0, 1], [0, 2, 1, 1]])
    case('atan2_out', lambda out, a, b: torch.atan2(a, b, out=out.clone()), x,
         T((3, 4), offset=7), T((4,), offset=40))
    call('scatter_', x, 0, index, T((2, 4), offset=40))
    call('scatter_', x, 1, L([[0], [3]]), 2.0)
    call('scatter_add_', x, 0, index, T((2, 4), offset=40))
    call('scatter_reduce_', x, 0, index, T((2, 4), offset=40), 'amax')
    call('index_add_', x, 0, L([2, 0]), T((2, 4), offset=40), alpha=2)
    call('index_copy_', x, 1, L([3]), T((3, 1), offset=40))
    call('index_fill_', x, 1, L([3, 0]), 1.5)
    call('index_put_', x, (L([2, 1]),), T((2, 4), offset=40))
    call('masked_scatter_', x, L([[True, False, True, False]] * 3, 'bool'),
         T((6,)))
    for row in ['cumsum_', 'cumprod_']:
        call(row, x, 1)
        call(row, T((3, 4), 'int32'), 0)
    for row in ['tril_', 'triu_']:
        call(row, x, 1)
    for row in ['erf_', 'erfc_', 'exp2_', 'expm1_', 'tan_', 'nan_to_num_',
                'logical_not_']:
        call(row, x)
    for row in ['log2_', 'log10_', 'log1p_']:
        call(row, T((8,), 'positive_float32'))
    for row in ['eq_', 'ne_', 'lt_', 'le_', 'gt_', 'ge_', 'logical_and_',
                'logical_or_']:
        call(row, x, T((4,), offset=2))
        call(row, T((3, 4), 'int64'), T((4,), 'int64', 2))


def dropouts():
    for row in ['dropout1d', 'dropout2d', 'dropout3d', 'alpha_dropout',
                'feature_alpha_dropout']:
        case(row, getattr(F, row), T((2, 3, 4)), 0.5, False)


FAMILIES = (written, dropouts, scans, scatters, searches, windows, samples, bags)
