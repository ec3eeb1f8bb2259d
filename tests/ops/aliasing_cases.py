"""Calls that decide whether a result is memory of an argument: the same type or
another, contiguous or not, evaluation or training, a call that changes nothing.
Used by make_aliasing.py."""

import torch
import torch.nn.functional as F

from structured_format import ALL, L, T, case, layouts

Tensor = torch.Tensor
MATRIX, TURNED = T((3, 4)), T((3, 4), strides=(1, 3))
IMAGE = T((2, 4, 3, 3))


def casts():
    for row in 'float double half bfloat16 char byte short int long bool'.split():
        for name in ALL:
            case(row, getattr(Tensor, row), T((3, 4), name))
        case(row, getattr(Tensor, row), T((3, 4), 'bool', strides=(1, 3)))
    for x in [MATRIX, TURNED, T(()), T((0, 3))]:
        for dtype in [torch.float32, torch.float64]:
            case('to', Tensor.to, x, dtype)
            case('to', Tensor.to, x, dtype=dtype)
            case('to', Tensor.to, x, 'cpu', dtype)
            case('to', Tensor.to, x, dtype, copy=True)
            case('cast', torch.ops.prims.convert_element_type.default, x, dtype)
            case('_to_copy', torch.ops.aten._to_copy.default, x, dtype=dtype)
        case('_to_copy', torch.ops.aten._to_copy.default, x)
        case('to', Tensor.to, x, 'cpu')
        case('to', Tensor.to, x, T((2,)))
        case('to', Tensor.to, x, T((2,), 'int64'))
        case('type_as', Tensor.type_as, x, T((2,)))
        case('type_as', Tensor.type_as, x, T((2,), 'int64'))
        case('contiguous', Tensor.contiguous, x)
        case('clone', torch.clone, x)
        case('detach', torch.detach, x)
        case('positive', torch.positive, x)
        case('getattr', getattr, x, 'data')


def dropouts():
    for row, x in [('dropout', MATRIX), ('dropout1d', T((2, 3, 4))),
                   ('dropout2d', IMAGE), ('dropout3d', T((2, 3, 2, 2, 2))),
                   ('alpha_dropout', MATRIX),
                   ('feature_alpha_dropout', IMAGE)]:
        function = getattr(F, row)
        case(row, function, x, 0.5, False)
        case(row, function, x, 0.0, True)
        case(row, function, x, 0.5, False, True)


def rearranged():
    gaps = [T((5,), strides=(2,)), T((3, 4), strides=(8, 2))]
    for x in list(layouts()) + [T(()), T((1, 1)), T((0, 3))] + gaps:
        for row in ['atleast_1d', 'atleast_2d', 'atleast_3d', 'ravel']:
            case(row, getattr(torch, row), x)
        case('flatten', torch.flatten, x)
        case('reshape', torch.reshape, x, x.sizes)
        case('reshape_as', Tensor.reshape_as, x, x)
        case('view_as', Tensor.view_as, x, x)
        case('expand_as', Tensor.expand_as, x, x)
        case('broadcast_to', torch.broadcast_to, x, x.sizes)
        case('broadcast_tensors', torch.broadcast_tensors, x, x)
        case('repeat', Tensor.repeat, x, (1,) * max(1, len(x.sizes)))
        case('tile', torch.tile, x, (1,))
        case('repeat_interleave', torch.repeat_interleave, x, 1)
        case('hstack', torch.hstack, [x])
        case('vstack', torch.vstack, [x])
        case('dstack', torch.dstack, [x])
        case('column_stack', torch.column_stack, [x])
        case('stack', torch.stack, [x])
        if len(x.sizes) > 0:
            case('cat', torch.cat, [x])
            case('flip', torch.flip, x, ())
            case('roll', torch.roll, x, 0)
            case('tensor_split', torch.tensor_split, x, 1)
            case('split_with_sizes', torch.split_with_sizes, x, [x.sizes[0]])
            case('unflatten', torch.unflatten, x, 0, (1, x.sizes[0]))
            case('unfold_method', Tensor.unfold, x, 0, min(1, x.sizes[0]), 1)
            case('repeat_interleave', torch.repeat_interleave, x, 1, 0)
        if len(x.sizes) > 1:
            case('rot90', torch.rot90, x, 0)
            case('rot90', torch.rot90, x, 4)
            case('adjoint', torch.adjoint, x)
            case('fliplr', torch.fliplr, x)
            case('hsplit', torch.hsplit, x, 1)
            case('vsplit', torch.vsplit, x, 1)
        if len(x.sizes) == 2:
            case('diag', torch.diag, x)
            case('tril', torch.tril, x, 9)
        case('squeeze', torch.squeeze, x)
    case('dsplit', torch.dsplit, T((2, 3, 4)), 1)
    case('atleast_2d', torch.atleast_2d, T((3,)), MATRIX, T(()))
    case('atleast_1d', torch.atleast_1d, [T((3,)), T(())])
    for how in ['ij', 'xy']:
        case('meshgrid', torch.meshgrid, T((3,)), indexing=how)
        case('meshgrid', torch.meshgrid, T(()), T((3,)), indexing=how)
        case('meshgrid', torch.meshgrid, T((3,), strides=(2,)), T((1,)),
             indexing=how)
    case('broadcast_tensors', torch.broadcast_tensors, MATRIX, T((4,)), T(()))


def einsums():
    for text in ['ij->ij', 'ij->ji', 'ij->i', 'ij->', 'ij', '...->...']:
        case('einsum', torch.einsum, text, MATRIX)
    case('einsum', torch.einsum, 'ii->i', T((3, 3)))
    case('einsum', torch.einsum, 'ii', T((3, 3)))
    case('einsum', torch.einsum, 'i,j->ij', T((3,)), T((4,)))
    case('einsum', torch.einsum, 'ij,jk->ik', MATRIX, T((4, 2)))
    case('einsum', torch.einsum, 'ij,->ij', MATRIX, T(()))
    case('einsum', torch.einsum, 'ij->ij', T((1, 4)))
    case('einsum', torch.einsum, 'ij->j', T((1, 4)))
    case('einsum', torch.einsum, 'ij->j', T((3, 0)))


def picked():
    get = Tensor.__getitem__
    for index in [0, slice(None), Ellipsis, None, (0, 1), (slice(1, 2), 0),
                  (), L([0, 1]), [0, 2], (slice(None), L([0])), L(1),
                  (0, L(1)), L([True, False, True], 'bool'), True,
                  (Ellipsis, None, slice(0, 0))]:
        case('getitem', get, MATRIX, index)
    case('getitem', lambda items, i: items[i], [MATRIX, T((2,))], 1)
    case('getitem', lambda items, i: items[i], (MATRIX, T((2,))),
         slice(None, None, -1))
    case('index_select', torch.index_select, MATRIX, 0, L([0, 1, 2]))
    case('take_along_dim', torch.take_along_dim, MATRIX, L([[0], [0], [0]]), 1)
    case('masked_select', torch.masked_select, MATRIX, L([[True]], 'bool'))
    case('where', torch.where, L(True, 'bool'), MATRIX, TURNED)
    case('where_method', lambda x, c, y: x.where(c, y), MATRIX,
         L(True, 'bool'), TURNED)
    case('slice_scatter', torch.slice_scatter, MATRIX, MATRIX)
    case('nonzero', torch.nonzero, MATRIX, as_tuple=True)


def unchanged():
    """Calls that give their argument's numbers back, and reductions over
    nothing."""
    case('pad', F.pad, MATRIX, (0, 0))
    case('pad', F.pad, MATRIX, (0, 0, 0, 0))
    case('pad', F.pad, T((2, 3, 4)), (0, 0), 'reflect')
    case('pad', F.pad, T((2, 3, 4)), (0, 0), 'replicate')
    case('pad', F.pad, T((2, 3, 4)), (0, 0), 'circular')
    case('pad', F.pad, MATRIX, (-1, -1))
    case('constant_pad_nd', torch.constant_pad_nd, MATRIX, (0, 0))
    for mode in ['nearest', 'bilinear', 'area']:
        case('interpolate', F.interpolate, IMAGE, (3, 3), mode=mode)
    case('interpolate', F.interpolate, IMAGE, None, 1.0)
    case('adaptive_avg_pool2d', F.adaptive_avg_pool2d, IMAGE, (3, 3))
    case('adaptive_avg_pool2d', F.adaptive_avg_pool2d, IMAGE, (None, None))
    case('adaptive_avg_pool2d', F.adaptive_avg_pool2d, IMAGE, 1)
    case('adaptive_avg_pool1d', F.adaptive_avg_pool1d, T((2, 3, 4)), 4)
    case('avg_pool2d', F.avg_pool2d, IMAGE, 1)
    case('max_pool2d', F.max_pool2d, IMAGE, 1)
    case('pixel_shuffle', F.pixel_shuffle, IMAGE, 1)
    case('pixel_unshuffle', F.pixel_unshuffle, IMAGE, 1)
    case('channel_shuffle', F.channel_shuffle, IMAGE, 1)
    case('unfold', F.unfold, IMAGE, 1)
    case('fold', F.fold, T((2, 4, 9)), (3, 3), 1)
    for name in ['float32', 'int64']:
        x = T((3, 4), name)
        for row in ['abs', 'floor', 'ceil', 'round', 'trunc', 'nan_to_num']:
            case(row, getattr(torch, row), x)
        for row in ['clamp_min', 'clamp_max']:
            case(row, getattr(torch, row), x, 0)
        case('clamp', torch.clamp, x, -1)
        case('mul', torch.mul, x, 1)
        case('add', torch.add, x, 0)
        case('sub', torch.sub, x, 0)
        case('div', torch.div, x, 1)
        case('pow', torch.pow, x, 1)
        for y in [T((), name), T((1,), name), x]:
            for row in ['sum', 'prod']:
                case(row, getattr(torch, row), y)
            for row in ['amax', 'amin', 'max', 'min', 'median', 'argmax']:
                case(row, getattr(torch, row), y)
            case('sum', torch.sum, y, ())
            case('sort', torch.sort, y)
            case('cumsum', torch.cumsum, y, 0)
            case('cumprod', torch.cumprod, y, 0)
    for y in [T(()), T((1,)), MATRIX]:
        for row in ['mean', 'norm', 'nanmean', 'nansum']:
            case(row, getattr(torch, row), y)
        for row in ['softmax', 'log_softmax', 'logsumexp']:
            case(row, getattr(torch, row), y, 0)
        for row in ['relu', 'relu6', 'hardtanh', 'leaky_relu', 'elu', 'silu']:
            case(row, getattr(F, row), y)
    case('normalize', F.normalize, MATRIX)
    case('lerp', torch.lerp, MATRIX, MATRIX, 0.0)
    case('tensordot', torch.tensordot, MATRIX, T((2,)), 0)
    case('inner', torch.inner, T(()), MATRIX)
    case('kron', torch.kron, T((1,)), MATRIX)
    case('outer', torch.outer, T((1,)), T((4,)))
    case('trace', torch.trace, T((1, 1)))
    case('prelu', F.prelu, MATRIX, T((1,)))
    case('glu', F.glu, MATRIX)
    case('mse_loss', F.mse_loss, MATRIX, MATRIX, reduction='none')
    case('l1_loss', F.l1_loss, MATRIX, MATRIX, reduction='none')


def made():
    case('empty', torch.empty, (2, 3))
    case('new_empty', Tensor.new_empty, MATRIX, (2, 3))
    case('item', lambda x: x.item(), T((1,)))


FAMILIES = (casts, dropouts, rearranged, einsums, picked, unchanged, made)
