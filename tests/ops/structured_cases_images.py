"""Convolutions, pooling and resizing. Used by
make_structured_reference.py."""

import torch
import torch.nn.functional as F

from structured_format import FLOATS, L, T, case, fail


def convolutions():
    x = T((2, 4, 7), offset=3)
    w = T((6, 4, 3), offset=60)
    for name in FLOATS:
        case('conv1d', F.conv1d, T((1, 2, 6), name), T((3, 2, 3), name, 40),
             T((3,), name, 90))
        case('conv2d', F.conv2d, T((1, 2, 4, 4), name),
             T((2, 2, 3, 3), name, 40), T((2,), name, 90), 1, 1)
    case('conv1d', F.conv1d, x, w)
    case('conv1d', F.conv1d, x, w, T((6,)), 2, 1)
    case('conv1d', F.conv1d, x, w, None, 1, 2, 2)
    case('conv1d', F.conv1d, x, T((6, 2, 3), offset=60), None, 1, 0, 1, 2)
    case('conv1d', F.conv1d, x, T((4, 1, 3)), T((4,)), 1, 1, 1, 4)
    case('conv1d', F.conv1d, T((4, 7)), w)
    case('conv1d', F.conv1d, T((2, 4, 7), strides=(1, 14, 2)), w)
    case('conv1d', F.conv1d, x, w, None, 1, 'same')
    case('conv1d', F.conv1d, x, T((6, 4, 2), offset=60), None, 1, 'same')
    case('conv1d', F.conv1d, x, w, None, 2, 'valid')
    case('conv1d', F.conv1d, T((0, 4, 7)), w)
    x, w = T((2, 3, 5, 6)), T((4, 3, 3, 2), offset=80)
    case('conv2d', F.conv2d, x, w)
    case('conv2d', F.conv2d, x, w, T((4,)), (2, 1), (1, 2))
    case('conv2d', F.conv2d, x, w, T((4,)), 2, 1, 2)
    case('conv2d', F.conv2d, x, T((3, 1, 3, 3)), None, 1, 1, 1, 3)
    case('conv2d', F.conv2d, x, T((4, 3, 1, 1), offset=9))
    case('conv2d', F.conv2d, x, w, None, 1, 'same', 2)
    case('conv2d', F.conv2d, T((2, 3, 5, 6), strides=(90, 1, 18, 3)), w)
    case('conv2d', F.conv2d, T((3, 5, 6)), w)
    fail('conv2d', F.conv2d, T((2, 2, 5, 6)), w)
    fail('conv2d', F.conv2d, T((2, 3)), w)
    fail('conv2d', F.conv2d, T((2, 3, 2, 2)), w)
    fail('conv2d', F.conv2d, x, w, T((3,)))
    fail('conv2d', F.conv2d, x, w, None, 2, 'same')
    case('conv3d', F.conv3d, T((1, 2, 3, 4, 3)), T((2, 2, 2, 2, 2), offset=50),
         T((2,)), 1, 1)
    case('conv_transpose1d', F.conv_transpose1d, T((2, 4, 5)),
         T((4, 3, 3), offset=50), T((3,)), 2, 1, 1)
    w = T((3, 4, 3, 2), offset=80)
    case('conv_transpose2d', F.conv_transpose2d, x, w)
    case('conv_transpose2d', F.conv_transpose2d, x, w, T((4,)), 2, 1, (1, 0))
    case('conv_transpose2d', F.conv_transpose2d, x, w, None, 1, 1, 0, 1, 2)
    case('conv_transpose2d', F.conv_transpose2d, T((2, 4, 3, 3)),
         T((4, 2, 3, 3), offset=80), None, 2, 0, 0, 2)
    case('conv_transpose2d', F.conv_transpose2d, T((3, 4, 4)), w)
    case('conv_transpose3d', F.conv_transpose3d, T((1, 2, 2, 3, 2)),
         T((2, 2, 2, 2, 2), offset=50), T((2,)), 2, 1)
    fail('conv_transpose2d', F.conv_transpose2d, T((2, 4, 5, 6)), w)
    fail('conv_transpose2d', F.conv_transpose2d, x, w, None, 1, 0, 1)
    conv = torch.ops.aten.convolution.default
    case('convolution', conv, x, T((4, 3, 3, 2), offset=80), T((4,)), [1, 2],
         [1, 0], [1, 1], False, [0, 0], 1)
    case('convolution', conv, x, w, None, [2, 2], [1, 1], [1, 1], True, [1, 1],
         1)


def pools():
    x = T((2, 3, 6, 7))
    for name in FLOATS:
        case('max_pool2d', F.max_pool2d, T((1, 2, 4, 4), name), 2)
        case('avg_pool2d', F.avg_pool2d, T((1, 2, 4, 4), name), 2)
        case('adaptive_avg_pool2d', F.adaptive_avg_pool2d,
             T((1, 2, 4, 4), name), (1, 1))
    case('max_pool2d', F.max_pool2d, T((1, 2, 4, 4), 'int64'), 2)
    for args in [(2,), (3, 2), (3, 1, 1), ((3, 2), (2, 1), (1, 0)),
                 (2, 2, 0, 2), (3, 2, 1, 2)]:
        case('max_pool2d', F.max_pool2d, x, *args)
        case('max_pool2d_with_indices', lambda x, *a, **k: F.max_pool2d(
            x, *a, return_indices=True), x, *args)
        case('max_pool2d', F.max_pool2d, x, *args, ceil_mode=True)
        if len(args) < 4:
            case('avg_pool2d', F.avg_pool2d, x, *args)
            case('avg_pool2d', F.avg_pool2d, x, *args, ceil_mode=True)
            case('avg_pool2d', F.avg_pool2d, x, *args, ceil_mode=True,
                 count_include_pad=False)
            case('avg_pool2d', F.avg_pool2d, x, *args, divisor_override=5)
    case('max_pool2d', F.max_pool2d, T((3, 6, 7)), 2)
    case('max_pool2d', F.max_pool2d, T((1, 2, 4, 4), strides=(32, 1, 8, 2)), 2)
    case('max_pool2d', F.max_pool2d, T((1, 1, 4, 4), 'special_float32'), 2)
    case('max_pool2d', F.max_pool2d, T((0, 2, 4, 4)), 2)
    fail('max_pool2d', F.max_pool2d, T((1, 2, 4, 4)), 2, 2, 2)
    fail('max_pool2d', F.max_pool2d, T((1, 2, 2, 2)), 3)
    case('max_pool1d', F.max_pool1d, T((2, 3, 7)), 3, 2, 1)
    case('max_pool1d_with_indices', lambda x, *a: F.max_pool1d(
        x, *a, return_indices=True), T((2, 3, 7)), 3, 2, 1)
    case('avg_pool1d', F.avg_pool1d, T((2, 3, 7)), 3, 2, 1)
    case('max_pool3d', F.max_pool3d, T((1, 2, 4, 3, 4)), 2, 1)
    # Rows and planes that no window covers.
    for window in [2, (1, 2, 2), (2, 1, 2)]:
        case('max_pool3d', F.max_pool3d, T((2, 2, 3, 3, 5)), window)
        case('avg_pool3d', F.avg_pool3d, T((2, 2, 3, 3, 5)), window)
    for size in [1, 2, (3, 2, 1)]:
        case('adaptive_avg_pool3d', F.adaptive_avg_pool3d, T((1, 2, 3, 4, 5)),
             size)
        case('adaptive_max_pool3d', F.adaptive_max_pool3d, T((1, 2, 3, 4, 5)),
             size)
    case('avg_pool3d', F.avg_pool3d, T((1, 2, 4, 3, 4)), 2, 1, 1)
    for size in [(1, 1), (2, 3), (4, 5), (6, 7), (3, 1), 2, (None, 4), (7, 8)]:
        case('adaptive_avg_pool2d', F.adaptive_avg_pool2d, x, size)
        case('adaptive_max_pool2d', F.adaptive_max_pool2d, x, size)
    case('adaptive_avg_pool2d', F.adaptive_avg_pool2d, T((3, 6, 7)), 2)
    case('adaptive_avg_pool1d', F.adaptive_avg_pool1d, T((2, 3, 7)), 3)
    case('adaptive_max_pool1d', F.adaptive_max_pool1d, T((2, 3, 7)), 3)
    for mode in ['nearest', 'nearest-exact', 'bilinear']:
        for size in [(3, 4), (12, 14), (6, 7), (9, 5), (1, 1)]:
            case('interpolate', F.interpolate, x, size, mode=mode)
        case('interpolate', F.interpolate, x, None, 2, mode)
        case('interpolate', F.interpolate, x, None, (0.7, 1.6), mode)
    case('interpolate', F.interpolate, x, (9, 5), mode='bilinear',
         align_corners=True)
    for size in [(9, 5), (2, 11), 1]:
        for mode in ['area', 'bicubic']:
            case('interpolate', F.interpolate, x, size, mode=mode)
        case('interpolate', F.interpolate, x, size, mode='bicubic',
             align_corners=True)
    case('interpolate', F.interpolate, x, None, (0.7, 1.6), 'bicubic')
    case('interpolate', F.interpolate, x, None, 2, 'area')
    case('interpolate', F.interpolate, T((2, 3, 7)), 5, mode='area')
    case('interpolate', F.interpolate, T((1, 2, 3, 4, 5)), (2, 6, 3),
         mode='area')
    case('interpolate', F.interpolate, T((1, 2, 4, 4), 'float16'), 6,
         mode='bicubic')
    fail('interpolate', F.interpolate, x, 3, mode='area', align_corners=True)
    for mode in ['bilinear', 'bicubic']:
        for size in [(9, 5), (2, 11), (4, 3), 1]:
            for corners in [False, True]:
                case('interpolate', F.interpolate, x, size, mode=mode,
                     align_corners=corners, antialias=True)
        case('interpolate', F.interpolate, x, None, (0.4, 1.6), mode,
             antialias=True)
        case('interpolate', F.interpolate, T((1, 2, 9, 7), 'float64'), (4, 3),
             mode=mode, antialias=True)
    fail('interpolate', F.interpolate, x, 3, mode='nearest', antialias=True)
    fail('interpolate', F.interpolate, T((2, 3, 7)), 3, mode='linear',
         antialias=True)
    for mode in ['bilinear', 'bicubic']:
        fail('interpolate', F.interpolate, T((1, 2, 4, 4), 'int32'), 3,
             mode=mode)
    fail('interpolate', F.interpolate, T((1, 2, 4, 4), 'int32'), 3,
         mode='bicubic', antialias=True)
    fail('interpolate', F.interpolate, T((2, 3, 7), 'int64'), 5, mode='linear')
    case('interpolate', F.interpolate, T((2, 3, 7)), 5, mode='linear')
    case('interpolate', F.interpolate, T((2, 3, 7), 'float16'), 5,
         mode='linear')
    upsampling()


def upsampled(input, output_size, scales, mode, align_corners=False):
    name = {'nearest': 'upsample_nearest', 'bilinear': 'upsample_bilinear',
            'nearest-exact': '_upsample_nearest_exact',
            'linear': 'upsample_linear', 'trilinear': 'upsample_trilinear',
            'bicubic': 'upsample_bicubic'}[mode]
    function = getattr(torch.ops.aten, '%s%dd' % (name, len(scales)))
    corners = [] if 'nearest' in mode else [align_corners]
    return function(input, output_size, *corners, *scales)


def resampled(x, dims, places, weights):
    for dim, at, weight in zip(dims, places, weights):
        if weight is None:
            x = x.index_select(dim, at[0])
            continue
        shape = [-1 if d == dim else 1 for d in range(x.dim())]
        x = sum(x.float().index_select(dim, a) * w.view(shape)
                for a, w in zip(at, weight)).to(x.dtype)
    return x


def resampling():
    two, one = L([[0, 1, 3, 2], [1, 1, 0, 2]]), L([[4, 0, 2]])
    weights = T((2, 4), offset=11)
    for name in ['float32', 'bfloat16']:
        x = T((1, 2, 4, 5), name)
        case('fxjit.resample_dims', resampled, x, (2,), (two,), (weights,))
        case('fxjit.resample_dims', resampled, x, (3,), (one,), (None,))
    case('fxjit.resample_dims', resampled, T((1, 2, 4, 5)), (2, 3), (two, one),
         (weights, None))
    case('fxjit.resample_dims', resampled, T((1, 2, 4, 5), 'int32'), (2, 3),
         (L([[3, 3, 0]]), one), (None, None))


def upsampling():
    resampling()
    x, wide = T((1, 2, 4, 5)), T((1, 2, 4, 5), 'float64')
    for image in (x, wide, T((1, 2, 4, 5), 'float16')):
        for mode in ['bilinear', 'bicubic']:
            for corners in [False, True]:
                case('upsample', upsampled, image, [7, 3], [None, None], mode,
                     corners)
                case('upsample', upsampled, image, [6, 3], [1.7, 0.6], mode,
                     corners)
                case('interpolate', F.interpolate, image, (7, 3), mode=mode,
                     align_corners=corners)
        for mode in ['nearest', 'nearest-exact']:
            case('upsample', upsampled, image, [6, 3], [1.7, 0.6], mode)
            case('upsample', upsampled, image, [6, 3], [1.7, None], mode)
    line, volume = T((2, 3, 7), 'float64'), T((1, 2, 3, 4, 5), 'float64')
    case('upsample', upsampled, line, [11], [1.6], 'linear')
    case('upsample', upsampled, line, [11], [None], 'linear', True)
    case('upsample', upsampled, volume, [2, 6, 5], [0.8, 1.5, None],
         'trilinear')
    case('upsample', upsampled, volume, [2, 6, 5], [0.8, 1.5, 1.1], 'nearest')
    fail('upsample', upsampled, x, [3], [None, None], 'bilinear')
    fail('upsample', upsampled, line, [3, 3], [None, None], 'bilinear')
    fail('upsample', upsampled, x, [0, 3], [None, None], 'bilinear')
    fail('upsample', upsampled, line, [0], [None], 'linear')
