"""Reductions, norms, products and attention. Used by
make_structured_reference.py."""

import torch
import torch.nn.functional as F

from structured_format import ALL, FLOATS, INF, INTS, L, T, case, fail, layouts


def reductions():
    table = [('sum', torch.sum, ALL), ('mean', torch.mean, FLOATS),
             ('amax', torch.amax, ALL), ('amin', torch.amin, ALL)]
    for row, f, dtypes in table:
        for name in dtypes:
            case(row, f, T((3, 4), name), 1)
        for x in layouts():
            case(row, f, x)
            case(row, f, x, -1)
            case(row, f, x, 0, True)
        case(row, f, T((2, 3, 4)), (0, 2))
        case(row, f, T((2, 3, 4)), (2, 0), True)
        case(row, f, T((2, 3, 4)), ())
        case(row, f, T(()))
        case(row, f, T(()), 0)
        case(row, f, T((4, 4), 'special_float32'), 1)
        case(row, f, T((0, 3)), 1)
        fail(row, f, T((2, 3)), 2)
        fail(row, f, T((2, 3)), (0, 0))
    for row, f in [('sum', torch.sum), ('mean', torch.mean)]:
        case(row, f, T((0, 3)), 0)
        case(row, f, T((3, 4), 'int32'), 1, dtype=torch.float32)
        case(row, f, T((3, 4), 'float16'), 1, dtype=torch.float32)
    case('sum', torch.sum, T((3, 4)), 1, dtype=torch.int64)
    fail('mean', torch.mean, T((2, 3), 'int64'), 1)
    fail('amax', torch.amax, T((0, 3)), 0)
    fail('amax', torch.amax, T((0, 3)))
    for name in ALL:
        case('prod', torch.prod, T((3, 4), name), 1)
        case('any', torch.any, T((3, 4), name), 1)
        case('all', torch.all, T((3, 4), name), 1)
    for row, f in [('prod', torch.prod), ('any', torch.any),
                   ('all', torch.all)]:
        for x in layouts():
            case(row, f, x)
            case(row, f, x, -1, True)
        case(row, f, T((0, 3)), 0)
        case(row, f, T((4, 4), 'special_float32'), 1)
    for row, f in [('max', torch.max), ('min', torch.min)]:
        for name in ALL:
            case(row, f, T((3, 4), name), 1)
        for x in layouts():
            case(row, f, x)
            case(row, f, x, 0)
            case(row, f, x, -1, True)
        case(row, f, T((4, 4), 'special_float32'), 1)
        case(row, f, T((3, 4)), T((3, 4), offset=20))
        case(row, f, T((3, 4)), T((4,), offset=20))
        fail(row, f, T((0, 3)))
    for row, f in [('argmax', torch.argmax), ('argmin', torch.argmin)]:
        for name in FLOATS + INTS:
            case(row, f, T((3, 4), name), 1)
        for x in layouts():
            case(row, f, x)
            case(row, f, x, 0, True)
        case(row, f, T((4, 4), 'special_float32'), 1)
        case(row, f, T((4, 4), 'special_float32'))
        case(row, f, T(()))
        fail(row, f, T((0, 3)))
        fail(row, f, T((0, 3)), 0)
    for row, f in [('var', torch.var), ('std', torch.std)]:
        for name in FLOATS:
            case(row, f, T((3, 4), name), 1)
        for x in layouts():
            case(row, f, x)
            case(row, f, x, -1, correction=0)
            case(row, f, x, 0, keepdim=True)
        case(row, f, T((3, 4)), 1, False)
        case(row, f, T((3, 4)), False)
        case(row, f, T((3, 4)), 1, True, True)
        case(row, f, T((3, 4)), (0, 1), correction=2)
        case(row, f, T((1, 4)), 0)
        case(row, f, T((4, 4), 'special_float32'), 1)
        fail(row, f, T((3, 4), 'int64'), 1)
    for name in FLOATS:
        case('logsumexp', torch.logsumexp, T((3, 4), name), 1)
    for x in layouts():
        case('logsumexp', torch.logsumexp, x, -1)
        case('logsumexp', torch.logsumexp, x, 0, True)
    case('logsumexp', torch.logsumexp, T((2, 3, 4)), (0, 2))
    case('logsumexp', torch.logsumexp, T((4, 4), 'special_float32'), 1)
    case('logsumexp', torch.logsumexp, T((0, 3)), 0)
    norm = torch.linalg.vector_norm
    for order in [2, 1, 0, 3.0, INF, -INF, 0.5]:
        case('linalg_vector_norm', norm, T((3, 4)), order, 1)
        case('linalg_vector_norm', norm, T((3, 4)), order, (0, 1), True)
        case('linalg_vector_norm', norm, T((3, 4), 'float16'), order, 1)
    case('linalg_vector_norm', norm, T((3, 4)))
    fail('linalg_vector_norm', norm, T((3, 4), 'int64'))
    case('norm', torch.norm, T((3, 4)))
    case('norm', torch.norm, T((3, 4)), 2, 1)
    case('norm', torch.norm, T((3, 4)), 1, 1, True)
    case('norm', torch.norm, T((3, 4), 'float64'), 'fro', (0, 1))
    for name in ALL:
        case('cumsum', torch.cumsum, T((3, 4), name), 1)
    for x in layouts():
        case('cumsum', torch.cumsum, x, 0)
        case('cumsum', torch.cumsum, x, -1)
    case('cumsum', torch.cumsum, T((3, 4), 'int32'), 1, dtype=torch.float32)
    case('cumsum', torch.cumsum, T((0, 4)), 0)


def softmax_norms():
    for name in FLOATS:
        case('glu', F.glu, T((3, 4), name))
    case('glu', F.glu, T((4, 3)), 0)
    case('glu', F.glu, T((2, 4, 3), strides=(1, 2, 8)), dim=1)
    case('glu', F.glu, T((0, 2)))
    fail('glu', F.glu, T((3, 3)))
    fail('glu', F.glu, T(()))
    for row, f in [('softmax', torch.softmax),
                   ('log_softmax', torch.log_softmax)]:
        for name in FLOATS:
            case(row, f, T((3, 4), name), 1)
            case(row, f, T((4, 4), 'special_' + name), 1)
        for x in layouts():
            case(row, f, x, -1)
            case(row, f, x, 0)
        case(row, f, T(()), 0)
        case(row, f, T((3, 0)), 1)
        case(row, f, T((3, 0)), 0)
        case(row, f, T((3, 4), 'float16'), 1, dtype=torch.float32)
        case(row, f, T((3, 4), 'int64'), 1, dtype=torch.float32)
        fail(row, f, T((3, 4)), 2)
    case('_softmax', torch.ops.aten._softmax.default, T((3, 4)), 1, False)
    case('_log_softmax', torch.ops.aten._log_softmax.default, T((3, 4)), 0,
         False)
    for name in FLOATS:
        case('layer_norm', F.layer_norm, T((3, 4), name), (4,))
        case('layer_norm', F.layer_norm, T((3, 4), name), (4,),
             T((4,), name, 30), T((4,), name, 40), 1e-3)
        case('rms_norm', F.rms_norm, T((3, 4), name), (4,))
        case('rms_norm', F.rms_norm, T((3, 4), name), (4,), T((4,), name, 9),
             1e-3)
        case('group_norm', F.group_norm, T((2, 4, 3), name), 2)
        case('group_norm', F.group_norm, T((2, 4, 3), name), 2,
             T((4,), name, 9), T((4,), name, 19), 1e-3)
    for x in layouts():
        case('layer_norm', F.layer_norm, x, x.sizes[-1:])
        case('rms_norm', F.rms_norm, x, x.sizes[-1:])
        case('normalize', F.normalize, x, 2.0, -1)
    case('layer_norm', F.layer_norm, T((2, 3, 4)), (3, 4), T((3, 4), offset=9))
    case('layer_norm', F.layer_norm, T((0, 4)), (4,))
    case('layer_norm', F.layer_norm, T((4, 4), 'special_float32'), (4,))
    fail('layer_norm', F.layer_norm, T((3, 4)), (3,))
    fail('layer_norm', F.layer_norm, T((3, 4)), (4,), T((3,)))
    case('native_layer_norm', torch.native_layer_norm, T((3, 4)), (4,),
         T((4,), offset=9), T((4,), offset=20), 1e-5)
    for name in ['bfloat16', 'float16']:
        for weight in [T((4,), name, 9), T((4,), 'float32', 9), None]:
            case('native_layer_norm', torch.native_layer_norm,
                 T((3, 4), name), (4,), weight, None, 1e-5)
    for name in ['float32', 'float64']:
        case('batch_norm', F.batch_norm, T((2, 3, 4, 5), name),
             T((3,), name, 7), T((3,), 'positive_' + name))
    mean, var = T((3,), offset=7), T((3,), 'positive_float32')
    case('batch_norm', F.batch_norm, T((2, 3)), mean, var)
    case('batch_norm', F.batch_norm, T((2, 3, 4)), mean, var,
         T((3,), offset=30), T((3,), offset=50), eps=1e-3)
    case('batch_norm', F.batch_norm, T((2, 3, 4, 5), strides=(60, 1, 15, 3)),
         mean, var, T((3,), offset=30), T((3,), offset=50))
    case('batch_norm', F.batch_norm, T((2, 3, 4)), None, None, training=True)
    case('aten_batch_norm', torch.batch_norm, T((2, 3, 4)), T((3,), offset=30),
         T((3,), offset=50), mean, var, False, 0.1, 1e-5, False)
    fail('batch_norm', F.batch_norm, T((2, 3, 4)), T((4,)), T((4,)))
    fail('group_norm', F.group_norm, T((2, 4, 3)), 3)
    case('_native_batch_norm_legit_no_training',
         torch.ops.aten._native_batch_norm_legit_no_training.default,
         T((2, 3, 4)), T((3,), offset=30), T((3,), offset=50), mean, var, 0.1,
         1e-5)
    case('instance_norm', F.instance_norm, T((2, 3, 4, 5)))
    case('instance_norm', F.instance_norm, T((2, 3, 4)), None, None,
         T((3,), offset=30), T((3,), offset=50))
    for p in [1.0, 2.0, 3.0, INF]:
        case('normalize', F.normalize, T((3, 4)), p)
    case('normalize', F.normalize, T((3, 4), 'float16'))
    case('normalize', F.normalize, T((3, 4), strides=(0, 0), offset=1))


def contractions():
    for name in ALL:
        if name != 'bool':
            case('matmul', torch.matmul, T((3, 4), name), T((4, 5), name, 17))
    for name in FLOATS + ['int64']:
        case('linear', F.linear, T((3, 4), name), T((5, 4), name, 30),
             T((5,), name, 70))
        case('bmm', torch.bmm, T((2, 3, 4), name), T((2, 4, 5), name, 40))
    for name in FLOATS:
        case('addmm', torch.addmm, T((5,), name, 90), T((3, 4), name),
             T((4, 5), name, 17))
    case('linear', F.linear, T((2, 3, 4)), T((5, 4), offset=30))
    case('linear', F.linear, T((4,)), T((5, 4), offset=30), T((5,), offset=7))
    case('linear', F.linear, T((4,)), T((4,), offset=30))
    case('linear', F.linear, T((3, 4)), T((4,), offset=30))
    case('linear', F.linear, T((4, 3), strides=(1, 4)), T((2, 3), offset=9))
    case('linear', F.linear, T((2, 3, 4), strides=(1, 2, 6)),
         T((5, 4), offset=30, strides=(1, 5)), T((5,), offset=7))
    case('linear', F.linear, T((0, 4)), T((5, 4)), T((5,)))
    case('linear', F.linear, T((3, 0)), T((5, 0)), T((5,)))
    case('linear', F.linear, T((1, 1)), T((1, 1), offset=3), T((1,), offset=5))
    fail('linear', F.linear, T((2, 3)), T((5, 4)))
    fail('linear', F.linear, T((2, 2, 3)), T((5, 4)))
    fail('linear', F.linear, T((2, 3)), T((5, 3), 'float64'))
    fail('linear', F.linear, T((2, 3)), T((5, 3), 'float64'), T((5,)))
    fail('matmul', torch.matmul, T((2, 3)), T((3, 5), 'int16'))
    fail('bmm', torch.bmm, T((2, 3, 3)), T((2, 3, 5), 'int64'))
    fail('addmm', torch.addmm, T((5,), 'float64'), T((2, 3)), T((3, 5)))
    shapes = [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 4), (4, 5)),
              ((2, 3, 4), (4,)), ((4,), (2, 4, 5)), ((2, 3, 4), (4, 5)),
              ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)),
              ((2, 1, 3, 4), (3, 4, 2)), ((1, 3, 4), (5, 4, 2)),
              ((2, 3, 0), (2, 0, 4)), ((0, 4), (4, 5)), ((1, 1), (1, 1)),
              ((2, 0, 3, 4), (4, 5))]
    for a, b in shapes:
        case('matmul', torch.matmul, T(a), T(b, offset=41))
    case('matmul', torch.matmul, T((4, 3), strides=(1, 4)),
         T((3, 4), offset=20, strides=(1, 3)))
    case('matmul', torch.matmul, T((2, 3, 4), strides=(0, 8, 2)),
         T((2, 4, 3), offset=20, strides=(1, 6, 2)))
    case('matmul', torch.matmul, T((4, 4), 'special_float32'), T((4, 2)))
    fail('matmul', torch.matmul, T((2, 3)), T((4, 5)))
    fail('matmul', torch.matmul, T((2, 3)), T((4,)))
    fail('matmul', torch.matmul, T((3,)), T((4,)))
    fail('matmul', torch.matmul, T((3,)), T((4, 5)))
    fail('matmul', torch.matmul, T(()), T((4, 5)))
    fail('matmul', torch.matmul, T((2, 3, 4)), T((3, 4, 5)))
    fail('matmul', torch.matmul, T((2, 3, 4)), T((2, 3, 5)))
    case('mm', torch.mm, T((3, 4)), T((4, 5), offset=9))
    fail('mm', torch.mm, T((3, 4)), T((3, 5)))
    fail('mm', torch.mm, T((4,)), T((4, 5)))
    fail('bmm', torch.bmm, T((2, 3, 4)), T((2, 3, 5)))
    fail('bmm', torch.bmm, T((3, 4)), T((2, 3, 5)))
    case('addmm', torch.addmm, T((3, 5), offset=80), T((3, 4)),
         T((4, 5), offset=17), beta=0.5, alpha=2)
    case('addmm', torch.addmm, T((3, 1), offset=80), T((3, 4)),
         T((4, 5), offset=17))
    case('addmm', torch.addmm, T((4, 4), 'special_float32'), T((4, 3)),
         T((3, 4)), beta=0)
    case('baddbmm', torch.baddbmm, T((3, 1)), T((2, 3, 4)),
         T((2, 4, 5), offset=30), alpha=0.25)
    case('dot', torch.dot, T((5,)), T((5,), offset=9, strides=(3,)))
    case('dot', torch.dot, T((0,)), T((0,)))
    fail('dot', torch.dot, T((5,)), T((4,)))
    case('mv', torch.mv, T((3, 4)), T((4,), offset=9))
    fail('mv', torch.mv, T((3, 4)), T((3,)))
    case('outer', torch.outer, T((3,)), T((4,), offset=9))
    equations = [('ij,jk->ik', (2, 3), (3, 4)), ('ij,jk', (2, 3), (3, 4)),
                 ('bij,bjk->bik', (2, 3, 4), (2, 4, 5)),
                 ('bhid,bhjd->bhij', (2, 2, 3, 4), (2, 2, 5, 4)),
                 ('ij->ji', (2, 3)), ('ii->i', (3, 3)), ('ii', (3, 3)),
                 ('ij->', (2, 3)), ('ij->j', (2, 3)), ('i,j->ij', (2,), (3,)),
                 ('...ij,...jk->...ik', (2, 3, 4), (4, 5)),
                 ('ij,kj->ki', (2, 3), (4, 3)), ('ij,ij->', (2, 3), (2, 3)),
                 ('i,i', (3,), (3,)), ('ij,jk,kl->il', (2, 3), (3, 4), (4, 2)),
                 ('b n d, e d -> b n e', (2, 3, 4), (5, 4)),
                 ('ijk,k->ij', (2, 3, 4), (4,)), ('ij,ij->ij', (2, 3), (2, 3)),
                 ('iji,j->i', (2, 3, 2), (3,))]
    for equation, *sizes in equations:
        operands = [T(s, offset=11 * i) for i, s in enumerate(sizes)]
        case('einsum', lambda e, *t: torch.einsum(e.replace('_', ' '), *t),
             equation, *operands)
    fail('einsum', torch.einsum, 'ij,jk->ik', T((2, 3)))


def attentions():
    f = F.scaled_dot_product_attention
    row = 'scaled_dot_product_attention'
    q, k, v = T((2, 2, 3, 4)), T((2, 2, 5, 4), offset=31), \
        T((2, 2, 5, 4), offset=77)
    for name in FLOATS:
        case(row, f, T((1, 2, 3, 4), name), T((1, 2, 5, 4), name, 31),
             T((1, 2, 5, 4), name, 77))
    case(row, f, q, k, v, scale=0.3)
    case(row, f, q, k, v, is_causal=True)
    case(row, f, q, q, q, is_causal=True)
    case(row, f, q, k, v, T((3, 5), offset=100))
    case(row, f, q, k, v, T((2, 1, 1, 5), offset=100))
    mask = [[True, False, True, True, False], [False] * 5, [True] * 5]
    case(row, f, q, k, v, L(mask, 'bool'))
    case(row, f, q, k, v, L([[[mask[0]]], [[mask[2]]]], 'bool'))
    case(row, f, T((3, 4)), T((5, 4), offset=31), T((5, 4), offset=77))
    case(row, f, T((2, 3, 4)), T((2, 5, 4), offset=31),
         T((2, 5, 4), offset=77))
    case(row, f, T((2, 2, 3, 4), strides=(24, 4, 8, 1)), k, v)
    case(row, f, T((1, 4, 3, 4)), T((1, 2, 5, 4), offset=31),
         T((1, 2, 5, 4), offset=77), enable_gqa=True)
    case(row, f, T((1, 1, 1, 1)), T((1, 1, 1, 1)), T((1, 1, 1, 1)))
    fail(row, f, q, k, v, T((3, 5), 'int64'))
