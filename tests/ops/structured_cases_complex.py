"""Calls with complex tensors: torch.fft, stft and istft, and what is calculated
with real and imaginary parts."""

import torch

from structured_format import L, T, case, fail, view

BOTH = [('float32', 'complex64'), ('float64', 'complex128')]


def views():
    for real, pool in BOTH:
        for c in [T((3, 4), pool), T((4, 3), pool, 2, (1, 4)),
                  T((2, 3), pool, 5, (12, 2)), T((), pool), T((0, 2), pool)]:
            view('view_as_real', torch.view_as_real, c)
            view('real', torch.real, c)
            view('imag', torch.imag, c)
            view('getattr', getattr, c, 'real')
            view('getattr', getattr, c, 'imag')
        view('view_as_complex', torch.view_as_complex, T((3, 2), real))
        view('view_as_complex', torch.view_as_complex,
             T((3, 4, 2), real, 4, (2, 6, 1)))
        view('view_as_complex', torch.view_as_complex, T((2,), real))
        view('select', torch.select, T((3, 4), pool), 1, 2)
        view('permute', torch.permute, T((3, 4), pool), [1, 0])
        view('unsqueeze', torch.unsqueeze, T((3, 4), pool), 1)
        view('resolve_conj', torch.resolve_conj, T((3, 4), pool))
        case('is_complex', torch.is_complex, T((2,), pool))
        case('is_floating_point', torch.is_floating_point, T((2,), pool))
        case('element_size', torch.Tensor.element_size, T((2,), pool))
    view('real', torch.real, T((3, 4)))
    fail('imag', torch.imag, T((3, 4)))
    fail('view_as_real', torch.view_as_real, T((3, 4)))
    for wrong in [T((3,)), T(()), T((3, 2), 'int64'), T((2, 3), strides=(1, 2)),
                  T((3, 2), strides=(3, 1)), T((2, 2), strides=(1, 2))]:
        fail('view_as_complex', torch.view_as_complex, wrong)


def made():
    for name in ['float32', 'float64']:
        case('complex', torch.complex, T((3, 4), name), T((4,), name, 40))
        case('polar', torch.polar, T((3, 4), name), T((3, 4), name, 40))
        case('polar', torch.polar, T((4, 3), name, 2, (1, 4)),
             T((4, 3), name, 40, (1, 4)))
        case('polar', torch.polar, T((3, 1), name), T((4,), name, 40))
    fail('complex', torch.complex, T((3,)), T((3,), 'float64'))
    fail('complex', torch.complex, T((3,)), T((3,), 'int64'))
    fail('polar', torch.polar, T((3,)), T((3,), 'float64'))


def arithmetic():
    for real, pool in BOTH:
        a, b = T((3, 4), pool), T((3, 4), pool, 50)
        row, turned = T((4,), pool, 70), T((3, 4), pool, 2, (1, 3))
        r = T((3, 4), real, 9)
        for name, function in [('mul', torch.mul), ('add', torch.add),
                               ('sub', torch.sub)]:
            for pair in [(a, b), (a, row), (row, a), (turned, a), (a, r), (r, a),
                         (a, T((4,), real, 9)), (T((2, 1, 4), real), a), (a, 3),
                         (a, 0.75), (T((), pool), r), (a, T((), 'float64')),
                         (T((3, 4), 'int64'), a)]:
                case(name, function, *pair)
        case('add', torch.add, a, b, alpha=2)
        case('sub', torch.sub, a, r, alpha=0.5)
        for other in [r, T((4,), real, 9), 3, 0.75, T((), real, 3)]:
            case('div', torch.div, a, other)
        for c in [a, turned, T((), pool), T((0, 3), pool)]:
            case('neg', torch.neg, c)
            case('abs', torch.abs, c)
            case('angle', torch.angle, c)
            case('conj', torch.conj_physical, c)
            case('clone', torch.clone, c)
            case('contiguous', torch.Tensor.contiguous, c)
    case('mul', torch.mul, T((3, 4), 'complex64'), T((3, 4), 'float64'))
    case('mul', torch.mul, T((3, 4), 'complex64'), T((3, 4), 'complex128'))


def products():
    for real, pool in BOTH:
        case('vdot', torch.vdot, T((4,), pool), T((4,), pool, 50))
        case('vdot', torch.vdot, T((4,), real), T((4,), real, 50))
        case('vdot', torch.vdot, T((0,), pool), T((0,), pool))
    case('vdot', torch.vdot, T((3,), 'int64'), T((3,), 'int64', 3))


def moved():
    for real, pool in BOTH:
        a, turned = T((3, 4), pool), T((3, 4), pool, 2, (1, 3))
        for c in [a, turned]:
            case('reshape', torch.reshape, c, (2, -1))
            case('flatten', torch.flatten, c)
            case('cat', torch.cat, [c, T((3, 4), pool, 50)], 1)
            case('cat', torch.cat, [c, T((3, 4), real, 9)], -2)
            case('stack', torch.stack, [c, T((3, 4), pool, 50)], 1)
            case('roll', torch.roll, c, 1, 0)
            case('roll', torch.roll, c, (1, -1), (-1, 0))
            case('roll', torch.roll, c, 5)
            case('flip', torch.flip, c, (-1,))
            case('index_select', torch.index_select, c, -1, L([3, 0]))
    for source in ['float32', 'int64', 'bool', 'complex64', 'complex128']:
        for target in [torch.complex64, torch.complex128]:
            case('to', torch.Tensor.to, T((3, 4), source), target)


def lines():
    fft = torch.fft
    for real, pool in BOTH:
        for n in [1, 2, 3, 4, 5, 7, 8, 12, 13, 17, 30, 34, 49, 64, 97, 121]:
            case('fft_fft', fft.fft, T((n,), pool))
            case('fft_ifft', fft.ifft, T((n,), pool))
            case('fft_rfft', fft.rfft, T((n,), real))
            case('fft_irfft', fft.irfft, T((n // 2 + 1,), pool), n)
            case('fft_hfft', fft.hfft, T((n // 2 + 1,), pool), n)
            case('fft_ihfft', fft.ihfft, T((n,), real))
    for real, pool in BOTH:
        for name, source in [('fft', pool), ('ifft', pool), ('fft', real),
                             ('ifft', real), ('rfft', real), ('irfft', pool),
                             ('irfft', real), ('hfft', pool), ('ihfft', real)]:
            function, x = getattr(fft, name), T((3, 5, 4), source)
            for arguments in [{'dim': 1}, {'dim': 0, 'norm': 'ortho'},
                              {'norm': 'forward'}, {'norm': 'backward'},
                              {'n': 3}, {'n': 9, 'dim': -2}]:
                case('fft_' + name, function, x, **arguments)
            case('fft_' + name, function, T((4, 3), source, 2, (1, 4)))
            fail('fft_' + name, function, x, 0)
            fail('fft_' + name, function, x, norm='other')
    case('fft_fft', fft.fft, T((3, 4), 'int64'))
    case('fft_rfft', fft.rfft, T((3, 4), 'int32'))
    case('fft_rfft', fft.rfft, T((3, 4), 'bool'))
    fail('fft_rfft', fft.rfft, T((3, 4), 'complex64'))
    fail('fft_fft', fft.fft, T((3, 0)))


def planes():
    fft = torch.fft
    for real, pool in BOTH:
        for name, source in [('fft', pool), ('ifft', pool), ('rfft', real),
                             ('irfft', pool), ('hfft', pool),
                             ('ihfft', real), ('fft', real)]:
            x = T((2, 3, 4, 5), source)
            case('fft_%s2' % name, getattr(fft, name + '2'), x)
            case('fft_%s2' % name, getattr(fft, name + '2'), x, (4, 3), (1, 0),
                 'ortho')
            case('fft_%sn' % name, getattr(fft, name + 'n'), x)
            case('fft_%sn' % name, getattr(fft, name + 'n'), x, (-1, 6))
            case('fft_%sn' % name, getattr(fft, name + 'n'), x, None, (0, 2),
                 'forward')
            case('fft_%sn' % name, getattr(fft, name + 'n'),
                 T((3, 4, 2), source, 1, (1, 3, 12)), dim=(2, 0))
            fail('fft_%sn' % name, getattr(fft, name + 'n'), x, dim=(1, 1))
            fail('fft_%sn' % name, getattr(fft, name + 'n'), x, (2, 3), (1,))
    for n in [1, 2, 7, 8]:
        case('fft_fftfreq', fft.fftfreq, n)
        case('fft_fftfreq', fft.fftfreq, n, 0.25, dtype=torch.float64)
        case('fft_rfftfreq', fft.rfftfreq, n)
        case('fft_rfftfreq', fft.rfftfreq, n, d=2.0)
    for source in ['float32', 'complex64']:
        for name in ['fftshift', 'ifftshift']:
            case('fft_' + name, getattr(fft, name), T((3, 4), source))
            case('fft_' + name, getattr(fft, name), T((3, 5), source), 1)
            case('fft_' + name, getattr(fft, name), T((3, 5), source), (0, -1))


def parts_of_aten():
    aten = torch.ops.aten
    for real, pool in BOTH:
        for scaling in [0, 1, 2]:
            case('_fft_c2c', aten._fft_c2c, T((3, 4, 5), pool), [0, 2], scaling,
                 True)
            case('_fft_c2c', aten._fft_c2c, T((3, 4, 5), pool, 0, (1, 3, 12)),
                 [1], scaling, False)
            case('_fft_r2c', aten._fft_r2c, T((3, 4, 5), real), [1, 2], scaling,
                 True)
            case('_fft_r2c', aten._fft_r2c, T((3, 4, 5), real), [2, 0], scaling,
                 False)
            case('_fft_c2r', aten._fft_c2r, T((3, 4, 5), pool), [1, 2], scaling,
                 8)
            case('_fft_c2r', aten._fft_c2r, T((3, 4, 5), pool), [2], scaling, 9)


def short_time():
    stft, istft = torch.stft, torch.istft
    for real, pool in BOTH:
        signals = T((2, 64), real), T((40,), real)
        window = T((16,), 'positive_wide_' + real)
        for x in signals:
            for arguments in [
                    {}, {'window': window}, {'hop_length': 5, 'center': False},
                    {'win_length': 11}, {'normalized': True},
                    {'window': T((12,), 'positive_wide_' + real),
                     'win_length': 12},
                    {'onesided': False}, {'pad_mode': 'constant'}]:
                case('stft', stft, x, 16, return_complex=True, **arguments)
        case('stft', stft, signals[0], 15, return_complex=True)
        case('stft', stft, T((2, 40), pool), 16, window=window)
        case('stft', stft, T((2, 40), pool), 16, return_complex=True)
        spectra, one = T((2, 9, 6), pool), T((9, 6), pool)
        for x in [spectra, one]:
            for arguments in [{}, {'hop_length': 5, 'window': window},
                              {'normalized': True}, {'length': 18},
                              {'length': 30},
                              {'center': False, 'win_length': 16},
                              {'onesided': True}]:
                case('istft', istft, x, 16, **arguments)
        case('istft', istft, T((2, 16, 5), pool), 16, return_complex=True,
             onesided=False)
        case('istft', istft, T((2, 16, 5), pool), 16)
    fail('istft', istft, T((2, 9, 6)), 16)
    fail('stft', stft, T((2, 64)), 16)


FAMILIES = (views, made, arithmetic, moved, lines, planes, parts_of_aten,
            short_time, products)
