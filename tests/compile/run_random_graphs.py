"""Lets torch run random graphs; numbers, strides and shared memory must
agree.

    FXJIT_RANDOM_EXPORT=build/random build/release/bin/test_compile \\
        --gtest_filter='RandomGraphs.AreExported'
    python tests/compile/run_random_graphs.py build/random

Each file holds the Python code of a graph, what it is called with, and what
test_compile expects of every implementation: numbers with bounds, strides, what
the call writes to its inputs, and which elements share memory.
"""

import json
import math
import pathlib
import sys

import torch

LEAST = 20  # Fewer graphs mean that the export did not work.


def made(given, memories):
    dtype = getattr(torch, given["dtype"])
    key = id(given)
    memory = memories.setdefault(
        key, torch.tensor(given["memory"], dtype=torch.float64).to(dtype)
    )
    return memory.as_strided(given["sizes"], given["strides"], given["offset"])


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return []


def places(tensors):
    numbered, result = {}, []
    for tensor in tensors:
        start, width = tensor.data_ptr(), tensor.element_size()
        offsets = torch.zeros(tensor.shape, dtype=torch.int64)
        for dim, (size, stride) in enumerate(zip(tensor.shape, tensor.stride())):
            shape = [1] * tensor.dim()
            shape[dim] = size
            offsets = offsets + (torch.arange(size) * stride).reshape(shape)
        for offset in offsets.flatten().tolist():
            address = start + offset * width
            result.append(numbered.setdefault(address, len(numbered)))
    return result


def number_difference(got, expected):
    values = got.to(torch.float64).flatten().tolist()
    triples = zip(values, expected["exact"], expected["allowed"])
    for i, (value, exact, allowed) in enumerate(triples):
        same = value == exact or (math.isnan(value) and math.isnan(exact))
        if not same and not allowed == math.inf and not abs(value - exact) <= allowed:
            return f"element {i}: torch {value}, expected {exact} +- {allowed}"
    return None


def tensor_difference(got, expected):
    if str(got.dtype) != "torch." + expected["dtype"]:
        return f"torch gives {got.dtype}, expected {expected['dtype']}"
    if list(got.shape) != expected["sizes"]:
        return f"torch gives {list(got.shape)}, expected {expected['sizes']}"
    given = zip(got.shape, got.stride(), expected["strides"])
    if got.numel() and any(n != 1 and a != b for n, a, b in given):
        return f"torch gives strides {got.stride()}, expected {expected['strides']}"
    return number_difference(got, expected)


def difference(case):
    memories = {}
    module = torch.nn.Module()
    inputs = [made(given, memories) for given in case["inputs"]]
    constants = []
    for name, given in case["constants"]:
        constants.append(made(given, memories))
        module.register_buffer(name, constants[-1])
    names = {"torch": torch, "device": torch.device, "inf": math.inf,
             "nan": math.nan}
    exec(compile(case["code"], "<C++>", "exec"), names)
    with torch.no_grad():
        got = leaves(names["forward"](module, *inputs)) + inputs + constants
    if len(got) != len(case["tensors"]):
        return f"torch gives {len(got)} tensors, not {len(case['tensors'])}"
    for i, (tensor, expected) in enumerate(zip(got, case["tensors"])):
        text = tensor_difference(tensor, expected)
        if text:
            return f"tensor {i}: {text}"
    if places(got) != case["places"]:
        return "torch's tensors share other memory"
    return None


def main():
    torch.set_num_threads(1)
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
    if len(paths) < LEAST:
        sys.exit(f"only {len(paths)} graphs were exported")
    failed = 0
    for path in paths:
        case = json.loads(path.read_text())
        try:
            text = difference(case)
        except Exception as error:  # Any error of torch's is a difference.
            text = f"{type(error).__name__}: {error}"
        if text:
            failed += 1
            print(f"{path.name}: {text}\n{case['code']}")
    if failed:
        sys.exit(f"{failed} of {len(paths)} graphs differ")
    print(f"torch ran {len(paths)} random graphs")


if __name__ == "__main__":
    main()
