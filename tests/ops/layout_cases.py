"""Calls of rows whose other references have no tensors of several dims. Used by
make_layouts.py, which lays them out in all orders."""

import torch
import torch.nn.functional as F

from structured_format import T, case

MATRIX, OTHER = T((3, 4)), T((3, 4), offset=20)
CUBE = T((2, 3, 4))
IMAGE = T((2, 3, 4, 5))
FLAGS = T((3, 4), 'bool')


def one_tensor():
    for row in 'isneginf isposinf signbit nan_to_num logit'.split():
        case(row, getattr(torch, row), MATRIX)
    for row in ['zeros_like', 'ones_like']:
        for x in [MATRIX, CUBE, IMAGE]:
            case(row, getattr(torch, row), x)
    case('zeros_like', torch.empty_like, CUBE)
    case('full_like', torch.full_like, CUBE, 2.5)
    case('clone', torch.clone, IMAGE)
    case('to', torch.Tensor.to, IMAGE, torch.float64)
    case('to', torch.Tensor.to, IMAGE, torch.float32, copy=True)
    case('contiguous', torch.Tensor.contiguous, IMAGE)
    case('ravel', torch.ravel, CUBE)
    case('ravel', torch.ravel, T((5,), strides=(2,)))
    for row in ['softmax', 'log_softmax']:
        case(row, getattr(F, row), IMAGE, 1)
    for row in ['sum', 'mean', 'amax', 'var', 'prod', 'norm', 'logsumexp']:
        if row not in ['prod', 'norm']:
            case(row, getattr(torch, row), IMAGE, (1, 3))
        case(row, getattr(torch, row), CUBE, dim=1)
        case(row, getattr(torch, row), CUBE, dim=1, keepdim=True)
    case('aminmax', torch.aminmax, CUBE, dim=1)
    case('median', torch.median, CUBE, 1)
    case('kthvalue', torch.kthvalue, CUBE, 2, 1)
    case('cumsum', torch.cumsum, CUBE, 1)
    case('count_nonzero', torch.count_nonzero, CUBE, 1)
    case('nansum', torch.nansum, CUBE, 1)
    case('var_mean', torch.var_mean, CUBE, 1)
    case('layer_norm', F.layer_norm, CUBE, (4,))
    case('group_norm', F.group_norm, IMAGE, 3, T((3,)))
    case('group_norm', F.group_norm, IMAGE, 3)
    case('instance_norm', F.instance_norm, IMAGE)


def several_tensors():
    for row in 'isclose float_power heaviside isin'.split():
        case(row, getattr(torch, row), MATRIX, OTHER)
    case('outer', torch.outer, T((3,)), T((4,)))
    case('mul', torch.mul, MATRIX, T((4,)))
    case('mul', torch.mul, T((4,)), MATRIX)
    case('mul', torch.mul, T((3, 1)), MATRIX)
    case('mul', torch.mul, T((2, 1, 4)), MATRIX)
    case('mul', torch.mul, MATRIX, T((2, 3, 1)))
    case('add', torch.add, IMAGE, T((3, 1, 1)))
    case('add', torch.add, MATRIX, 2)
    case('pow', torch.pow, MATRIX, 2)
    case('pow', torch.pow, 2, MATRIX)
    case('sub', torch.sub, CUBE, T((2, 3, 4), offset=30))
    case('where', torch.where, FLAGS, MATRIX, OTHER)
    case('where', torch.where, FLAGS, MATRIX, 0.5)
    case('where', torch.where, T((4,), 'bool'), MATRIX, OTHER)
    case('masked_fill', torch.masked_fill, MATRIX, FLAGS, 0.5)
    case('masked_fill', torch.masked_fill, MATRIX, T((4,), 'bool'), 0.5)
    case('lerp', torch.lerp, MATRIX, OTHER, 0.5)
    case('addcmul', torch.addcmul, MATRIX, OTHER, T((4,)))
    case('addcdiv', torch.addcdiv, MATRIX, OTHER, T((4,)))
    case('cat', torch.cat, [CUBE, T((2, 3, 4), offset=30)], 1)
    case('cat', torch.cat, [IMAGE, T((2, 3, 4, 5), offset=30)], 1)
    case('stack', torch.stack, [MATRIX, OTHER], 1)
    case('cosine_similarity', F.cosine_similarity, CUBE,
         T((2, 3, 4), offset=30))
    case('matmul', torch.matmul, CUBE, T((4, 3)))
    case('linear', F.linear, CUBE, T((5, 4)))


# Strides of dims of one element can decide where others do not.
def single_elements():
    single = T((1, 1, 2), strides=(1, 2, 1))
    for row in ['mul', 'le']:
        case(row, getattr(torch, row), single, T((2, 2)))
        case(row, getattr(torch, row), T((2, 2)), single)
    case('add', torch.add, single, T((3, 2)))


def images():
    case('avg_pool2d', F.avg_pool2d, IMAGE, 2)
    case('max_pool2d', F.max_pool2d, IMAGE, 2)
    case('interpolate', F.interpolate, IMAGE, None, 2)
    case('interpolate', F.interpolate, IMAGE, None, 2, 'bilinear')
    case('pad', F.pad, IMAGE, (1, 1, 1, 1))
    case('batch_norm', F.batch_norm, IMAGE, T((3,)), T((3,), 'positive_float32'))
    case('conv2d', F.conv2d, IMAGE, T((4, 3, 1, 1)))
    case('conv2d', F.conv2d, IMAGE, T((4, 3, 3, 3)))


    line, volume = T((2, 3, 9)), T((2, 2, 3, 3, 3))
    case('conv1d', F.conv1d, line, T((4, 3, 3), offset=60))
    case('conv1d', F.conv1d, line, T((3, 1, 3)), None, 1, 1, 1, 3)
    case('conv_transpose1d', F.conv_transpose1d, line, T((3, 4, 3)))
    case('conv2d', F.conv2d, T((3, 4, 5)), T((4, 3, 3, 3)))
    case('interpolate', F.interpolate, line, None, 2)
    case('interpolate', F.interpolate, volume, None, 2)
    case('interpolate', F.interpolate, volume, None, 2, 'area')
    case('pad', F.pad, volume, (1, 1, 1, 1, 1, 1))
    case('pad', F.pad, volume, (1, 1, 1, 1, 1, 1), 'replicate')
    case('max_pool3d', F.max_pool3d, volume, 2)
    case('batch_norm', F.batch_norm, volume, T((2,)),
         T((2,), 'positive_float32'))


FAMILIES = (one_tensor, several_tensors, single_elements, images)
