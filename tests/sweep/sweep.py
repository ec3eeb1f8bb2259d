"""Exports many models and runs them by the command fxjit; scripts/sweep has the options.

One model at a time: exported (export.py), compiled and run by `fxjit run`, its results compared
with torch's in double precision, its steps counted by `fxjit inspect --compile --json`. What
came out is build/sweep/results/NAME.json, one file a model, from which page.py writes the page.

A result is right when no element errs by more than torch's largest error in single precision
four times over, or by 2e-5 of the largest number, the bound of tests/import.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / 'build' / 'sweep'
TIMES_TORCH, OF_LARGEST = 4, 2e-5
PYTHON_ERROR = re.compile(r'^[\w.]+(?:Error|Exception|Node): .*$', re.MULTILINE)


class Failure(Exception):
    """A stage that a model does not pass: (stage, reason)."""


def call(stage, command, seconds, environment=None):
    begin = time.time()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds,
                              env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        raise Failure(stage, f'not done after {seconds} s') from None
    if done.returncode:
        text = done.stderr.strip()
        if stage in ('export', 'compile'):
            text = (PYTHON_ERROR.findall(text) or [text.split('\n')[-1]])[-1]
        raise Failure(stage, f'{text[:2000]} (exit code {done.returncode})')
    return done.stdout, time.time() - begin


def difference(got, exact, facts):
    """The largest error of a result, and whether that is within the bound."""
    if got.shape != exact.shape:
        raise Failure('compare', f'expected sizes {exact.shape}, got {got.shape}')
    got, exact = got.astype(numpy.float64), exact.astype(numpy.float64)
    if (numpy.isnan(got) != numpy.isnan(exact)).any():
        raise Failure('compare', 'a NaN in one of both')
    with numpy.errstate(invalid='ignore'):
        errors = numpy.where(got == exact, 0, numpy.abs(got - exact))
    error = float(numpy.nan_to_num(errors, posinf=numpy.inf).max()) if errors.size else 0.0
    return error, error <= max(TIMES_TORCH * facts['error'], OF_LARGEST * facts['largest'])


def compare(folder, names, facts, outcome):
    """Of the result that errs most, in parts of its largest number."""
    exact = numpy.load(folder / 'answers.npz')
    outcome.update(error=0.0, torch_error=0.0, right=True)
    for leaf in exact.files:
        file = folder / 'results' / f'{names[int(leaf)]}.npy'
        if not file.exists():
            raise Failure('compare', f'result {leaf} is no tensor')
        known = facts['results'][leaf]
        error, right = difference(numpy.load(file), exact[leaf], known)
        scale = known['largest'] or 1.0
        outcome['right'] = outcome['right'] and right
        if error / scale >= outcome['error']:
            outcome.update(error=error / scale, torch_error=known['error'] / scale)


def count_steps(report, outcome):
    """Steps in all and not native."""
    programs = report['programs']
    steps = [step for program in programs for step in program['steps']]
    reasons = [f'{step["label"]}: {step["reason"]}' for step in steps if step['reason']]
    reasons += [program['why_not'] for program in programs if program['why_not']]
    outcome.update(steps=len(steps), not_native=reasons)


def judge(outcome):
    if not outcome['right']:
        raise Failure('compare', f'off by {outcome["error"]:.1e} of the largest number, torch '
                                 f'by {outcome["torch_error"]:.1e}')


def try_compiled(name, options, outcome):
    folder = options.work / 'models' / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    library, model = name.split('.', 1)
    program = (('generate.py', model) if library == 'generate' else ('torch_compile.py', name))
    call('compile', [sys.executable, str(HERE / program[0]), program[1], str(folder)],
         options.timeout, {'FXJIT_CACHE': str(folder / 'cache'), 'PYTHONPATH': options.package})
    judge_compiled(folder, outcome)


def judge_compiled(folder, outcome):
    """Of what torch_compile.py or generate.py wrote."""
    facts = json.loads((folder / 'facts.json').read_text())
    outcome.update({key: facts[key] for key in (
        'parameters', 'inputs', 'seconds', 'graphs', 'breaks', 'in_python', 'steps',
        'not_native')})
    if not facts['graphs']:
        raise Failure('compile', 'no graph was made')
    compare(folder, {int(leaf): leaf for leaf in facts['results']}, facts, outcome)
    judge(outcome)


def try_model(name, options, outcome):
    folder = options.work / 'models' / name
    if not (options.keep and (folder / 'facts.json').exists()):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        call('export', [sys.executable, str(HERE / 'export.py'), name, str(folder)],
             options.timeout)
    facts = json.loads((folder / 'facts.json').read_text())
    outcome.update(parameters=facts['parameters'], inputs=facts['inputs'])
    shutil.rmtree(folder / 'cache', ignore_errors=True)
    shutil.rmtree(folder / 'results', ignore_errors=True)
    environment = {'FXJIT_CACHE': str(folder / 'cache')}
    model = str(folder / 'model.pt2')
    given = [word for key in facts['inputs'] for word in ('--input', f'{key}={folder}/{key}.npy')]
    _, outcome['seconds'] = call(
        'run', [options.program, 'run', model, *given, '--output', str(folder / 'results')],
        options.timeout, environment)
    told, _ = call('inspect', [options.program, 'inspect', model, *given, '--compile', '--json'],
                   options.timeout, environment)
    told = json.loads(told)
    count_steps(told['report'], outcome)
    compare(folder, [output['name'] for output in told['outputs']], facts, outcome)
    judge(outcome)


def sweep_one(name, options):
    """The result of one model, kept in its file; a line to print."""
    file = options.work / 'results' / f'{name}.json'
    if options.resume and file.exists():
        return None
    outcome = {'name': name, 'stage': 'done', 'reason': ''}
    try:
        (try_compiled if options.torch_compile else try_model)(name, options, outcome)
    except Failure as failure:
        outcome['stage'], outcome['reason'] = failure.args
    if not options.keep:
        shutil.rmtree(options.work / 'models' / name, ignore_errors=True)
    file.write_text(json.dumps(outcome, indent=1))
    if outcome['reason']:
        return f'{name}: {outcome["stage"]}: {outcome["reason"][:300]}'
    slow = f', {outcome["seconds"]:.0f} s' if outcome['seconds'] > 20 else ''
    kept = f', not native: {"; ".join(outcome["not_native"])[:300]}' if outcome['not_native'] else ''
    if outcome.get('in_python'):
        kept += f', in PyTorch: {", ".join(outcome["in_python"])}'
    return f'{name}: right, {outcome["steps"]} steps{kept}{slow}'


def names_of(pattern, compiled):
    sys.path[:0] = [str(HERE), str(HERE.parent / 'import')]
    import make_models
    make_models.define_torchvision()
    import timm_models
    import transformers_models
    names = [f'timm.{module}' for module in timm_models.modules()]
    names += [f'transformers.{model}' for model in sorted(transformers_models.MODELS)]
    if compiled:
        import generate
        names += [f'generate.{model}' for model in generate.names()]
    return [name for name in names if re.search(pattern, name)]


def arguments():
    parser = argparse.ArgumentParser(prog='scripts/sweep')
    parser.add_argument('--only', default='', metavar='REGEX', help='models whose name has it')
    parser.add_argument('--jobs', type=int, default=1, help='models at a time (1)')
    parser.add_argument('--resume', action='store_true', help='leave those that have a result')
    parser.add_argument('--keep', action='store_true',
                        help='keep what was exported, and use what an earlier run kept')
    parser.add_argument('--timeout', type=int, default=600, help='seconds for each stage (600)')
    parser.add_argument('--preset', default='release')
    parser.add_argument('--torch-compile', action='store_true',
                        help='by torch.compile(model, backend="fxjit") instead of torch.export')
    options = parser.parse_args()
    options.work = WORK / 'torch_compile' if options.torch_compile else WORK
    options.program = str(ROOT / 'build' / options.preset / 'bin' / 'fxjit')
    options.package = str(ROOT / 'build' / options.preset / 'python')
    return options


def main():
    options = arguments()
    if not os.access(options.program, os.X_OK):
        sys.exit(f'error: {options.program} is missing: build the target fxjit_command')
    (options.work / 'results').mkdir(parents=True, exist_ok=True)
    names = names_of(options.only, options.torch_compile)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(lambda name: sweep_one(name, options), names):
            if line:
                print(line, flush=True)


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    main()
