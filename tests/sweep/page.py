"""Writes docs/sweep.md from the results in build/sweep/results, and with --torch-compile
docs/torch_compile.md from those in build/sweep/torch_compile/results. Models that were not run
this time keep the results that exported.jsonl and torch_compile.jsonl, which are written anew,
have of them."""

import importlib.metadata
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIBRARIES = ('timm', 'transformers', 'generate')

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


COMPILED_HEAD = """# Models by torch.compile

Written by `scripts/sweep --torch-compile` (torch {torch}, timm {timm}, transformers
{transformers}): the models of [sweep.md](sweep.md), called once under `torch.no_grad()` after
`torch.compile(model, backend="fxjit")`, compared with torch's results in double precision by the
same bounds. Whole means that every graph that Dynamo traced runs in native code: no step is left
to the interpreter and no call to PyTorch. Graph breaks are Dynamo's: what lies between the graphs
is Python. Of the models called `generate`, transformers' `generate` made ten tokens, with the
model's `forward` compiled: the logits of each step are compared, and tokens where rounding does
not decide between two.

"""


def read_results(folder, kept):
    """By name, those of this run and those of earlier ones; the file `kept` then holds them all,
    one a line."""
    results = [json.loads(line) for line in kept.read_text().splitlines()]
    results += [json.loads(file.read_text()) for file in (folder / 'results').glob('*.json')]
    by_name = {one['name']: one for one in results}
    results = [by_name[name] for name in sorted(by_name)]
    for one in results:
        one.pop('seconds', None)  # Says more about the machine.
    kept.write_text(''.join(json.dumps(one) + '\n' for one in results))
    return results


def is_native(one):
    return one['stage'] == 'done' and not one['not_native'] and not one.get('in_python')


def table(titles, rows):
    lines = ['| ' + ' | '.join(titles) + ' |', '|' + '---|' * len(titles)]
    lines += ['| ' + ' | '.join(str(cell) for cell in row) + ' |' for row in rows]
    return '\n'.join(lines) + '\n'


def counts(results):
    rows = []
    for library in ('timm', 'transformers'):
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


def compiled_counts(results):
    rows = []
    for library in LIBRARIES:
        ours = [one for one in results if one['name'].startswith(library)]
        right = [one for one in ours if one['stage'] == 'done']
        whole = [one for one in right if is_native(one)]
        share = f'{100 * len(whole) / len(ours):.1f}%' if ours else ''
        rows.append((library, len(ours), len(right), len(whole), share,
                     sum(one['stage'] == 'compare' for one in ours),
                     sum(one.get('graphs', 0) for one in ours),
                     sum(bool(one.get('breaks')) for one in ours)))
    return table(('library', 'models', 'right', 'and whole', 'share', 'wrong', 'graphs',
                  'models with graph breaks'), rows)


def compiled_failures(results):
    rows = [(one['name'], plain(one['reason'] or '; '.join(
        [f'PyTorch: {name}' for name in one['in_python']] + one['not_native'])))
        for one in results if not is_native(one)]
    return table(('model', 'reason'), rows) if rows else 'None.\n'


def compiled_ones(results):
    rows = [(one['name'], one['graphs'], one['steps'],
             plain(one['breaks'][0].split('\n')[0]) if one['breaks'] else '',
             f'{one["error"]:.1e}', f'{one["torch_error"]:.1e}')
            for one in results if is_native(one)]
    return table(('model', 'graphs', 'steps', 'first break', 'error', "torch's error"), rows)


def write_compiled(versions):
    results = read_results(ROOT / 'build' / 'sweep' / 'torch_compile',
                           HERE / 'torch_compile.jsonl')
    page = COMPILED_HEAD.format(**versions) + compiled_counts(results)
    page += '\n## Refused, wrong or not whole\n\n' + compiled_failures(results)
    page += '\n## Right and whole\n\n' + compiled_ones(results)
    (ROOT / 'docs' / 'torch_compile.md').write_text(page)


def main():
    versions = {name: importlib.metadata.version(name).split('+')[0]
                for name in ('torch', 'timm', 'transformers')}
    if '--torch-compile' in sys.argv:
        write_compiled(versions)
        return
    results = read_results(ROOT / 'build' / 'sweep', HERE / 'exported.jsonl')
    page = HEAD.format(**versions) + counts(results)
    page += '\n## Refused, wrong or with steps that are not native\n\n' + failures(results, False)
    page += '\n## Not taken by torch.export\n\n' + failures(results, True)
    page += ('\n## Right and native\n\nErrors are of the result that errs most, in parts of its '
             'largest number.\n\n') + right_ones(results)
    (ROOT / 'docs' / 'sweep.md').write_text(page)


if __name__ == '__main__':
    main()
