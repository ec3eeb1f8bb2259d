"""Calls of ATen's overloads that make_overload_reference.py cannot guess."""

import torch

from structured_format import L, T


def call(*args, **kwargs):
    return list(args), kwargs


IMAGES = T((1, 2, 6, 6))
VOLUMES = T((1, 2, 4, 4, 4))
LINES = T((1, 2, 8))
FLAGS = T((3, 4), 'bool')

HEADS, KEYS = T((2, 2, 3, 4)), T((2, 2, 3, 4), 'float32', 9)
PICKED = L([0, 2, 1, 3, 2])
VIEWED = [call(T((3, 4)), dtype) for dtype in (torch.int32, torch.int16, torch.float64)]
SPECTRA, REAL = T((2, 3, 4), 'complex64'), T((2, 3, 4))


def bag_calls(*padding):
    return [call(T((5, 3)), PICKED, L([0, 1, 1]), False, mode, False, None,
                 False, *padding) for mode in (0, 1, 2)]


def weights(gates):
    return [T((gates * 2, 3), 'float32', 20), T((gates * 2, 2)),
            T((gates * 2,)), T((gates * 2,), 'float32', 5)]


# Overload: calls as (positional, keyword) arguments.
CASES = {
    # Sampling and pooling of images.
    '_adaptive_avg_pool2d.default': [call(IMAGES, [2, 3])],
    '_adaptive_avg_pool3d.default': [call(VOLUMES, [2, 2, 1])],
    'adaptive_avg_pool2d.default': [call(IMAGES, [2, 3])],
    'adaptive_avg_pool3d.default': [call(VOLUMES, [2, 2, 1])],
    'col2im.default': [call(T((1, 8, 9)), [4, 4], [2, 2], [1, 1], [0, 0],
                            [1, 1])],
    'im2col.default': [call(IMAGES, [2, 3], [1, 1], [1, 0], [2, 1])],
    'pixel_shuffle.default': [call(T((1, 8, 2, 3)), 2)],
    'grid_sampler.default': [
        call(IMAGES, T((1, 3, 3, 2), 'float32', 40), mode, padding, corners)
        for mode in (0, 1, 2) for padding in (0, 1, 2)
        for corners in (False, True)],
    'grid_sampler_2d.default': [call(IMAGES, T((1, 3, 3, 2)), 1, 2, True)],
    'grid_sampler_3d.default': [
        call(VOLUMES, T((1, 2, 2, 2, 3)), 0, 0, False)],
    'reflection_pad1d.default': [call(LINES, [2, 1])],
    'reflection_pad2d.default': [call(IMAGES, [1, 2, 0, 3])],
    'reflection_pad3d.default': [call(VOLUMES, [1, 0, 2, 1, 0, 1])],
    'replication_pad1d.default': [call(LINES, [2, 1])],
    'replication_pad2d.default': [call(IMAGES, [1, 2, 0, 3])],
    'replication_pad3d.default': [call(VOLUMES, [1, 0, 2, 1, 0, 1])],
    # Contractions.
    'linear.default': [call(T((2, 3, 4)), T((5, 4)), T((5,))),
                       call(T((4,)), T((5, 4)))],
    'addbmm.default': [call(T((3, 4)), T((2, 3, 5)), T((2, 5, 4)), beta=0.5,
                            alpha=2.0)],
    'addmv.default': [call(T((3,)), T((3, 4)), T((4,)), beta=0.5, alpha=2.0)],
    'baddbmm.default': [call(T((2, 3, 4)), T((2, 3, 5)), T((2, 5, 4)),
                             beta=0.5, alpha=2.0)],
    'baddbmm_.default': [call(T((2, 3, 4)), T((2, 3, 5)), T((2, 5, 4)))],
    'bilinear.default': [call(T((3, 4)), T((3, 5)), T((2, 4, 5)), T((2,)))],
    'bmm.default': [call(T((2, 3, 5)), T((2, 5, 4)))],
    'mv.default': [call(T((3, 4)), T((4,)))],
    '_int_mm.default': [call(T((17, 8), 'int8'), T((8, 8), 'int8', 9))],
    'einsum.default': [call('ij,jk->ik', [T((3, 4)), T((4, 5))])],
    'conv3d.default': [call(VOLUMES, T((4, 1, 2, 2, 2)), T((4,)), [2, 1, 1],
                            [1, 0, 0], [1, 2, 1], 2)],
    'conv3d.padding': [call(VOLUMES, T((4, 2, 3, 3, 3)), None, [1, 1, 1],
                            'same')],
    'conv2d.padding': [call(IMAGES, T((4, 2, 3, 3)), T((4,)), [1, 1], 'same',
                            [2, 1])],
    'conv1d.padding': [call(LINES, T((4, 2, 3)), None, [1], 'valid')],
    'conv_transpose1d.default': [call(LINES, T((2, 3, 4)), T((3,)), [2], [1],
                                      [1], 1, [1])],
    'conv_transpose2d.input': [call(IMAGES, T((2, 3, 3, 3)), T((6,)), [2, 1],
                                    [1, 0], [1, 0], 2, [1, 2])],
    'conv_transpose3d.input': [call(VOLUMES, T((2, 3, 2, 2, 2)), None,
                                    [1, 2, 1])],
    'convolution.default': [
        call(IMAGES, T((4, 2, 3, 3)), T((4,)), [1, 2], [1, 0], [1, 1], False,
             [0, 0], 1),
        call(IMAGES, T((2, 3, 3, 3)), None, [2, 2], [0, 1], [1, 1], True,
             [1, 0], 1)],
    # Norms.
    '_weight_norm.default': [call(T((3, 4)), T((3, 1))),
                             call(T((3, 4)), T((1, 4)), 1)],
    '_native_batch_norm_legit_no_training.default': [
        call(IMAGES, T((2,)), T((2,)), T((2,), 'float32', 3),
             T((2,), 'positive_float32'), 0.1, 1e-3)],
    'batch_norm.default': [
        call(IMAGES, T((2,)), T((2,)), T((2,), 'float32', 3),
             T((2,), 'positive_float32'), False, 0.1, 1e-3, False)],
    'instance_norm.default': [
        call(IMAGES, T((2,)), T((2,)), None, None, True, 0.1, 1e-3, False)],
    '_softmax.default': [call(T((3, 4)), 1, False)],
    '_log_softmax.default': [call(T((3, 4)), 0, False)],
    'linalg_matrix_norm.default': [call(T((2, 3, 4)), 1, [0, 2], True)],
    'linalg_norm.ord_str': [call(T((3, 4)), 'fro', [0, 1], True)],
    'linalg_norm.default': [call(T((3, 4)), 1, [1], True)],
    'linalg_cholesky.default': [call(T((1, 1), 'positive_float32'))],
    'cholesky.default': [call(T((1, 1), 'positive_float32'), True)],
    # Their last two arguments are served as 1 only.
    'elu.default': [call(T((3, 4)), 0.75, 1, 1)],
    'elu_.default': [call(T((3, 4)), 0.75)],
    # Kernels of exported programs.
    'native_group_norm.default': [
        call(T((2, 4, 3)), T((4,)), T((4,)), 2, 4, 3, 2, 1e-3)],
    '_native_batch_norm_legit.default': [
        call(IMAGES, T((2,)), T((2,)), T((2,), 'float32', 3),
             T((2,), 'positive_float32'), False, 0.1, 1e-3)],
    '_native_batch_norm_legit.no_stats': [
        call(IMAGES, T((2,)), None, True, 0.1, 1e-3)],
    'native_batch_norm.default': [
        call(IMAGES, T((2,)), T((2,)), T((2,), 'float32', 3),
             T((2,), 'positive_float32'), False, 0.1, 1e-3),
        call(IMAGES, None, T((2,)), None, None, True, 0.1, 1e-3)],
    '_fused_rms_norm.default': [call(T((3, 4)), [4], T((4,)), 1e-3)],
    '_weight_norm_interface.default': [call(T((3, 4)), T((3, 1)))],
    '_scaled_dot_product_flash_attention_for_cpu.default': [
        call(HEADS, KEYS, HEADS),
        call(HEADS, KEYS, HEADS, 0.0, True, scale=0.75),
        call(HEADS, KEYS, HEADS, attn_mask=T((3, 3)))],
    '_scaled_dot_product_attention_math.default': [
        call(HEADS, KEYS, HEADS), call(HEADS, KEYS, HEADS, T((3, 3)))],
    '_embedding_bag.default': bag_calls(-1),
    '_embedding_bag_forward_only.default': bag_calls(-1),
    'embedding_bag.default': bag_calls(),
    'embedding_bag.padding_idx': [
        call(T((5, 3)), PICKED, L([0, 1, 1]), False, mode, False, None, False,
             2) for mode in (0, 1)],
    'max_pool3d_with_indices.default': [
        call(VOLUMES, [2, 2, 2]), call(VOLUMES, [2, 3, 2], [2, 1, 1], [1, 1, 1])],
    'adaptive_max_pool1d.default': [call(LINES, [3])],
    'adaptive_max_pool2d.default': [call(IMAGES, [2, 3])],
    'adaptive_max_pool3d.default': [call(VOLUMES, [2, 2, 1])],
    'affine_grid_generator.default': [
        call(T((2, 2, 3)), [2, 1, 3, 4], True)],
    '_convolution.default': [
        call(IMAGES, T((4, 2, 3, 3)), T((4,)), [1, 2], [1, 0], [1, 1], False,
             [0, 0], 1, False, False, True, True)],
    '_convolution.deprecated': [
        call(IMAGES, T((4, 2, 3, 3)), None, [1, 2], [1, 0], [1, 1], False,
             [0, 0], 1, False, False, True)],
    'lstm.input': [call(T((4, 2, 3)), [T((1, 2, 2)), T((1, 2, 2))],
                        weights(4), True, 1, 0.0, False, False, False)],
    'gru.input': [call(T((4, 2, 3)), T((1, 2, 2)), weights(3), True, 1, 0.0,
                       False, False, False)],
    'rnn_tanh.input': [call(T((4, 2, 3)), T((1, 2, 2)), weights(1), True, 1,
                            0.0, False, False, False)],
    'rnn_relu.input': [call(T((2, 4, 3)), T((1, 2, 2)), weights(1), True, 1,
                            0.0, False, False, True)],
    'lstm.data': [call(T((5, 3)), L([2, 2, 1]), [T((1, 2, 2)), T((1, 2, 2))],
                       weights(4), True, 1, 0.0, False, False)],
    'gru.data': [call(T((5, 3)), L([2, 2, 1]), T((1, 2, 2)), weights(3), True,
                      1, 0.0, False, False)],
    'rnn_tanh.data': [call(T((5, 3)), L([2, 2, 1]), T((1, 2, 2)), weights(1),
                           True, 1, 0.0, False, False)],
    'rnn_relu.data': [call(T((5, 3)), L([2, 2, 1]), T((1, 2, 2)), weights(1),
                           True, 1, 0.0, False, False)],
    'lstm_cell.default': [call(T((2, 3)), [T((2, 2)), T((2, 2))],
                               *weights(4))],
    'gru_cell.default': [call(T((2, 3)), T((2, 2)), *weights(3))],
    'rnn_tanh_cell.default': [call(T((2, 3)), T((2, 2)), *weights(1))],
    'rnn_relu_cell.default': [call(T((2, 3)), T((2, 2)), *weights(1))],
    '_unsafe_masked_index.default': [
        call(T((3, 4)), L([[1], [0], [1]], 'bool'), [L([0, 9, -1])], 7)],
    '_euclidean_dist.default': [call(T((3, 4)), T((2, 4), 'float32', 40))],
    '_unsafe_index.Tensor': [call(T((3, 4)), [None, L([0, 3])])],
    '_unsafe_index_put.default': [
        call(T((3, 4)), [L([0, 2])], T((2, 4)), True)],
    '_index_put_impl_.default': [
        call(T((3, 4)), [L([0, 2])], T((2, 4)), True, True)],
    'expand_copy.default': [call(T((3, 1)), [2, 3, 4]),
                            call(T((3, 1)), [3, 4], implicit=True)],
    'diagonal_scatter.default': [call(T((3, 4)), T((3,)), 1)],
    'resize_.default': [call(T((3, 4)), [3, 4])],
    'atan2.out': [call(T((3, 4)), T((4,)), out=T((3, 4), 'float32', 40))],
    # Nothing comes of what holds.
    '_assert_scalar.default': [call(1, 'not zero')],
    '_assert_async.default': [call(L([1]))],
    '_assert_async.msg': [call(L([1]), 'not zero')],
    '_assert_tensor_metadata.default': [
        call(T((3, 4)), [3, 4], [4, 1], torch.float32)],
    'sym_constrain_range.default': [call(3, min=2, max=4)],
    'sym_constrain_range_for_size.default': [call(3, min=2, max=4)],
    # Complex numbers.
    '_fft_c2c.default': [call(SPECTRA, [1, 0], 2, False)],
    '_fft_r2c.default': [call(T((2, 3, 4)), [0, 2], 1, True)],
    '_fft_c2r.default': [call(SPECTRA, [0, 2], 2, 6)],
    'stft.default': [
        call(T((2, 40)), 8, return_complex=True),
        call(T((2, 40)), 8, 3, 8, T((8,), 'positive_float32'), True, False,
             False)],
    'stft.center': [call(T((2, 40)), 8, 3, 8, T((8,), 'positive_float32'), True,
                         'reflect', True, True, True)],
    'istft.default': [call(T((2, 5, 7), 'complex64'), 8, 3, 8,
                           T((8,), 'positive_float32'), True, False, True, 15)],
    'view_as_real.default': [call(SPECTRA)],
    'view.dtype': VIEWED, 'view_copy.dtype': VIEWED,
    # What is not asked for is empty in torch, and given here.
    '_unique2.default': [call(PICKED, True, True, True)],
    'unique_dim.default': [call(T((3, 4)), 1, True, True, True)],
    'unique_consecutive.default': [call(PICKED, True, True)],
    'bincount.default': [call(PICKED, T((5,)), 7)],
    'repeat_interleave.Tensor': [call(PICKED), call(PICKED, output_size=8)],
    'view_as_complex.default': [call(T((3, 2)))],
    'real.default': [call(SPECTRA), call(T((3, 4)))],
    'imag.default': [call(SPECTRA)],
    'complex.default': [call(T((3, 4)), T((4,)))],
    'polar.default': [call(T((3, 4)), T((4,)))],
    'conj.default': [call(SPECTRA), call(T((3, 4)))],
    '_conj.default': [call(SPECTRA)],
    'conj_physical.default': [call(SPECTRA)],
    '_conj_physical.default': [call(SPECTRA)],
    'resolve_conj.default': [call(SPECTRA)],
    'fft_fftfreq.default': [call(5, 0.5), call(5, 0.5, dtype=torch.float64)],
    'fft_rfftfreq.default': [call(5, 0.5)],
    **{'fft_%s.default' % name: [
        call(REAL if name in ('rfft', 'ihfft') else SPECTRA),
        call(REAL if name in ('rfft', 'ihfft') else SPECTRA, 6, 1, 'ortho')]
       for name in ('fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft')},
    **{'fft_%s.default' % name: [
        call(REAL if name[:-1] in ('rfft', 'ihfft') else SPECTRA),
        call(REAL if name[:-1] in ('rfft', 'ihfft') else SPECTRA, [4, 6],
             [0, 2], 'forward')]
       for kind in ('fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft')
       for name in (kind + '2', kind + 'n')},
    'fft_fftshift.default': [call(SPECTRA), call(REAL, [1])],
    'fft_ifftshift.default': [call(SPECTRA), call(REAL, [1])],
    # Losses: reductions are 0 none, 1 mean, 2 sum.
    'binary_cross_entropy.default': [
        call(T((4,), 'positive_float32', 4, (0,)), T((4,), 'positive_float32', 0, (0,)))],
    'cosine_embedding_loss.default': [
        call(T((3, 4)), T((3, 4), 'float32', 5), L([1, -1, 1]), 0.1, reduction)
        for reduction in (0, 1, 2)],
    'nll_loss_forward.default': [
        call(T((3, 4)), L([0, 3, 1]), T((4,)), reduction, 3)
        for reduction in (0, 1, 2)],
    'nll_loss2d_forward.default': [
        call(T((1, 4, 2, 2)), L([[[0, 3], [1, 2]]]), None, 1, -100)],
    'nll_loss2d.default': [
        call(T((1, 4, 2, 2)), L([[[0, 3], [1, 2]]]), T((4,)), 2, 1)],
    'nll_loss_nd.default': [call(T((3, 4)), L([0, 3, 1]))],
    'cross_entropy_loss.default': [
        call(T((3, 4)), L([0, 3, 1])),
        call(T((3, 4)), L([0, 3, 1]), T((4,)), 2, 3, 0.25)],
    'nll_loss.default': [call(T((3, 4)), L([0, 3, 1]), T((4,)), reduction, 3)
                         for reduction in (0, 1, 2)],
    'ctc_loss.IntList': [
        call(T((5, 2, 4)), L([[1, 2], [3, 1]]), [5, 4], [2, 1], 0, reduction,
             True) for reduction in (0, 1, 2)],
    'ctc_loss.Tensor': [call(T((5, 2, 4)), L([[1, 2], [3, 1]]), L([5, 4]),
                             L([2, 1]))],
    # Picking and writing.
    'index.Tensor': [call(T((3, 4)), [None, L([0, 3])]),
                     call(T((3, 4)), [L([0, 2]), L([1, 3])])],
    'index_put.default': [call(T((3, 4)), [L([0, 2])], T((2, 4)), True)],
    'index_put_.default': [call(T((3, 4)), [None, L([0, 2])], T((3, 2)))],
    'index_reduce.default': [call(T((3, 4)), 0, L([0, 2]), T((2, 4)), 'amax',
                                  include_self=False)],
    'scatter.reduce': [call(T((3, 4)), 1, L([[0, 1], [2, 3], [0, 0]]),
                            T((3, 2)), reduce='add')],
    'scatter.value_reduce': [call(T((3, 4)), 1, L([[0, 1], [2, 3], [0, 0]]),
                                  2.0, reduce='add')],
    'scatter_.reduce': [call(T((3, 4)), 1, L([[0, 1], [2, 3], [0, 0]]),
                             T((3, 2)), reduce='add')],
    'scatter_.value_reduce': [call(T((3, 4)), 1, L([[0, 1], [2, 3], [0, 0]]),
                                   2.0, reduce='add')],
    'scatter_reduce.two': [call(T((3, 4)), 1, L([[0, 1], [2, 3], [0, 0]]),
                                T((3, 2)), 'prod', include_self=False)],
    'scatter_reduce_.two': [call(T((3, 4)), 1, L([[0, 1], [2, 3], [0, 0]]),
                                 T((3, 2)), 'amin')],
    'select_scatter.default': [call(T((3, 4)), T((4,)), 0, 1)],
    'meshgrid.indexing': [call([T((3,)), T((4,))], indexing='xy')],
    '_local_scalar_dense.default': [call(T((1,))), call(L(7))],
    'to.other': [call(T((3, 4)), T((2,), 'int64'))],
    'unflatten.int': [call(T((3, 4)), 1, [2, 2])],
    'quantile.default': [call(T((3, 4)), T((2,), 'special_float32', 15, (0,)),
                              1, True, interpolation='lower')],
    'nanquantile.default': [call(T((3, 4)),
                                 T((2,), 'special_float32', 15, (0,)), 0)],
}


def upsampling():
    for name, sizes, corners in (
            ('nearest1d', [5], None), ('nearest2d', [4, 9], None),
            ('nearest3d', [2, 5, 3], None), ('linear1d', [5], True),
            ('bilinear2d', [4, 9], True), ('trilinear3d', [2, 5, 3], True),
            ('bicubic2d', [4, 9], True), ('bilinear2d_aa', [4, 9], True),
            ('bicubic2d_aa', [4, 9], True)):
        image = {1: LINES, 2: IMAGES, 3: VOLUMES}[len(sizes)]
        scales = [1.5, 0.5, 2.0][:len(sizes)]
        for prefix in ('upsample_', '_upsample_nearest_exact'):
            if prefix.startswith('_') and not name.startswith('nearest'):
                continue
            whole = prefix + (name[7:] if prefix.startswith('_') else name)
            if name.endswith('_aa'):
                whole = '_' + whole
            flags = [()] if corners is None else [(False,), (True,)]
            CASES[whole + '.default'] = [
                call(image, sizes, *flag) for flag in flags]
            CASES[whole + '.vec'] = [
                call(image, given, *flag, factors) for flag in flags
                for given, factors in ((sizes, None), (None, scales))]


upsampling()

DRAWN = 'gives random numbers'
RAW = 'gives memory that is not initialised'

# Overload: why no committed numbers can hold it.
WITHOUT = {name: DRAWN for name in (
    'bernoulli.Tensor bernoulli.default bernoulli.p bernoulli_.Tensor '
    'bernoulli_.float cauchy.default cauchy_.default exponential.default '
    'exponential_.default geometric.default geometric_.default '
    'log_normal.default log_normal_.default multinomial.default '
    'normal.Tensor_Tensor normal.Tensor_float normal.float_Tensor '
    'normal.float_float normal_.default normal_functional.default '
    'rand.default rand.generator rand_like.default randint.default randint.low '
    'randint.generator randint.low_generator randint_like.default randint_like.low_dtype randint_like.Tensor '
    'randn.default randn.generator randn_like.default randperm.default random.default '
    'random.from random.to random_.default random_.from random_.to '
    'uniform.default uniform_.default').split()}
WITHOUT.update({name: RAW for name in (
    'empty.memory_format empty_like.default empty_permuted.default '
    'empty_strided.default new_empty.default '
    'new_empty_strided.default').split()})
WITHOUT['is_contiguous.memory_format'] = (
    'needs a memory format, which the file cannot state')
WITHOUT['to.device'] = 'needs a device, which the file cannot state'
