"""Writes aliasing_reference.txt: whose memory the results of every row are.

Run with a Python that has torch 2.13:  python tests/ops/make_aliasing.py

The calls are those of aliasing_cases.py and of the other references, of which a
few stand for rows whose results are never an argument's. Lines of
the file are as those of structured_reference.txt, but a RESULT is s:WORDS, a
word for each of its tensors, joined by underscores: the number of the argument's
tensor whose storage it has, or a letter for each storage of its own.
"""

import os
import warnings

warnings.simplefilter('ignore')

import torch

import aliasing
import aliasing_cases
import make_random_reference
import make_reference  # Its calls are made here.
import make_structured_reference
from structured_format import POOLS, encode

FEW = 4


def with_pools(text):
    """The call with the pools of make_reference.py under other names."""
    return text.replace(' t:', ' t:flat_').replace('=t:', '=t:flat_')


def shows_argument(memories):
    return any(word.isdigit() for word in memories.split())


def some_of(cases):
    if any(map(shows_argument, cases.values())):
        return cases
    return dict(list(cases.items())[::max(1, len(cases) // FEW)])


def taken():
    seen, aliasing.seen = aliasing.seen, {}
    return seen


def lines_of(cases):
    return ['case %s -> s:%s' % (text, memories.replace(' ', '_') or '-')
            for text, memories in cases.items()]


def pool_line(name, data):
    raw = data.contiguous().view(torch.uint8).numpy().tobytes()
    dtype = str(data.dtype).replace('torch.', '')
    return 'pool %s %s %s' % (name, dtype, encode(raw))


def main():
    elementwise = {
        row: {with_pools(text): words for text, words in cases.items()}
        for row, cases in taken().items()}
    for family in make_structured_reference.FAMILIES:
        family()
    make_random_reference.with_next = False
    for family in make_random_reference.FAMILIES:
        family()
    structured = taken()
    for family in aliasing_cases.FAMILIES:
        family()
    rows = taken()
    for seen in elementwise, structured:
        for row, cases in seen.items():
            rows[row] = {**some_of(cases), **rows.get(row, {})}
    lines = [pool_line(name, data) for name, data in POOLS.items()]
    lines += [pool_line('flat_' + name, data)
              for name, data in make_reference.POOLS.items()]
    for row in sorted(rows):
        lines += lines_of(rows[row])
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        'aliasing_reference.txt')
    with open(path, 'w') as out:
        out.write('\n'.join(lines) + '\n')
    print('%d rows, %d lines' % (len(rows), len(lines)))


if __name__ == '__main__':
    main()
