"""Tensors without elements, and sizes and numbers at the edge of what is
allowed. Used by make_structured_reference.py."""

import torch
import torch.nn.functional as F

from structured_format import L, T, case, fail, view


def empty_products():
    case('inner', torch.inner, T((3, 0)), T((4, 0)))
    case('inner', torch.inner, T((0,)), T((0,)))
    case('inner', torch.inner, T((2, 3, 0)), T((0,)))
    case('inner', torch.inner, T((2, 3, 0)), T((4, 5, 0)))
    case('inner', torch.inner, T((2, 3, 1)), T((0, 5, 1)))
    fail('inner', torch.inner, T((2, 3)), T((4,)))
    fail('inner', torch.inner, T((2, 3)), T((5, 4)))
    case('mm', torch.mm, T((2, 0)), T((0, 3)))
    case('bmm', torch.bmm, T((0, 2, 3)), T((0, 3, 2)))
    case('bmm', torch.bmm, T((2, 2, 0)), T((2, 0, 3)))
    case('addmm', torch.addmm, T((2, 3)), T((2, 0)), T((0, 3)))
    case('linear', F.linear, T((2, 0)), T((3, 0)), T((3,)))
    case('linear', F.linear, T((0, 4)), T((3, 4)), T((3,)))
    case('einsum', torch.einsum, 'ij,jk->ik', T((2, 0)), T((0, 3)))
    case('kron', torch.kron, T((3, 0)), T((4, 2)))
    case('tensordot', torch.tensordot, T((2, 0)), T((0, 3)), 1)
    fail('tensordot', torch.tensordot, T((2, 3)), T((3, 2)), 5)
    fail('tensordot', torch.tensordot, T((2, 3)), T((3, 2)), -1)
    for name in ['float32', 'float64']:
        case('matmul', torch.matmul, T((2, 0, 3, 4), name),
             T((2, 0, 4, 5), name))
        case('matmul', torch.matmul, T((3, 2, 0), name), T((0,), name))
    case('meshgrid', torch.meshgrid, T((0,)), T((3,)), indexing='ij')
    case('meshgrid', torch.meshgrid, T((2,)), T((0,)), T((3,)), indexing='xy')
    case('meshgrid', torch.meshgrid, T((0,)), indexing='ij')


def empty_images():
    for bias in (None, T((5,))):
        case('conv2d', F.conv2d, T((2, 0, 4, 4)), T((5, 0, 3, 3)), bias)
        case('conv2d', F.conv2d, T((0, 5, 4, 4)), T((5, 5, 3, 3)), bias)
        case('conv_transpose2d', F.conv_transpose2d, T((0, 5, 4, 4)),
             T((5, 5, 3, 3)), bias)
    case('conv2d', F.conv2d, T((0, 4, 4)), T((5, 0, 3, 3)))
    case('conv2d', F.conv2d, T((2, 0, 4, 4)), T((4, 0, 3, 3)), groups=2)
    case('conv1d', F.conv1d, T((2, 0, 4)), T((5, 0, 3)))
    case('conv3d', F.conv3d, T((2, 0, 4, 4, 4)), T((5, 0, 3, 3, 3)))
    fail('conv2d', F.conv2d, T((2, 5, 4, 4)), T((0, 5, 3, 3)))
    fail('conv_transpose2d', F.conv_transpose2d, T((2, 0, 4, 4)),
         T((0, 5, 3, 3)))
    image = T((1, 2, 4, 4))
    for sizes in [(0, 3), 0, (3, 0)]:
        case('interpolate', F.interpolate, image, sizes, mode='area')
    case('interpolate', F.interpolate, image, None, 0.1, 'area')
    case('interpolate', F.interpolate, T((2, 0, 4, 4)), 3, mode='area')
    fail('interpolate', F.interpolate, T((1, 2, 0, 4)), 3, mode='area')
    for mode in ['nearest', 'bilinear', 'bicubic', 'nearest-exact', 'area']:
        case('interpolate', F.interpolate, T((0, 2, 4, 4)), 3, mode=mode)
    for mode in ['nearest', 'bilinear', 'bicubic']:
        fail('interpolate', F.interpolate, T((2, 0, 4, 4)), 3, mode=mode)
    for sizes in [(0, 2), (2, 0)]:
        case('adaptive_avg_pool2d', F.adaptive_avg_pool2d, image, sizes)
        case('adaptive_max_pool2d', F.adaptive_max_pool2d, image, sizes)
    case('adaptive_avg_pool1d', F.adaptive_avg_pool1d, T((1, 2, 4)), 0)
    case('adaptive_avg_pool2d', F.adaptive_avg_pool2d, T((2, 0, 4, 4)), 2)
    case('adaptive_max_pool2d', F.adaptive_max_pool2d, T((0, 2, 4, 4)), 2)
    fail('adaptive_max_pool2d', F.adaptive_max_pool2d, T((2, 0, 4, 4)), 2)
    fail('adaptive_avg_pool2d', F.adaptive_avg_pool2d, T((1, 2, 0, 4)), 2)
    fail('adaptive_avg_pool2d', F.adaptive_avg_pool2d, image, (-1, 2))
    # Cells of a dim that are too many to be taken one by one.
    for name in ['float32', 'float64', 'bfloat16']:
        for size, cells in [(7, 100), (90, 70)]:
            case('adaptive_avg_pool1d', F.adaptive_avg_pool1d,
                 T((1, 2, size), name), cells)
            case('adaptive_max_pool1d', F.adaptive_max_pool1d,
                 T((1, 2, size), name), cells)
    for pool in ['max_pool2d', 'avg_pool2d']:
        case(pool, getattr(F, pool), T((0, 2, 4, 4)), 2)
        fail(pool, getattr(F, pool), T((2, 0, 4, 4)), 2)
        fail(pool, getattr(F, pool), T((2, 2, 0, 4)), 2)
    case('unfold', F.unfold, T((0, 2, 4, 4)), 2)
    fail('unfold', F.unfold, T((1, 0, 4, 4)), 2)
    case('fold', F.fold, T((0, 8, 9)), (4, 4), 2)
    fail('fold', F.fold, T((1, 0, 9)), (4, 4), 2)
    for sizes in [(0, 4, 2, 2), (1, 0, 2, 2), (1, 4, 0, 2)]:
        case('pixel_shuffle', F.pixel_shuffle, T(sizes), 2)
    for factor in [2**32, 0, -1, 3]:
        fail('pixel_shuffle', F.pixel_shuffle, T((1, 4, 2, 2)), factor)
        fail('pixel_unshuffle', F.pixel_unshuffle, T((1, 4, 2, 2)), factor)
    for size in [1, 2, 3, 9, 40]:
        case('local_response_norm', F.local_response_norm, T((2, 4, 3)), size)
    fail('local_response_norm', F.local_response_norm, T((2, 4, 3)), 0)


def edges_of_views():
    fail('as_strided', torch.as_strided, T((4,)), (2,), (-1,), 3)
    fail('as_strided', torch.as_strided, T((4,)), (1,), (-1,), 3)
    fail('as_strided', torch.as_strided, T((4,)), (1,), (1,), -1)
    view('unflatten', torch.unflatten, T((0,)), 0, (3, -1))
    view('diagonal', torch.diagonal, T((3, 3)), -2**63)
    view('diagonal', torch.diagonal, T((3, 3)), 2**63 - 1)
    fail('narrow', torch.narrow, T((3,)), 0, -2**63, 1)
    view('tensor_split', torch.tensor_split, T((30, 2)), 12)
    view('tensor_split', torch.tensor_split, T((3, 2)), 12)
    case('roll', torch.roll, T((3, 4)), 2**62, 1)
    case('roll', torch.roll, T((3, 4)), -2**62, 0)
    case('round', torch.round, T((9,)), decimals=2**62)
    case('slice', torch.ops.aten.slice.Tensor, T((5,)), 0, -2**63, 2**63 - 1,
         2**62)
    case('narrow', torch.narrow, T((3, 0)), 0, 3, 0)
    case('cross', torch.cross, T((0, 3)), T((0, 3)), 1)
    case('embedding', F.embedding, L([]), T((3, 4)))


def numbers_of_other_kinds():
    for name in ['bool', 'int64', 'float32']:
        case('full_like', torch.full_like, T((3,), name), 0.5)
        case('masked_fill', torch.masked_fill, T((2,), name),
             L([1, 0], 'bool'), 0.5)
    for name in ['float32', 'int64', 'int32', 'bool', 'bfloat16', 'uint8']:
        case('median', torch.median, T((0,), name))
        case('median', torch.median, T((2, 0), name))
    case('cosine_similarity', F.cosine_similarity, T((2, 3)),
         T((2, 3), 'int64', 5))
    fail('cosine_similarity', F.cosine_similarity, T((2, 3), 'int64'),
         T((2, 3), 'int64', 5))
    for dims in [(0, 0), (0, -2), (0,)]:
        fail('rot90', torch.rot90, T((2, 3)), 1, dims)
    fail('rot90', torch.rot90, T((2,)), 1, (0, 1))
    view('getattr', getattr, T(()), 'mT')


FAMILIES = (numbers_of_other_kinds, empty_products, empty_images, edges_of_views)
