"""Writes structured_reference.txt: PyTorch's results for the structured rows.

Run with a Python that has torch 2.13:
    python tests/ops/make_structured_reference.py [ROW...]

With names of rows only their lines are made anew: PyTorch rounds some functions
differently from CPU to CPU, which no change should hold.

Lines of the file:
  pool NAME DTYPE BASE64       elements from which inputs are views
  case ROW ARG... -> RESULT    the call's result
  view ROW ARG... -> RESULT    as above; strides and offset are checked too
  fail ROW ARG... -> error:TYPE:BASE64      the exception, with its text
An ARG is t:POOL:OFFSET:SIZES:STRIDES (a view of a pool), l:DTYPE:SIZES:NUMBERS
(a tensor of integers), i:INT, f:FLOAT, b:BOOL, s:TEXT, d:DTYPE, none, ...,
[ARG|ARG] (a list), (ARG|ARG) (a tuple) or <ARG|ARG|ARG> (a slice); KEY=ARG
passes it by keyword. A RESULT is r:DTYPE:SIZES:STRIDES:OFFSET:BASE64, a number,
or a tuple of these.
"""

import os
import sys

import structured_cases_arranged as arranged
import structured_cases_awkward as awkward
import structured_cases_complex as complexes
import structured_cases_data as data_cases
import structured_cases_empty as empty
import structured_cases_exported as exported
import structured_cases_images as images
import structured_cases_linalg as linalg
import structured_cases_losses as losses
import structured_cases_math as maths
import structured_cases_pick as pick
import structured_cases_spread as spread
import structured_cases_views as views
from structured_format import POOLS, encode, lines

import torch

FAMILIES = (maths.reductions, maths.softmax_norms, views.views, pick.shape_ops,
            maths.contractions, images.convolutions, images.pools,
            pick.gathers, pick.sorting, maths.attentions, pick.creations,
            *awkward.FAMILIES, *losses.FAMILIES, *spread.FAMILIES,
            *arranged.FAMILIES, *data_cases.FAMILIES, *linalg.FAMILIES,
            *empty.FAMILIES, *exported.FAMILIES, *complexes.FAMILIES)


def call_of(line):
    return line.split(' -> ')[0]


# The committed lines of all rows but the wanted ones.
def merged(made, path, wanted):
    unknown = set(wanted) - {line.split()[1] for line in made}
    if unknown:
        sys.exit('no case of ' + ', '.join(sorted(unknown)))
    with open(path) as old:
        committed = {call_of(line): line.rstrip('\n') for line in old}
    return [line if line.split()[1] in wanted else
            committed.get(call_of(line), line) for line in made]


def write(path, made):
    with open(path, 'w') as out:
        for name, data in POOLS.items():
            raw = data.view(torch.uint8).numpy().tobytes()
            out.write('pool %s %s %s\n' % (
                name, str(data.dtype).replace('torch.', ''), encode(raw)))
        out.write('\n'.join(made) + '\n')
    print('%d cases, %d bytes' % (len(made), os.path.getsize(path)))


def main():
    for family in FAMILIES:
        family()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        'structured_reference.txt')
    made = list(dict.fromkeys(lines))
    wanted = sys.argv[1:]
    write(path, merged(made, path, wanted) if wanted else made)


if __name__ == '__main__':
    main()
