"""Writes python_operators.txt: what Python's operators give on plain values.

    build/venv/bin/python tests/ops/make_python_operators.py

Every function of `operator` below on every value, or every pair of values, of
`VALUES`; the same values stand in python_operators_test.cpp in the same order.
A line of the file is

    operator <tab> index of a <tab> indices of b <tab> result

The result is a repr, or `!Type: text` of an exception, in whose text {a}
and {b} stand for the names of the types of a and b. torch is needed for its dtypes.
"""
import copy
import operator
import os
import re

import torch

VALUES = [
    None, True, False, 0, 1, -1, 2, -3, 7, 70, 2**63 - 1, -2**63,
    0.0, -0.0, 0.5, -2.5, 3.0, 1e308, float('inf'), float('nan'),
    '', 'a', 'ab', 'b', 'é∂', '%s is %d', '%5.2f%%',
    [], [1], [1, 2], ['a'], [[1], 2.0],
    (), (1,), (1, 2), ('a', 1), ([1],), ('x', 3),
    {}, {'a': 1}, {1: 'x'},
    slice(None), slice(1, 3), slice(None, None, -1), slice('a', None),
    slice(-2, 9, 2), slice(None, None, 0),
    range(3), range(5, 0, -2),
    torch.float32, torch.int64, Ellipsis,
]
# In-place operators share all but the text of errors and what lists take.
IN_PLACE_VALUES = [
    None, True, 2, -2**63, 0.5, 'ab', [1], [1, 2], (1,), {'a': 1}, {1: 'x'},
    range(3), torch.float32,
]
UNARY = 'abs index inv invert neg not_ pos truth length'.split()
BINARY = ('add and_ concat contains countOf eq floordiv ge getitem gt indexOf '
          'le lshift lt matmul mod mul ne or_ pow rshift sub truediv xor '
          'setitem delitem').split()
IN_PLACE = ('iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow '
            'irshift isub itruediv ixor').split()

# What has no counterpart among values, which are never changed in place, hold
# ints of 64 bits and no complex numbers.
TOO_LARGE = '!OverflowError: the result does not fit an int of 64 bits'
TOO_LONG = '!OverflowError: the repeated sequence is too long'
COMPLEX = ('!ValueError: a negative number to a fractional power is complex, '
           'which no value can be')
UNCHANGED = ("!TypeError: '{a}' object does not support item %s here: values "
             "are never changed in place, build a new one")


def fits(value):
    if isinstance(value, int):
        return -2**63 <= value < 2**63
    if isinstance(value, (list, tuple)):
        return all(fits(item) for item in value)
    return True


def type_name(value):
    kind = type(value)
    return f'{kind.__module__}.{kind.__name__}'.removeprefix('builtins.')


def failure(error, values):
    text = str(error)
    names = [type_name(value) for value in values]
    if len(names) == 2 and names[0] == names[1]:
        text = put(text, names[0], '{a}', count=1)
    for letter, name in reversed(list(zip('ab', names))):
        text = put(text, name, f'{{{letter}}}')
    return f'!{type(error).__name__}: {text}'


def put(text, name, place, count=0):
    pattern = rf'(?<![\w.]){re.escape(name)}(?![\w.])'
    return re.sub(pattern, place, text, count=count)


def run(name, values):
    values = copy.deepcopy(values)
    a = values[0]
    if name in ('setitem', 'delitem') and isinstance(a, (list, dict)):
        return UNCHANGED % ('assignment' if name == 'setitem' else 'deletion')
    if name == 'length':
        call = len
    elif name == 'setitem':
        call = lambda a, b: operator.setitem(a, b, 5)
    else:
        call = getattr(operator, name)
    # Powers and shifts that Python would take very long for.
    if name in ('pow', 'ipow', 'lshift', 'ilshift') and all(
            type(v) in (bool, int) for v in values):
        a, b = values
        if abs(a) > 1 and b > 64 or (name.endswith('lshift') and a and b > 64):
            return TOO_LARGE
    try:
        result = call(*values)
    except MemoryError:
        return TOO_LONG
    except OverflowError as error:
        if 'repeated' in str(error):
            return TOO_LONG
        return (failure(error, values) if 'out of range' in str(error)
                else TOO_LARGE)
    except Exception as error:
        return failure(error, values)
    if isinstance(result, complex):
        return COMPLEX
    return repr(result) if fits(result) else TOO_LARGE


def lines(name, first, second):
    for i, a in first:
        groups = {}
        for j, b in second:
            result = run(name, [a, b] if j != '-' else [a])
            groups.setdefault(result, []).append(j)
        for result, places in groups.items():
            yield f'{name}\t{i}\t{ranges(places)}\t{result}\n'


def ranges(places):
    if places == ['-']:
        return '-'
    runs = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return ','.join(f'{a}' if a == b else f'{a}-{b}' for a, b in runs)


def main():
    values = list(enumerate(VALUES))
    chosen = [(i, v) for i, v in values
              if any(type(v) is type(w) and v == w for w in IN_PLACE_VALUES)]
    path = os.path.join(os.path.dirname(__file__), 'python_operators.txt')
    with open(path, 'w', encoding='utf-8') as file:
        for i, value in values:
            file.write(f'value\t{i}\t-\t{value!r}\n')
        for name in UNARY:
            file.writelines(lines(name, values, [('-', None)]))
        for name in BINARY:
            file.writelines(lines(name, values, values))
        for name in IN_PLACE:
            file.writelines(lines(name, chosen, chosen))


main()
