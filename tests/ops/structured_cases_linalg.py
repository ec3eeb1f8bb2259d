"""Linear algebra, tensors from numbers, windows, questions about two tensors.
Used by make_structured_reference.py."""

import torch

from structured_format import ALL, FLOATS, INF, L, T, case, fail, lines, view

linalg = torch.linalg
WIDE = ['float32', 'float64']


# Square matrices of pools whose elimination needs row exchanges.
def squares():
    for name in WIDE:
        yield T((3, 3), name, 3)
        yield T((2, 2, 2), name, 9)
        yield T((1, 1), name, 5)
    yield T((4, 4), 'float32', 11, (1, 4))
    yield T((3, 3), 'float32', 17, (9, 2))
    yield T((2, 3, 3), 'float64', 21, (1, 18, 3))
    yield T((2, 3, 3), 'float32', 31, (0, 3, 1))
    yield T((0, 0))
    yield T((0, 3, 3))
    yield T((2, 0, 0))


def inverses():
    table = [('linalg_inv', linalg.inv), ('linalg_det', linalg.det),
             ('linalg_slogdet', lambda x: tuple(linalg.slogdet(x))),
             ('logdet', torch.logdet)]
    for row, function in table:
        for x in squares():
            case(row, function, x)
        if row != 'linalg_inv':
            case(row, function, T((2, 2), 'float32', 0, (0, 0)))
        if row != 'logdet':
            fail(row, function, T((2, 3)))
            fail(row, function, T((3,)))
            fail(row, function, T((2, 2), 'int64'))
            if row != 'linalg_det':
                fail(row, function, T((2, 2), 'float16'))
    case('linalg_det', linalg.det, T((4, 4), 'special_float32'))
    case('linalg_det', linalg.det, T((2, 2), 'special_float32', 1))
    case('linalg_inv', torch.inverse, T((3, 3), 'float32', 40))
    fail('linalg_inv', linalg.inv, T((2, 2), 'float32', 0, (0, 0)))
    fail('linalg_inv', linalg.inv, T((3, 2, 2), 'float32', 0, (1, 0, 0)))
    rename_singular()


# torch's LinAlgError is a RuntimeError.
def rename_singular():
    for i, line in enumerate(lines):
        for name in ['_LinAlgError', 'LinAlgError']:
            line = line.replace('error:%s:' % name, 'error:RuntimeError:')
        lines[i] = line


def systems():
    solve, triangular = linalg.solve, linalg.solve_triangular
    for name in WIDE:
        a = T((3, 3), name, 3)
        case('linalg_solve', solve, a, T((3, 2), name, 50))
        case('linalg_solve', solve, a, T((3,), name, 60))
        case('linalg_solve', solve, a, T((2, 3), name, 50), left=False)
        for upper in [True, False]:
            for unit in [True, False]:
                case('linalg_solve_triangular', triangular, a,
                     T((3, 2), name, 50), upper=upper, unitriangular=unit)
            case('linalg_solve_triangular', triangular, a,
                 T((2, 3), name, 50), upper=upper, left=False)
    batch = T((2, 3, 3), 'float64', 7)
    case('linalg_solve', solve, batch, T((2, 3), 'float64', 50))
    case('linalg_solve', solve, batch, T((3, 4), 'float64', 50))
    case('linalg_solve', solve, batch, T((1, 3, 4), 'float64', 50))
    case('linalg_solve', solve, T((3, 3), 'float64', 7, (1, 3)),
         T((2, 3, 4), 'float64', 50, (1, 2, 6)))
    case('linalg_solve_triangular', triangular, batch,
         T((3, 1), 'float64', 50), upper=True)
    case('linalg_solve', solve, T((0, 0)), T((0, 2)))
    case('linalg_solve', solve, T((3, 3)), T((3, 0)))
    fail('linalg_solve', solve, T((2, 2)), T((3,)))
    fail('linalg_solve', solve, T((2, 2)), T((3, 1)))
    fail('linalg_solve', solve, T((2, 3)), T((3, 1)))
    fail('linalg_solve', solve, T((2, 2), 'float32', 0, (0, 0)), T((2,)))
    rename_singular()


def factors():
    positive = L([[4, 2, 0], [2, 5, 1], [0, 1, 3]], 'float64')
    for row, function in [('linalg_cholesky', linalg.cholesky),
                          ('cholesky', torch.cholesky)]:
        for dtype in WIDE:
            case(row, function, L([[4, 2], [2, 5]], dtype))
            case(row, function, L([[[4, 2], [2, 5]], [[9, 3], [3, 2]]], dtype))
        case(row, function, positive)
        case(row, function, positive, upper=True)
        case(row, function, T((0, 0)))
        fail(row, function, L([[1, 2], [2, 1]], 'float32'))
        fail(row, function, L([[[1, 0], [0, 1]], [[1, 2], [2, 1]]], 'float32'))
        fail(row, function, T((2, 3)))
    rename_singular()
    for name in WIDE:
        for sizes in [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1), (0, 3)]:
            case('linalg_svdvals', linalg.svdvals, T(sizes, name, 13))
    case('linalg_svdvals', linalg.svdvals, T((3, 4), 'float32', 5, (1, 3)))
    case('linalg_svdvals', linalg.svdvals, T((3, 3), 'float64', 5, (0, 0)))


def norms():
    matrix, norm = linalg.matrix_norm, linalg.norm
    for order in ['fro', 'nuc', 1, -1, 2, -2, INF, -INF, 2.0]:
        for x in [T((3, 4)), T((2, 3, 4), 'float64'),
                  T((3, 3), 'float32', 7, (1, 3)), T((1, 1))]:
            case('linalg_matrix_norm', matrix, x, order)
            case('linalg_matrix_norm', matrix, x, order, keepdim=True)
        case('linalg_matrix_norm', matrix, T((2, 3, 4)), order, (0, 2))
        case('linalg_matrix_norm', matrix, T((2, 3, 4)), order, (2, 0), True)
        case('linalg_matrix_norm', matrix, T((2, 3, 4)), order, (-1, -3),
             True)
        case('linalg_norm', norm, T((3, 4)), order)
        case('linalg_norm', norm, T((2, 3, 4)), order, (1, 2))
    for order in ['fro', 1, INF]:
        case('linalg_matrix_norm', matrix, T((3, 4), 'float16'), order)
        case('linalg_matrix_norm', matrix, T((3, 4), 'float16'), order,
             dtype=torch.float32)
        case('linalg_matrix_norm', matrix, T((4, 4), 'special_float32'), order)
    case('linalg_matrix_norm', matrix, T((3, 4)))
    for order in ['fro', 'nuc', 1, 2]:
        case('linalg_matrix_norm', matrix, T((0, 3)), order)
    fail('linalg_matrix_norm', matrix, T((3, 4)), 3)
    fail('linalg_matrix_norm', matrix, T((3, 4)), 'abc')
    fail('linalg_matrix_norm', matrix, T((3,)))
    fail('linalg_matrix_norm', matrix, T((3, 4)), 'fro', (0, 0))
    for order in [None, 0, 1, 2, 3, 0.5, INF, -INF]:
        case('linalg_norm', norm, T((5,)), order)
        case('linalg_norm', norm, T((5,)), order, keepdim=True)
        case('linalg_norm', norm, T((3, 4)), order, 1)
        case('linalg_norm', norm, T((3, 4)), order, (0,), True)
    for x in [T((3, 4)), T((2, 3, 4), 'float64'), T(()), T((0,)),
              T((3, 4), 'bfloat16'), T((4, 3), 'float32', 2, (1, 4))]:
        case('linalg_norm', norm, x)
        case('linalg_norm', norm, x, keepdim=True)
    case('linalg_norm', norm, T((3, 4)), None, (0, 1))
    case('linalg_norm', norm, T((3, 4), 'float16'), dtype=torch.float32)
    fail('linalg_norm', norm, T((2, 3, 4)), 2)
    fail('linalg_norm', norm, T((3,)), 'fro')


def products():
    power = linalg.matrix_power
    for n in [0, 1, 2, 3, 7]:
        case('linalg_matrix_power', power, T((3, 3)), n)
        case('linalg_matrix_power', power, T((2, 2, 2), 'float64', 3, (1, 4, 2)),
             n)
    for n in [-1, -2]:
        case('linalg_matrix_power', power, T((3, 3), 'float64', 3), n)
    case('linalg_matrix_power', power, T((2, 2), 'int64'), 3)
    fail('linalg_matrix_power', power, T((2, 3)), 2)
    fail('linalg_matrix_power', power, T((3,)), 2)
    a, b, c = T((3, 4)), T((4, 2), 'float32', 20), T((2, 5), 'float32', 40)
    case('linalg_multi_dot', linalg.multi_dot, [a, b, c])
    case('linalg_multi_dot', linalg.multi_dot, [a, b])
    case('linalg_multi_dot', linalg.multi_dot,
         [T((3,)), a, b, T((2,), 'float32', 9)])
    case('chain_matmul', torch.chain_matmul, a, b, c)
    for name in FLOATS:
        case('linalg_vecdot', linalg.vecdot, T((3, 4), name),
             T((3, 4), name, 20))
    case('linalg_vecdot', linalg.vecdot, T((3, 4)), T((4,), 'float32', 9))
    case('linalg_vecdot', linalg.vecdot, T((3, 4)), T((3, 1), 'float32', 9),
         dim=0)
    case('linalg_vecdot', linalg.vecdot, T((0, 4)), T((0, 4)))
    view('linalg_diagonal', linalg.diagonal, T((2, 3, 4)))
    view('linalg_diagonal', linalg.diagonal, T((2, 3, 4)), offset=1, dim1=0,
         dim2=2)


def made():
    for data in [[[1, 2], [3, 4]], [[1, 2.5], [3, True]], [], [[], []], True,
                 [True, False], [True, 2], 3, 2.5, (1, 2), [(1, 2.5), (3, 4)]]:
        case('tensor', torch.tensor, data)
        case('tensor', torch.tensor, data, dtype=torch.float64)
        case('tensor', torch.tensor, data, dtype=torch.int32)
        case('as_tensor', torch.as_tensor, data)
        case('new_tensor', lambda x, d: x.new_tensor(d), T((2,)), data)
    case('tensor', torch.tensor, [2 ** 60 + 1, -2 ** 63])
    for name in ALL:
        case('tensor', torch.tensor, T((3, 2), name, 1, (1, 3)))
        case('as_tensor', torch.as_tensor, T((3, 2), name),
             dtype=torch.float32)
    view('as_tensor', torch.as_tensor, T((3, 2), 'float32', 1, (1, 3)))
    fail('tensor', torch.tensor, [[1, 2], [3]])
    fail('tensor', torch.tensor, 'a')
    fail('tensor', torch.tensor, [None])
    case('scalar_tensor', torch.scalar_tensor, 3)
    case('scalar_tensor', torch.scalar_tensor, 2.5, dtype=torch.float64)
    for row in ['tril_indices', 'triu_indices']:
        function = getattr(torch, row)
        for rows, columns in [(3, 3), (2, 4), (4, 2), (0, 3), (3, 0), (1, 1)]:
            for offset in [-5, -1, 0, 1, 5]:
                case(row, function, rows, columns, offset)
        case(row, function, 3, 3, dtype=torch.int32)
    for steps in [0, 1, 2, 7]:
        case('logspace', torch.logspace, -1, 2, steps)
        case('logspace', torch.logspace, -1.5, 2, steps, 2.0,
             dtype=torch.float64)
    fail('logspace', torch.logspace, 0, 1, -1)
    for row in ['hann_window', 'hamming_window', 'blackman_window',
                'bartlett_window']:
        function = getattr(torch, row)
        for n in [0, 1, 2, 7, 16]:
            case(row, function, n)
            case(row, function, n, False)
        case(row, function, 5, dtype=torch.float64)


def questions():
    for row, function in [('equal', torch.equal), ('allclose', torch.allclose)]:
        for name in ALL:
            case(row, function, T((3, 4), name), T((3, 4), name))
            case(row, function, T((3, 4), name), T((3, 4), name, 1))
        case(row, function, T((4, 3), 'float32', 0, (1, 4)),
             T((4, 3), 'float32', 0, (1, 4)))
        case(row, function, T((0, 3)), T((0, 3)))
        case(row, function, T((4,), 'special_float32'),
             T((4,), 'special_float32'))
        case(row, function, T((2,), 'special_float32'),
             T((2,), 'special_float32'))
        case(row, function, T((1,), 'special_float32', 4),
             T((1,), 'special_float32', 4))
    case('equal', torch.equal, T((3, 4)), T((4,)))
    case('allclose', torch.allclose, T((3, 4), 'float32', 0, (0, 1)), T((4,)))
    case('allclose', torch.allclose, T((4,), 'special_float32'),
         T((4,), 'special_float32'), equal_nan=True)
    case('allclose', torch.allclose, T((4,)), T((4,), 'float32', 1), 0.1, 9.0)
    fail('allclose', torch.allclose, T((4,)), T((4,), 'int64'))
    for name in ALL:
        case('is_nonzero', torch.is_nonzero, T((1, 1), name, 3))
    case('is_nonzero', torch.is_nonzero, T((), 'special_float32', 2))
    fail('is_nonzero', torch.is_nonzero, T((2,)))
    fail('is_nonzero', torch.is_nonzero, T((0,)))


def combined():
    a, b = T((3, 4), 'float32', 30), T((4, 5), 'float32', 60)
    batches = T((2, 3, 4), 'float32', 30), T((2, 4, 5), 'float32', 60)
    for name in FLOATS + ['int32']:
        case('addmv', torch.addmv, T((3,), name), T((3, 4), name, 9),
             T((4,), name, 30))
        case('addr', torch.addr, T((3, 4), name), T((3,), name, 9),
             T((4,), name, 30))
    for row, function, products in [
            ('addmv', torch.addmv, (a, T((4,), 'float32', 5))),
            ('addr', torch.addr, (T((3,)), T((5,), 'float32', 7))),
            ('addbmm', torch.addbmm, batches)]:
        wide = T((3, 5)) if row != 'addmv' else T((3,))
        case(row, function, wide, *products, beta=0.5, alpha=2)
        case(row, function, T((1,)), *products)
        case(row, function, T((1,), 'special_float32', 2), *products, beta=0)
    matrix, batch = T((3, 3), 'int64', 9), T((2, 3, 3), 'int64', 30)
    for factors in [{'beta': 0.6, 'alpha': 1.7}, {'beta': 2, 'alpha': -3}]:
        case('addmv', torch.addmv, T((3,), 'int64'), matrix, T((3,), 'int64'),
             **factors)
        case('addbmm', torch.addbmm, matrix, batch, batch, **factors)
        case('baddbmm', torch.baddbmm, batch, batch, batch, **factors)
        case('addmm', torch.addmm, matrix, matrix, matrix, **factors)
    flags = T((3,), 'bool'), T((4,), 'bool', 9)
    case('addr', torch.addr, T((3, 4), 'bool', 20), *flags, beta=3, alpha=2)
    case('addr', torch.addr, T((3, 4), 'bool', 20), *flags, beta=0)
    fail('addr', torch.addr, T((3, 4), 'int64'), T((3,), 'int64'),
         T((4,), 'int64'), beta=0.5)
    for name in ['float32', 'float64']:
        case('addbmm', torch.addbmm, T((3, 5), name), T((2, 3, 4), name, 9),
             T((2, 4, 5), name, 40))
    for name in FLOATS[:2] + ['int32']:
        case('ldexp', torch.ldexp, T((3, 4), name), T((4,), 'int32', 3))
    case('ldexp', torch.ldexp, T((4, 4), 'special_float32'), L([3]))
    for name in ALL:
        case('diff', torch.diff, T((3, 4), name))
    for x in [T((4, 3), 'float32', 2, (1, 4)), T((2, 3, 4)), T((1, 4)),
              T((0, 3)), T((4, 4), 'special_float32')]:
        for n in [0, 1, 2, 5]:
            case('diff', torch.diff, x, n, 0)
    case('diff', torch.diff, T((3, 4)), 1, -1, T((3, 1), 'float32', 50),
         T((3, 2), 'float32', 70))
    case('diff', torch.diff, T((3, 4)), append=T((3, 2), 'float32', 70))
    fail('diff', torch.diff, T(()))
    fail('diff', torch.diff, T((3,)), -1)
    softmin = torch.nn.functional.softmin
    for x in [T((3, 4)), T((4, 3), 'float64', 2, (1, 4)), T((2, 3, 4)),
              T((0, 3)), T((4, 4), 'special_float32')]:
        case('softmin', softmin, x, 1)
        case('softmin', softmin, x, 0)
    case('softmin', softmin, T((3, 4), 'float16'), 1, dtype=torch.float32)
    for name in ALL:
        case('msort', torch.msort, T((5, 3), name))
    case('msort', torch.msort, T((4, 4), 'special_float32'))
    case('narrow_copy', torch.narrow_copy, T((3, 4)), 1, 1, 2)
    case('narrow_copy', torch.narrow_copy, T((3, 4)), 0, 3, 0)
    case('_weight_norm', torch._weight_norm, T((3, 4)), T((3, 1)), 0)
    case('_weight_norm', torch._weight_norm, T((3, 4)), T((1, 4)), 1)
    case('_weight_norm', torch._weight_norm, T((2, 3, 4), 'float64'),
         T((1, 1, 4), 'float64', 9), 2)
    for name in ALL:
        view('conj', torch.conj, T((4, 3), name, 2, (1, 4)))
        case('angle', torch.angle, T((3, 4), name))
        for row in ['is_complex', 'is_signed']:
            case(row, getattr(torch, row), T((2, 3), name))
        case('element_size', torch.Tensor.element_size, T((2, 3), name))
        case('tolist', torch.Tensor.tolist, T((2, 2), name))
    case('angle', torch.angle, T((4, 4), 'special_float32'))
    case('angle', torch.angle, T((4, 3), 'float32', 2, (1, 4)))
    case('is_same_size', torch.is_same_size, T((2, 3)), T((2, 3)))
    case('is_same_size', torch.is_same_size, T((2, 3)), T((3,)))
    case('tolist', torch.Tensor.tolist, T(()))
    case('tolist', torch.Tensor.tolist, T((0, 3)))
    case('tolist', torch.Tensor.tolist, T((2, 0)))
    writes()


def writes():
    def written(name):
        return lambda x, *args, **kwargs: getattr(x.clone(), name)(
            *args, **kwargs)
    for name in ['float32', 'float64']:
        case('addmm_', written('addmm_'), T((3, 5), name), T((3, 4), name, 9),
             T((4, 5), name, 40), beta=0.5)
        case('baddbmm_', written('baddbmm_'), T((2, 3, 5), name),
             T((2, 3, 4), name, 9), T((2, 4, 5), name, 40), alpha=2)
        case('sign_', written('sign_'), T((3, 4), name))
        case('logit_', written('logit_'), T((3, 4), name), 0.1)
    case('sign_', written('sign_'), T((3, 4), 'int32'))


FAMILIES = (combined, inverses, systems, factors, norms, products, made,
            questions)
