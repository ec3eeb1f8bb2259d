"""Writes layouts_reference.txt: the strides of results of tensors in any order.

Run with a Python that has torch 2.13:  python tests/ops/make_layouts.py

The calls are those of layout_cases.py and of the other references, with tensors
of two dims and more laid out in several orders. Lines of the file are as those of
structured_reference.txt, but a RESULT is s:WORDS, a word for each of its
tensors, joined by underscores: its strides, 0 for dims of one element, or - if it
is memory of an argument or has no elements.
"""

import os
import re
import warnings

warnings.simplefilter('ignore')

import torch

import aliasing

# By row: the text of each call with its function and arguments.
calls = {}


def note(row, text, function, args, kwargs):
    calls.setdefault(row, {})[text] = (
        function, list(args), dict(kwargs))


aliasing.note = note

import aliasing_cases
import layout_cases
import make_reference  # Its calls are made here.
import make_structured_reference
from aliasing import tensors
from make_aliasing import pool_line, with_pools
from structured_format import POOLS, ints

MOST_CASES = 24  # Of a row.
TENSOR = re.compile(
    r'(?<!\w)(?:(t):(\w+):(\d+):(\(\)|[\d,]+):(\(\)|[\d,]+)|l:\w+:)')



def dims(text):
    return [] if text == '()' else [int(word) for word in text.split(',')]


def in_order(sizes, order):
    strides, reach = [0] * len(sizes), 1
    for d in reversed(order):
        strides[d] = reach
        reach *= max(sizes[d], 1)
    return strides


def laid_out(how, sizes):
    rank = len(sizes)
    order = list(range(rank))
    if how == 'turned':
        order = order[::-1]
    elif how == 'channels':
        order = [0] + order[2:] + [1] if rank > 2 else order[::-1]
    elif how in ['swapped', 'apart']:
        order = order[:-2] + [rank - 1, rank - 2]
    strides = in_order(sizes, order)
    return [2 * step for step in strides] if how == 'apart' else strides


PLANS = [('turned', 'turned'), ('channels', 'channels'), ('swapped', 'swapped'),
         ('plain', 'plain'), ('apart', 'apart'), ('turned', 'plain'),
         ('plain', 'turned'), ('channels', 'plain'), ('plain', 'channels'),
         ('swapped', 'turned')]


# They keep gaps between the elements of their argument.
WITH_GAPS = ['select_scatter', 'slice_scatter', 'diagonal_scatter', 'copy']


def layouts_of(text):
    """The call's text with other strides: those of the first tensor of several
    dims and those of all others."""
    found = list(TENSOR.finditer(text))
    large = [i for i, m in enumerate(found)
             if m.group(1) and len(dims(m.group(4))) > 1]
    for first, others in PLANS:
        if first == 'apart' and text.split()[0] in WITH_GAPS:
            continue
        words, at = [], 0
        for i in large:
            how = first if i == large[0] else others
            m = found[i]
            words += [text[at:m.start(5)], ints(laid_out(how, dims(m.group(4))))]
            at = m.end(5)
        if large and (len(large) > 1 or first == others):
            yield ''.join(words) + text[at:]


def pool_of(name):
    return make_reference.POOLS[name[5:]] if name.startswith('flat_') \
        else POOLS[name]


def real(text, args, kwargs):
    """The arguments as the text lays them out; None where a pool is too short."""
    words = list(TENSOR.finditer(text))
    if len(words) != len(tensors([args, kwargs])):
        return None  # Some of its tensors are written otherwise.
    found = iter(words)
    short = False

    def made(value):
        nonlocal short
        if isinstance(value, torch.Tensor):
            m = next(found)
            if not m.group(1):
                return aliasing.apart(value)
            sizes, strides = dims(m.group(4)), dims(m.group(5))
            pool = pool_of(m.group(2))
            last = int(m.group(3)) + sum(
                (n - 1) * s for n, s in zip(sizes, strides))
            if last >= len(pool):
                short = True
                return value
            return aliasing.apart(
                torch.as_strided(pool, sizes, strides, int(m.group(3))))
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            return type(value)(made(item) for item in value)
        if isinstance(value, slice):
            return slice(*map(made, (value.start, value.stop, value.step)))
        return value

    args = [made(arg) for arg in args]
    kwargs = {name: made(arg) for name, arg in kwargs.items()}
    return None if short else (args, kwargs)


def strides_of(result, arguments):
    words = []
    memories = aliasing.memories(result, arguments).split()
    for tensor, memory in zip(tensors(result), memories):
        if memory.isdigit() or not tensor.numel():
            words.append('-')
        else:
            words.append(ints([0 if n == 1 else s for n, s in
                               zip(tensor.shape, tensor.stride())]))
    return '_'.join(words)


def laid_out_calls(text, function, args, kwargs):
    """What the call gives in each layout that it allows."""
    found = {}
    for other in layouts_of(text):
        given = real(other, args, kwargs)
        if not given:
            continue
        try:
            result = function(*given[0], **given[1])
        except (RuntimeError, IndexError):
            continue  # Views that the layout does not allow.
        words = strides_of(result, tensors(list(given)))
        if any(word not in '-()' for word in words.split('_')):
            found[other] = words
    return list(found.items())


def cases_of(row):
    """Some layouts of all of the row's calls, or of some if they are many: each
    call starts with another layout."""
    step = -(-len(calls[row]) // MOST_CASES)
    every = [laid_out_calls(text, *call)
             for text, call in list(calls[row].items())[::step]]
    cases = {}
    for turn in range(len(PLANS)):
        for i, found in enumerate(every):
            if turn < len(found) and len(cases) < MOST_CASES:
                cases.update([found[(turn + i) % len(found)]])
    return cases


def main():
    for row in calls:
        calls[row] = {with_pools(text): call
                      for text, call in calls[row].items()}
    for family in (*layout_cases.FAMILIES, *make_structured_reference.FAMILIES,
                   *aliasing_cases.FAMILIES):
        family()
    lines = [pool_line(name, data) for name, data in POOLS.items()]
    lines += [pool_line('flat_' + name, data)
              for name, data in make_reference.POOLS.items()]
    rows = 0
    for row in sorted(calls):
        # Writes its argument, wherever that lies; lies as its products do.
        if row.endswith(('_', '_out')) or row == 'einsum':
            continue
        cases = cases_of(row)
        rows += bool(cases)
        lines += ['case %s -> s:%s' % case for case in cases.items()]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        'layouts_reference.txt')
    with open(path, 'w') as out:
        out.write('\n'.join(lines) + '\n')
    print('%d rows, %d lines' % (rows, len(lines)))


if __name__ == '__main__':
    main()
