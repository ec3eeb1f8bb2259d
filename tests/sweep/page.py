"""Writes docs/sweep.md from the results in build/sweep/results."""

import importlib.metadata
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARIES = ('timm', 'transformers')

HEAD = """# Models that were tried

Written by `scripts/sweep` (torch {torch}, timm {timm}, transformers {transformers}): a small
variant of every module of `timm`, more where a module holds several kinds of model, and
architectures of `transformers` in small configurations. Weights are seeded random numbers, batch
norms have the statistics of the inputs, parameters that begin as one number are varied. Each
model is exported by `torch.export`, compiled and run by `fxjit run`, and compared with torch's
results in double precision.

A result is right when no element errs by more than four times torch's largest error in single
precision, or by 2e-5 of the largest number. Native means that every step of the compiled program
is generated code, a loop of the library or a routine of oneDNN: none is left to the interpreter.

"""


def read_results():
    files = sorted((ROOT / 'build' / 'sweep' / 'results').glob('*.json'))
    return [json.loads(file.read_text()) for file in files]


def is_native(one):
    return one['stage'] == 'done' and not one['not_native']


def table(titles, rows):
    lines = ['| ' + ' | '.join(titles) + ' |', '|' + '---|' * len(titles)]
    lines += ['| ' + ' | '.join(str(cell) for cell in row) + ' |' for row in rows]
    return '\n'.join(lines) + '\n'


def counts(results):
    rows = []
    for library in LIBRARIES:
        ours = [one for one in results if one['name'].startswith(library)]
        taken = [one for one in ours if one['stage'] != 'export']
        right = [one for one in taken if one['stage'] == 'done']
        native = [one for one in right if is_native(one)]
        wrong = [one for one in taken if one['stage'] == 'compare']
        share = f'{100 * len(native) / len(taken):.1f}%' if taken else ''
        rows.append((library, len(ours), len(taken), len(right), len(native), share, len(wrong)))
    return table(('library', 'models', 'exported', 'right', 'and native', 'of those exported',
                  'wrong'), rows)


def plain(reason):
    """One line without folders of this machine."""
    reason = re.sub(r'\S*/(site-packages|build/sweep/models)/', '', reason)
    reason = ' '.join(reason.split()).replace('|', r'\|')
    return reason if len(reason) <= 300 else reason[:300] + ' ...'


def failures(results, refused_by_torch):
    rows = []
    for one in results:
        if one['reason'] and (one['stage'] == 'export') == refused_by_torch:
            rows.append((one['name'], plain(one['reason'])))
        elif not refused_by_torch and one.get('not_native'):
            rows.append((one['name'], plain('; '.join(one['not_native']))))
    return table(('model', 'reason'), rows) if rows else 'None.\n'


def right_ones(results):
    rows = [(one['name'], f'{one["parameters"] / 1e6:.2f}',
             ', '.join('x'.join(map(str, sizes)) for sizes in one['inputs'].values()),
             one['steps'], f'{one["error"]:.1e}', f'{one["torch_error"]:.1e}')
            for one in results if is_native(one)]
    return table(('model', 'million parameters', 'inputs', 'steps', 'error', "torch's error"), rows)


def main():
    results = read_results()
    versions = {name: importlib.metadata.version(name).split('+')[0]
                for name in ('torch', *LIBRARIES)}
    page = HEAD.format(**versions) + counts(results)
    page += '\n## Refused, wrong or with steps that are not native\n\n' + failures(results, False)
    page += '\n## Not taken by torch.export\n\n' + failures(results, True)
    page += ('\n## Right and native\n\nErrors are of the result that errs most, in parts of its '
             'largest number.\n\n') + right_ones(results)
    (ROOT / 'docs' / 'sweep.md').write_text(page)


if __name__ == '__main__':
    main()
