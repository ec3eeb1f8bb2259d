"""Compares models of tests/import that came as ONNX with the same from torch.export.

    python tests/onnx/compare_exported.py FOLDER [NAME...] --fxjit build/release/bin/fxjit

FOLDER is what export_models.py wrote. Each model runs on the inputs that are stored with it. Its
results are compared with torch's in double precision and with ONNX Runtime's: the largest
difference relative to the largest number of an output. Printed with it is the native share of
both forms. Ends with 1 where a difference is above --tolerance.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
from safetensors.numpy import load_file

MODELS = pathlib.Path(__file__).resolve().parent.parent / 'import/models'


def difference(ours, theirs):
    if ours.shape != theirs.shape:
        return float('inf')
    a, b = ours.astype(np.complex128), theirs.astype(np.complex128)
    if a.size == 0 or np.array_equal(a, b, equal_nan=True):
        return 0.0
    return np.nanmax(np.abs(a - b)) / max(np.nanmax(np.abs(b)), 1e-6)


def run(fxjit, model, inputs, folder):
    """The results in order, and the share of native steps."""
    command = [fxjit, 'run', model, '--output', folder, '--share']
    for name, value in inputs.items():
        path = f'{folder}/in_{name}.npy'
        np.save(path, value)
        command += ['--input', f'{name}={path}']
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[0])
    lines = done.stdout.strip().splitlines()
    names = [line.partition(': ')[0] for line in lines[:-1]]
    files = [pathlib.Path(folder, f'{name}.npy') for name in names]
    return [np.load(file) for file in files if file.exists()], lines[-1].removeprefix('native: ')


def compared(fxjit, folder, name):
    stored = load_file(MODELS / f'{name}.safetensors')
    answers = [stored[f'output.{i}'] for i in range(len(stored)) if f'output.{i}' in stored]
    inputs = {key: value for key, value in stored.items() if not key.startswith('output.')}
    model = folder / f'{name}.onnx'
    session = onnxruntime.InferenceSession(str(model))
    wanted = {one.name for one in session.get_inputs()}
    if not wanted <= set(inputs):
        raise RuntimeError(f'inputs {sorted(wanted)} are not {sorted(inputs)}')
    theirs = session.run(None, {key: inputs[key] for key in wanted})
    with tempfile.TemporaryDirectory() as place:
        ours, share = run(fxjit, model, {key: inputs[key] for key in wanted}, place)
    with tempfile.TemporaryDirectory() as place:
        _, other_share = run(fxjit, MODELS / f'{name}.pt2', inputs, place)
    to_peer = max(map(difference, ours, theirs), default=0)
    to_torch = max(map(difference, ours, answers), default=0)
    return to_torch, to_peer, max(map(difference, theirs, answers), default=0), share, other_share


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('names', nargs='*')
    parser.add_argument('--fxjit', default='build/release/bin/fxjit')
    parser.add_argument('--tolerance', type=float, default=1e-4)
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    bad = 0
    print('model            to torch  to peer  peer to torch  native from .onnx, from .pt2')
    for model in sorted(options.folder.glob('*.onnx')):
        if options.names and model.stem not in options.names:
            continue
        try:
            to_torch, to_peer, peer, share, other = compared(options.fxjit, options.folder, model.stem)
        except Exception as error:  # The peer's own are of many types.
            print(f'{model.stem:16} {str(error).splitlines()[0][:200]}', flush=True)
            bad += 1
            continue
        # Where the peer is off by more itself, twice that.
        bad += min(to_torch, to_peer) > max(options.tolerance, 2 * peer)
        print(f'{model.stem:16} {to_torch:8.1e} {to_peer:8.1e} {peer:8.1e}       {share}, {other}',
              flush=True)
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
