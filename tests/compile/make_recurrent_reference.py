"""Writes recurrent_reference.txt: what recurrent layers give in double precision.

Run with a Python that has torch 2.13:
    python tests/compile/make_recurrent_reference.py

A line `case NAME KEY=VALUE...` says what is called, lines `result SIZES NUMBERS`
say what comes out: every n-th number where there are many. Layers are torch's;
`recurrence`, with what ONNX's operators have beside, is written out here from
their definitions. Weights and inputs are not committed: see made_numbers.h.
"""

import math
import os

import numpy as np
import torch

from make_model_reference import number

SAMPLES = 32
GATES = {'lstm': 4, 'gru': 3, 'rnn': 1, 'rnn_tanh': 1, 'rnn_relu': 1}


def numbers(name, sizes, scale=1.0):
    count = math.prod(sizes)
    values = [number(name, i) * scale for i in range(count)]
    single = torch.tensor(values, dtype=torch.float64).float()
    return single.double().view(sizes)


def sampled(t):
    flat = t.reshape(-1)
    step = max(1, flat.numel() // SAMPLES)
    return ' '.join(f'{v:.8g}' for v in flat[::step].tolist())


def weights_of(case):
    gates, hidden = GATES[case['op']], case['hidden']
    width = case.get('proj') or hidden
    sides = 1 + case.get('both', 0)
    scale = 1 / math.sqrt(hidden)
    made = []
    for i in range(case.get('layers', 1) * sides):
        inputs = case['inputs'] if i < sides else width * sides
        sizes = [(gates * hidden, inputs), (gates * hidden, width)]
        if case.get('bias', 1):
            sizes += [(gates * hidden,)] * 2
        if case.get('proj'):
            sizes.append((width, hidden))
        for size in sizes:
            made.append(numbers(f'{case["name"]}.w{len(made)}', size, scale))
    return made


def run_layers(case):
    name, op = case['name'], case['op']
    sides = 1 + case.get('both', 0)
    layers, first = case.get('layers', 1), case.get('first', 0)
    batch, length = case['batch'], case['length']
    width = case.get('proj') or case['hidden']
    states = [numbers(f'{name}.h', (layers * sides, batch, width), 0.5)]
    if op == 'lstm':
        states.append(numbers(f'{name}.c', (layers * sides, batch,
                                            case['hidden']), 0.5))
    hx = states if op == 'lstm' else states[0]
    rest = [weights_of(case), bool(case.get('bias', 1)), layers, 0.0, False,
            bool(case.get('both', 0))]
    call = getattr(torch, op)
    if 'packed' in case:
        sizes = torch.tensor(case['packed'])
        x = numbers(f'{name}.x', (int(sizes.sum()), case['inputs']))
        return call(x, sizes, hx, *rest)
    size = (batch, length) if first else (length, batch)
    x = numbers(f'{name}.x', (*size, case['inputs']))
    return call(x, hx, *rest, bool(first))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# By ONNX's names; alpha and beta.
ACTIVATIONS = {
    'Sigmoid': lambda x, a, b: sigmoid(x),
    'Tanh': lambda x, a, b: np.tanh(x),
    'Relu': lambda x, a, b: np.maximum(x, 0),
    'Affine': lambda x, a, b: a * x + b,
    'LeakyRelu': lambda x, a, b: np.where(x < 0, a * x, x),
    'ThresholdedRelu': lambda x, a, b: np.where(x < a, 0, x),
    'ScaledTanh': lambda x, a, b: a * np.tanh(b * x),
    'HardSigmoid': lambda x, a, b: np.clip(a * x + b, 0, 1),
    'Elu': lambda x, a, b: np.where(x < 0, a * np.expm1(x), x),
    'Softsign': lambda x, a, b: x / (1 + np.abs(x)),
    'Softplus': lambda x, a, b: np.logaddexp(0, x),
}
USUAL = {'lstm': ['Sigmoid', 'Tanh', 'Tanh'], 'gru': ['Sigmoid', 'Tanh'],
         'rnn': ['Tanh']}
FACTORS = {'Affine': (1, 0), 'LeakyRelu': (0.01, 0), 'ThresholdedRelu': (1, 0),
           'ScaledTanh': (1, 1), 'HardSigmoid': (0.2, 0.5), 'Elu': (1, 0)}


def in_order(x, order, axis):
    parts = np.split(x, len(order), axis)
    return np.concatenate([parts[place] for place in order], axis)


def run_side(case, d, reverse, h, c):
    """One direction; gates in torch's order."""
    name, op, n = case['name'], case['op'], case['hidden']
    gates, width = GATES[op], case.get('proj') or n
    scale = 1 / math.sqrt(n)
    part = lambda which, size, by=scale: numbers(f'{name}.{which}{d}', size,
                                                 by).numpy()
    x = part('g', (case['length'], case['batch'], gates * n), 2.0)
    w = part('w', (gates * n, width))
    bias = part('b', (gates * n,)) if case.get('bias') else np.zeros(gates * n)
    if case.get('order'):
        order = case['order']
        x = in_order(x, order, -1)
        w, bias = in_order(w, order, 0), in_order(bias, order, 0)
    project = part('p', (width, n)) if case.get('proj') else None
    peep = part('q', (3 * n,), 1.0) if case.get('peepholes') else None
    if peep is not None and case.get('order'):
        at = [case['order'][gate] for gate in (0, 1, 3)]
        peep = in_order(peep, [sorted(at).index(place) for place in at], 0)
    usual = USUAL[op]
    used = case.get('activations', usual * 2)[d * len(usual):]
    alphas = (case.get('alphas', []) + [None] * 6)[d * len(usual):]
    betas = (case.get('betas', []) + [None] * 6)[d * len(usual):]

    def act(i, value):
        if case.get('clip'):
            value = np.clip(value, -case['clip'], case['clip'])
        a, b = FACTORS.get(used[i], (0, 0))
        a = alphas[i] if alphas[i] is not None else a
        b = betas[i] if betas[i] is not None else b
        return ACTIVATIONS[used[i]](value, a, b)

    def step(xt, h, c):
        sums = h @ w.T + bias
        if op == 'rnn':
            return act(0, xt + sums), c
        if op == 'gru':
            r = act(0, xt[:n] + sums[:n])
            z = act(0, xt[n:2 * n] + sums[n:2 * n])
            fresh = r * sums[2 * n:]
            if case.get('before', 1) == 0:
                fresh = (r * h) @ w[2 * n:].T + bias[2 * n:]
            return (1 - z) * act(1, xt[2 * n:] + fresh) + z * h, c
        i, f, g, o = np.split(xt + sums, 4)
        if peep is not None:
            i, f = i + peep[:n] * c, f + peep[n:2 * n] * c
        i, g = act(0, i), act(1, g)
        f = 1 - i if case.get('coupled') else act(0, f)
        c = f * c + i * g
        if peep is not None:
            o = o + peep[2 * n:] * c
        out = act(0, o) * act(2, c)
        return (out if project is None else project @ out), c

    y = np.zeros((case['length'], case['batch'], width))
    h, c = h.copy(), c.copy()
    for row in range(case['batch']):
        length = case.get('lengths', [case['length']] * case['batch'])[row]
        times = range(length)
        for t in reversed(times) if reverse else times:
            h[row], c[row] = step(x[t, row], h[row], c[row])
            y[t, row] = h[row]
    return y, h, c


def run_recurrence(case):
    name, n = case['name'], case['hidden']
    direction = case.get('direction', 'forward')
    sides = 2 if direction == 'bidirectional' else 1
    width = case.get('proj') or n
    h = numbers(f'{name}.h', (sides, case['batch'], width), 0.5).numpy()
    c = numbers(f'{name}.c', (sides, case['batch'], n), 0.5).numpy()
    made = [run_side(case, d, direction == 'reverse' or d == 1, h[d], c[d])
            for d in range(sides)]
    results = [np.concatenate([y for y, _, _ in made], -1),
               np.stack([h for _, h, _ in made])]
    if case['op'] == 'lstm':
        results.append(np.stack([c for _, _, c in made]))
    return [torch.from_numpy(r) for r in results]


def layer_cases():
    for op in 'lstm', 'gru', 'rnn_tanh', 'rnn_relu':
        case = lambda name, length, batch, inputs, hidden, **more: dict(
            name=f'{op}_{name}', op=op, length=length, batch=batch,
            inputs=inputs, hidden=hidden, **more)
        yield case('first', 7, 3, 5, 6, first=1)
        yield case('one', 9, 1, 4, 16, bias=0)
        yield case('both', 4, 17, 3, 33, both=1, layers=2)
        yield case('packed', 6, 6, 4, 20, both=1, layers=2,
                   packed=[6, 6, 4, 2, 2, 1])
        yield case('long', 2000, 2, 3, 24)
        yield case('wide', 3, 101, 2, 8, layers=2, first=1)
        yield case('thin', 5, 8, 1, 1, both=1)
        yield case('step', 1, 1, 40, 65)
        yield case('panels', 3, 16, 8, 80)
    case = lambda name, **more: dict(name=f'lstm_{name}', op='lstm', length=5,
                                     batch=4, inputs=3, hidden=12, **more)
    yield case('proj', proj=7, both=1, layers=2)
    yield case('proj_one', proj=1, bias=0, first=1)
    yield case('proj_packed', proj=5, both=1, packed=[4, 3, 3, 1])


def recurrence_cases():
    base = dict(length=5, batch=3, hidden=6, bias=1, kind='recurrence')
    for op in 'lstm', 'gru', 'rnn':
        case = lambda name, **more: dict(base, name=f'{op}_onnx_{name}', op=op,
                                         **more)
        yield case('reverse', direction='reverse')
        yield case('lengths', direction='bidirectional', lengths=[2, 5, 0])
        yield case('clip', clip=0.3, direction='bidirectional')
        usual = USUAL[op]
        for name in ACTIVATIONS:
            if name not in usual:
                # Gates that grow would make errors grow.
                small = dict(alphas=[0.25], betas=[0.25])
                yield case(name.lower(), activations=[name] + usual[1:],
                           **(small if name == 'Affine' else {}))
    yield dict(base, name='lstm_onnx_peepholes', op='lstm', peepholes=1,
               direction='bidirectional', lengths=[5, 1, 3])
    yield dict(base, name='lstm_onnx_coupled', op='lstm', coupled=1,
               peepholes=1, clip=0.5)
    yield dict(base, name='lstm_onnx_proj', op='lstm', proj=4, lengths=[3, 4, 5],
               direction='reverse')
    yield dict(base, name='lstm_onnx_factors', op='lstm',
               direction='bidirectional',
               activations=['HardSigmoid', 'ScaledTanh', 'Affine', 'Sigmoid',
                            'LeakyRelu', 'Tanh'],
               alphas=[0.3, 1.5, 0.7, None, 0.2], betas=[0.4, 0.5, 0.1])
    for name, more in (('order', {}), ('order_peepholes', dict(peepholes=1))):
        yield dict(base, name=f'lstm_onnx_{name}', op='lstm',
                   direction='bidirectional', order=[0, 2, 3, 1], **more)
    yield dict(base, name='gru_onnx_order', op='gru', order=[1, 0, 2])
    yield dict(base, name='gru_onnx_order_after', op='gru', order=[1, 0, 2],
               before=0)
    yield dict(base, name='gru_onnx_after', op='gru', before=0,
               direction='bidirectional', lengths=[4, 5, 2])
    yield dict(base, name='gru_onnx_after_clip', op='gru', before=0, clip=0.4)


def text(value):
    if isinstance(value, list):
        return ','.join('-' if v is None else str(v) for v in value)
    return str(value)


def main():
    path = os.path.join(os.path.dirname(__file__), 'recurrent_reference.txt')
    with open(path, 'w') as file:
        for case in (*layer_cases(), *recurrence_cases()):
            run = run_recurrence if 'kind' in case else run_layers
            with torch.no_grad():
                results = run(case)
            keys = ' '.join(f'{k}={text(v)}' for k, v in case.items()
                            if k != 'name')
            file.write(f'case {case["name"]} {keys}\n')
            for result in results:
                sizes = ','.join(map(str, result.shape))
                file.write(f'result {sizes} {sampled(result)}\n')


if __name__ == '__main__':
    main()
