"""Compares models with ONNX Runtime through the command `fxjit run`.

    python compare_models.py --fxjit build/release/bin/fxjit MODEL.onnx...

Inputs are seeded: numbers from the normal distribution, integers 0 and 1;
dims without a size get --size. Prints, for each model, the largest difference
relative to the largest number of an output, interpreted and compiled. Ends with
1 where one is above --tolerance.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

TYPES = {
    "tensor(float)": np.float32, "tensor(double)": np.float64,
    "tensor(float16)": np.float16, "tensor(int64)": np.int64,
    "tensor(int32)": np.int32, "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
}


def made_inputs(session, options):
    random = np.random.default_rng(0)
    given = dict(one.split("=") for one in options.value)
    shapes = dict(one.split("=") for one in options.shape)
    made = {}
    for one in session.get_inputs():
        dtype = TYPES[one.type]
        if one.name in given:
            made[one.name] = np.array(eval(given[one.name]), dtype)
            continue
        if one.name in shapes:
            shape = [int(n) for n in shapes[one.name].split("x")]
        else:
            shape = [n if isinstance(n, int) else options.size
                     for n in one.shape]
        if np.issubdtype(dtype, np.floating):
            made[one.name] = random.standard_normal(shape).astype(dtype)
        else:
            made[one.name] = random.integers(0, 2, shape).astype(dtype)
    return made


def difference(ours, theirs):
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return float("inf")
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    if a.size == 0 or np.array_equal(a, b, equal_nan=True):
        return 0.0
    return np.nanmax(np.abs(a - b)) / max(np.nanmax(np.abs(b)), 1e-6)


def compared(model, options, way):
    session = onnxruntime.InferenceSession(model)
    inputs = made_inputs(session, options)
    expected = session.run(None, inputs)
    with tempfile.TemporaryDirectory() as folder:
        command = [options.fxjit, "run", model, "--output", folder] + way
        for name, value in inputs.items():
            path = os.path.join(folder, f"in_{len(command)}.npy")
            np.save(path, value)
            command += ["--input", f"{name}={path}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return float("inf"), done.stderr.strip()
        worst = 0.0
        for one, value in zip(session.get_outputs(), expected):
            file = "".join(c if c.isalnum() or c == "_" else "_"
                           for c in one.name)
            ours = np.load(os.path.join(folder, file + ".npy"))
            worst = max(worst, difference(ours, value))
        return worst, ""


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+")
    parser.add_argument("--fxjit", default="build/release/bin/fxjit")
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--value", action="append", default=[])
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args(arguments)
    bad = 0
    for model in options.models:
        for name, way in (("interpreted", ["--interpret"]), ("compiled", [])):
            worst, error = compared(model, options, way)
            bad += worst > options.tolerance
            print(f"{os.path.basename(model):32} {name:12} {worst:8.1e} "
                  f"{error}", flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
