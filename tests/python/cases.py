"""The models of tests/import/models with their inputs and torch's answers."""

import json
import pathlib

import numpy as np

MODELS = pathlib.Path(__file__).parent.parent / "import" / "models"
TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64,
         "I32": np.int32, "BOOL": np.bool_, "C64": np.complex64, "C128": np.complex128}


def path_of(name):
    return MODELS / f"{name}.pt2"


def read_safetensors(path):
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(data[begin + first:begin + last], TYPES[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"]).copy()
    return tensors


def case_of(name):
    """Inputs by name, and the leaves of the answer in order."""
    tensors = read_safetensors(MODELS / f"{name}.safetensors")
    answers = sorted((int(key.removeprefix("output.")), value)
                     for key, value in tensors.items() if key.startswith("output."))
    inputs = {key: value for key, value in tensors.items() if not key.startswith("output.")}
    return inputs, [value for _, value in answers]


def close(got, expected, tolerance=1e-4):
    got = np.asarray(got, dtype=np.float64)
    assert got.shape == expected.shape
    largest = max(np.abs(expected).max(initial=0), 1e-6)
    assert np.abs(got - expected).max(initial=0) <= tolerance * largest
