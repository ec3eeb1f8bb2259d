"""What torch's exporter writes in its graphs: kernels with the results that
backward passes read, copies of views, unrolled recurrent layers, tensors placed
in memory. Used by make_structured_reference.py."""

import torch

from structured_format import FLOATS, L, T, case, fail, view

aten = torch.ops.aten
NAMES = ['none', 'mean', 'sum']
BAGS = ['sum', 'mean', 'max']
TURNED = T((3, 4), 'float32', 0, (1, 3))
INF = float('inf')


def copies():
    for x in [T((3, 4)), TURNED, T((3, 4), 'int64')]:
        view('alias_copy', torch.alias_copy, x)
        case('copy', aten.copy.default, x, T((4,), 'float64'))
        case('copy', aten.copy.default, x, T(()))
        view('as_strided_copy', torch.as_strided_copy, T((12,)), [2, 3],
             [1, 2], 1)
        view('diagonal_copy', torch.diagonal_copy, x, 1)
        view('expand_copy', torch.expand_copy, T((3, 1)), [2, 3, 4])
        view('permute_copy', torch.permute_copy, x, [1, 0])
        view('select_copy', torch.select_copy, x, 1, -1)
        view('slice_copy', torch.slice_copy, x, 1, 1, 4, 2)
        view('split_copy', lambda *a: tuple(torch.split_copy(*a)), x, 2, 1)
        view('squeeze_copy', torch.squeeze_copy, T((3, 1, 2)), 1)
        view('t_copy', torch.t_copy, x)
        view('transpose_copy', torch.transpose_copy, x, 0, 1)
        view('unbind_copy', lambda *a: tuple(torch.unbind_copy(*a)), x)
        view('unfold_copy', torch.unfold_copy, x, 1, 2, 1)
        view('unsqueeze_copy', torch.unsqueeze_copy, x, 1)
    view('squeeze_copy', torch.squeeze_copy, T((3, 1, 1)))
    view('view_copy', torch.view_copy, T((3, 4)), [2, 6])
    view('view_copy', torch.view_copy, TURNED, [-1])
    for src in [T((3,)), T((3,), 'int64')]:
        view('diagonal_scatter', torch.diagonal_scatter, T((3, 4)), src, 1)
    fail('diagonal_scatter', torch.diagonal_scatter, T((3, 4)), T((2,)))
    for indices in [[L([0, 9, -1])], [None, L([3, -9, 0])]]:
        mask = L([1, 0, 1], 'bool')
        if indices[0]:
            mask = L([[1], [0], [1]], 'bool')
        case('_unsafe_masked_index', aten._unsafe_masked_index.default, T((3, 4)),
             mask, indices, 7)


def zeroed(function):
    return lambda *args, **kwargs: function(*args, **kwargs).zero_()


def placed():
    empty, new = zeroed(torch.empty_strided), zeroed(
        torch.Tensor.new_empty_strided)
    view('empty_strided', empty, [2, 3], [1, 2])
    view('empty_strided', empty, [2, 3], [3, 1], dtype=torch.int32)
    view('empty_strided', empty, [0, 3], [3, 1])
    view('new_empty_strided', new, T((2,), 'float64'), [2, 3], [1, 2])
    view('empty_permuted', zeroed(torch.empty_permuted), [2, 3, 4], [1, 2, 0])
    fail('empty_strided', empty, [2, 3], [1])
    for x in [T((3, 4)), TURNED, T((1, 4), 'float32', 0, (7, 1))]:
        case('is_contiguous', torch.Tensor.is_contiguous, x)
    view('resize_', lambda x, size: x.resize_(size), T((3, 4)), [3, 4])


def group_norm(x, *args):
    return torch.native_group_norm(x, *args)


def norms():
    for x in [T((2, 4, 3)), T((2, 4, 3), 'float64')]:
        weight, bias = T((4,), x.pool), T((4,), x.pool, 9)
        case('native_group_norm', group_norm, x, weight, bias, 2, 4, 3, 2,
             1e-3)
        case('native_group_norm', group_norm, x, None, None, 2, 4, 3, 1, 1e-3)
        mean, var = T((4,), x.pool, 3), T((4,), 'positive_' + x.pool)
        norm = torch.native_batch_norm
        case('native_batch_norm', norm, x, weight, bias, mean, var, False, 0.1,
             1e-3)
        case('native_batch_norm', norm, x, None, bias, None, None, True, 0.1,
             1e-3)
        scale = T((3,), x.pool)
        case('_fused_rms_norm', torch._fused_rms_norm, x, [3], scale, 1e-3)
        case('_fused_rms_norm', torch._fused_rms_norm, x, [4, 3], None, None)
        case('log_sigmoid_forward', aten.log_sigmoid_forward.default, x)
        case('rrelu', torch.rrelu, x)
        case('rrelu', torch.rrelu, x, 0.1, 0.3)
        case('_weight_norm', torch._weight_norm, T((4,), x.pool),
             T((4,), x.pool, 9))


def attentions():
    flash = torch._scaled_dot_product_flash_attention_for_cpu
    plain = aten._scaled_dot_product_attention_math.default
    q, k, v = (T((2, 2, 3, 4), 'float32', at) for at in (0, 9, 20))
    mask = T((3, 3), 'float32', 30)
    for causal in False, True:
        case('_scaled_dot_product_flash_attention_for_cpu', flash, q, k, v,
             0.0, causal)
        case('_scaled_dot_product_attention_math', plain, q, k, v, None, 0.0,
             causal)
    case('_scaled_dot_product_flash_attention_for_cpu', flash, q, k, v,
         attn_mask=mask, scale=0.75)
    case('_scaled_dot_product_attention_math', plain, q, k, v, mask,
         scale=0.75)
    for name in FLOATS:
        case('_safe_softmax', torch._safe_softmax, T((3, 4), name), 1)
        case('_safe_softmax', torch._safe_softmax, T((2, 8), 'special_' + name,
             0, (0, 0)), 1)
        case('_safe_softmax', torch._safe_softmax,
             T((2, 4), 'special_' + name, 9, (1, 0)), 1)
    case('_safe_softmax', torch._safe_softmax, T((3, 4)), 0, torch.float64)


def layers(row, states, gates, count, bias, both, first):
    sides = 2 if both else 1
    weights, at = [], 0
    for layer in range(count):
        for _ in range(sides):
            width = 3 if layer == 0 else 2 * sides
            sizes = [(gates * 2, width), (gates * 2, 2)]
            sizes += [(gates * 2,)] * 2 if bias else []
            for size in sizes:
                weights.append(T(size, 'float32', at))
                at = (at + 11) % 90
    x = T((2, 4, 3) if first else (4, 2, 3), 'float32', 50)
    hx = [T((count * sides, 2, 2), 'float32', 17 * i) for i in range(states)]
    case(row, getattr(torch, row), x, hx if states == 2 else hx[0], weights,
         bias, count, 0.0, False, both, first)


def packed(row, states, gates, count, bias, both):
    """Sequences of 4, 2 and 1 steps, one behind the other."""
    sides = 2 if both else 1
    weights = []
    for layer in range(count):
        width = 3 if layer == 0 else 2 * sides
        sizes = [(gates * 2, width), (gates * 2, 2)]
        sizes += [(gates * 2,)] * 2 if bias else []
        for i, size in enumerate(sizes * sides):
            weights.append(T(size, 'float32', 7 * i))
    hx = [T((count * sides, 3, 2), 'float32', 17 * i) for i in range(states)]
    case(row + '_packed', getattr(torch, row), T((7, 3), 'float32', 50),
         L([3, 2, 1, 1]), hx if states == 2 else hx[0], weights, bias, count,
         0.0, False, both)


def refused():
    x, h = T((4, 2, 3)), T((1, 2, 2))
    weights = [T((6, 3)), T((6, 2)), T((6,)), T((6,))]
    once = (True, 1, 0.0, False, False, False)
    four = [T((8, 3)), T((8, 2)), T((8,)), T((8,))]
    fail('lstm', torch.lstm, x, [h], four, *once)
    fail('lstm', torch.lstm, T((0, 2, 3)), [h, h], four, *once)
    fail('gru', torch.gru, T((0, 2, 3)), h, weights, *once)
    fail('gru', torch.gru, x, h, weights[:3], *once)
    fail('gru', torch.gru, x, h, weights, True, 2, 0.0, False, False, False)
    fail('gru', torch.gru, x, h, weights, True, 1, 0.0, False, True, False)
    fail('gru', torch.gru, T((4, 2, 5)), h, weights, *once)
    two = T((2, 2, 2))
    fail('rnn_tanh', torch.rnn_tanh, x, two, [T((2, 3)), T((2, 2))], False, 2,
         0.0, False, False, False)


def recurrent():
    refused()
    for row, states, gates in (('lstm', 2, 4), ('gru', 1, 3),
                               ('rnn_tanh', 1, 1), ('rnn_relu', 1, 1)):
        layers(row, states, gates, 1, True, False, False)
        layers(row, states, gates, 2, False, False, True)
        layers(row, states, gates, 2, True, True, True)
        packed(row, states, gates, 1, False, False)
        packed(row, states, gates, 2, True, True)
        x, hx = T((2, 3)), [T((2, 2), 'float32', 17 * i)
                            for i in range(states)]
        weights = [T((gates * 2, 3), 'float32', 20), T((gates * 2, 2)),
                   T((gates * 2,)), T((gates * 2,), 'float32', 5)]
        cell = row + '_cell'
        state = hx if states == 2 else hx[0]
        case(cell, getattr(torch, cell), x, state, *weights)
        case(cell, getattr(torch, cell), x, state, *weights[:2])


def nll_forward(x, target, weight, reduction, ignored):
    return aten.nll_loss_forward.default(x, target, weight,
                                         NAMES.index(reduction), ignored)


def bags(*args):
    args = list(args)
    args[4] = BAGS.index(args[4])
    return torch._embedding_bag(*args)


def counted():
    for reduction in NAMES:
        case('nll_loss_forward', nll_forward, T((3, 4)), L([0, 3, 1]), None,
             reduction, -100)
        case('nll_loss_forward', nll_forward, T((3, 4)), L([0, 3, 1]), T((4,)),
             reduction, 3)
    table, picked = T((5, 3)), L([0, 2, 1, 3, 2])
    for mode in BAGS:
        case('_embedding_bag', bags, table, picked, L([0, 1, 1]), False, mode,
             False, None, False)
        case('_embedding_bag', bags, table, picked, L([0, 2, 5]), False, mode,
             False, None, True)
        if mode != 'max':
            case('_embedding_bag', bags, table, picked, L([0, 1, 1]), False,
                 mode, False, None, False, 2)
    case('_embedding_bag', bags, T((5, 3), 'float64'), picked, L([0, 1, 1]),
         False, 'sum', False, None, False)
    case('_embedding_bag', bags, table, picked, L([0, 2]), False, 'sum', False,
         T((5,)), False)
    for pool in 'float32', 'float64':
        case('histc', torch.histc, T((30,), pool), 7)
        case('histc', torch.histc, T((30,), pool), 5, -1, 1)
        case('histc', torch.histc, T((3, 4), pool, 0, (0, 0)), 4)
        for p in 0.0, 1.0, 2.0, 3.0, INF:
            case('pdist', torch.pdist, T((5, 3), pool), p)
        case('renorm', torch.renorm, T((3, 4), pool), 1, 0, 1.5)
        case('renorm', torch.renorm, T((2, 3, 4), pool), 2, 1, 2.5)
    case('pdist', torch.pdist, T((1, 3)))
    fail('pdist', torch.pdist, T((2, 3, 4)))
    fail('histc', torch.histc, T((4,)), 0)
    fail('histc', torch.histc, T((4,)), 4, 3, 1)
    fail('renorm', torch.renorm, T((3,)), 1, 0, 1.5)
    volume = T((1, 2, 4, 4, 4))
    pool = torch.nn.functional.max_pool3d_with_indices
    case('max_pool3d_with_indices', pool, volume, 2)
    case('max_pool3d_with_indices', pool, volume, (2, 3, 2), (2, 1, 1), 1)


def assertions():
    case('_assert_scalar', torch._assert_scalar, 1, 'not zero')
    case('_assert_async', torch._assert_async, T((1,)))
    case('_assert_async', torch._assert_async, L(1), 'not zero')
    metadata = torch._assert_tensor_metadata
    case('_assert_tensor_metadata', metadata, T((3, 4)), [3, 4], [4, 1],
         torch.float32)
    for row in 'sym_constrain_range', 'sym_constrain_range_for_size':
        case(row, getattr(torch, row), 3, min=2, max=4)
        case(row, getattr(torch, row), 3)
        fail(row, getattr(torch, row), 3, min=4)
        fail(row, getattr(torch, row), 3, max=2)
    fail('_assert_scalar', torch._assert_scalar, 0, 'zero')
    for x in T((1,), 'special_float32'), T((2,)), T((0,)):
        fail('_assert_async', torch._assert_async, x)
    fail('_assert_async', torch._assert_async, L([0]), 'zero')
    fail('_assert_tensor_metadata', metadata, T((3, 4)), [3])
    fail('_assert_tensor_metadata', metadata, T((3, 4)), None, [1, 3])
    fail('_assert_tensor_metadata', metadata, T((3, 4)), None, None,
         torch.int64)


def places():
    for dims, sizes in ((1, (2, 8)), (2, (2, 5, 6)), (3, (1, 2, 4, 3, 5))):
        row = 'adaptive_max_pool%dd_with_indices' % dims
        function = getattr(torch.nn.functional, row)
        for pool in 'float32', 'float64':
            case(row, function, T(sizes, pool), 1)
            case(row, function, T(sizes, pool), [2, 3, 2][:dims])
        case(row, function, T((1,) + sizes[-dims - 1:], 'float32', 3), 4)


FAMILIES = places, assertions, copies, placed, norms, attentions, recurrent, counted
