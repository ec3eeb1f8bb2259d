"""Writes overload_reference.txt: PyTorch's results for ATen's overloads.

Run with a Python that has torch 2.13. The format is that of
structured_reference.txt, with an overload ("elu.default") in place of a row. Each
overload of overloads.inc is called with the arguments that it needs, and with all
of its arguments; values are guessed from names and types of the schema, or stand
in overload_cases.py. Overloads that no guess fits need a line there; those that
no numbers can hold stand in overloads_without_cases.txt with the reason.
"""

import itertools
import os
import pathlib
import re
import sys

import torch

import overload_cases
from structured_format import (INTS, FLOATS, L, T, call_text, encode,
                               result_text, unwrap)
from structured_format import POOLS

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent.parent / 'src/ops/aten'))
import make_schemas  # noqa: E402

# Tried in turn until torch takes one: the tensors of a call have these sizes.
SIZES = ((3, 4), (2, 3, 4), (4, 4), (4,), (1, 2, 6, 6), ())
KINDS = ('float32', 'int64', 'bool')


def indices(sizes):
    count = 1
    for size in sizes:
        count *= size
    return L([i % 2 for i in range(count)]) if len(sizes) == 1 else L(
        torch.arange(count).remainder(2).reshape(sizes).tolist())


def tensor(name, sizes, kind):
    if name in ('index', 'indices'):
        return indices(sizes)
    if name in ('mask', 'condition'):
        return T(sizes, 'bool')
    return T(sizes, kind)


NUMBERS = {
    'dim': 0, 'dim0': 0, 'dim1': 1, 'axis0': 0, 'axis1': 1, 'index': 1,
    'start': 0, 'end': 2, 'step': 1, 'length': 2, 'k': 2, 'n': 2, 'm': 3,
    'diagonal': 1, 'offset': 1, 'chunks': 2, 'split_size': 2, 'sections': 2,
    'groups': 2, 'upscale_factor': 2, 'downscale_factor': 2, 'steps': 4,
    'num_classes': 4, 'decimals': 1, 'repeats': 2, 'row': 3, 'col': 4,
    'window_length': 5, 'unbiased': False, 'correction': 0, 'high': 3,
    'low': 1, 'size': 2, 'dimension': 0, 'sorted_sequence': 0,
}
LISTS = {
    'dim': [0], 'dims': [0], 'size': [3, 4], 'shape': [3, 4],
    'repeats': [2, 1], 'shifts': [1], 'pad': [1, 2], 'padding': [1, 1],
    'split_sizes': [1, 2], 'split_size': [1, 2], 'indices': [1],
    'source': [0], 'destination': [1], 'normalized_shape': [4],
    'output_size': [2], 'stride': [4, 1], 'sizes': [3, 4],
}
TYPED = {'bool': True, 'float': 0.5, 'str': 'floor', 'ScalarType': torch.float64,
         'number': 0.75, 'Scalar': 0.75}
SAME = {'train': False, 'training': False, 'device': None, 'layout': None, 'memory_format': None,
        'pin_memory': None, 'generator': None, 'dtype': torch.float64}


def guess(argument, sizes, kind):
    """A value for an argument, or the class Unknown."""
    text = str(argument.type)
    optional = text.startswith('Optional[')
    inner = text[9:-1] if optional else text
    if argument.name in SAME:
        return SAME[argument.name]
    if inner == 'Tensor':
        return tensor(argument.name, sizes, kind)
    if inner == 'List[Tensor]':
        return [tensor(argument.name, sizes, kind)] * 2
    if inner == 'int':
        return NUMBERS.get(argument.name, 1)
    if inner.startswith('List[int]'):
        return LISTS.get(argument.name, [1])
    if inner.startswith('List['):
        return None
    if inner in ('number', 'Scalar') and kind != 'float32':
        return 2
    return TYPED.get(inner, 1)


def arguments(schema, sizes, kind, whole):
    args, kwargs = [], {}
    for argument in schema.arguments:
        if argument.has_default_value() and not whole:
            continue
        value = guess(argument, sizes, kind)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return args, kwargs


def overload(name):
    base, kind = name.rsplit('.', 1)
    return getattr(getattr(torch.ops.aten, base), kind)


def writes(schema):
    first = schema.arguments[0] if schema.arguments else None
    return bool(first and first.alias_info and first.alias_info.is_write)


def run(name, args, kwargs):
    function = overload(name)
    values = [unwrap(a) for a in args]
    if writes(function._schema):
        values[0] = values[0].clone()
    named = {k: unwrap(v) for k, v in kwargs.items()}
    if 'out' in named:
        named['out'] = named['out'].clone()
    return function(*values, **named)


def line_of(name, args, kwargs):
    result = run(name, args, kwargs)
    return 'case %s -> %s' % (call_text(name, args, kwargs),
                              result_text(result))


def guessed(name, whole):
    schema = overload(name)._schema
    for kind, sizes in itertools.product(KINDS, SIZES):
        args, kwargs = arguments(schema, sizes, kind, whole)
        try:
            line = line_of(name, args, kwargs)
        except Exception:  # Whatever torch refuses is the next guess.
            continue
        if 'r:complex' not in line:
            return line
    return None


def lines_of(name):
    if name in overload_cases.CASES:
        try:
            return [line_of(name, args, kwargs)
                    for args, kwargs in overload_cases.CASES[name]]
        except Exception as error:
            sys.exit('%s: %s' % (name, error))
    return list(dict.fromkeys(
        line for line in (guessed(name, False), guessed(name, True)) if line))


def main():
    names = sorted(make_schemas.served())
    lines, missing = [], []
    for name in names:
        if name in overload_cases.WITHOUT:
            continue  # With its reason.
        made = lines_of(name)
        lines += made
        if not made:
            missing.append(name)
    if missing:
        sys.exit('no case fits: ' + ' '.join(missing))
    path = HERE / 'overload_reference.txt'
    with open(path, 'w') as out:
        for name, data in POOLS.items():
            raw = data.view(torch.uint8).numpy().tobytes()
            out.write('pool %s %s %s\n' % (
                name, str(data.dtype).replace('torch.', ''), encode(raw)))
        out.write('\n'.join(lines) + '\n')
    print('%d cases, %d bytes' % (len(lines), os.path.getsize(path)))
    (HERE / 'overloads_without_cases.txt').write_text(''.join(
        '%s: %s\n' % item for item in sorted(overload_cases.WITHOUT.items())))


if __name__ == '__main__':
    main()
