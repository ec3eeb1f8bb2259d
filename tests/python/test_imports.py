"""Other libraries with LLVM, oneDNN and OpenMP inside, imported before and after."""

import importlib.util
import subprocess
import sys

import pytest
from cases import path_of

PROGRAM = """
{first}
{second}
import numpy as np
model = fxjit.load({path!r}, threads=2)
assert model(np.zeros((1, 3, 64, 64), np.float32)).shape == (1, 10)
{use}
"""
USES = {
    "torch": "assert torch.nn.functional.conv2d(torch.ones(1, 2, 9, 9), "
             "torch.ones(2, 2, 3, 3))[0, 0, 0, 0] == 18",
    "numba": "assert numba.njit(lambda x: x + 1)(2) == 3",
    "onnxruntime": "assert 'CPUExecutionProvider' in onnxruntime.get_available_providers()"}


@pytest.mark.parametrize("library", USES)
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_libraries_live_together(library, first):
    if not importlib.util.find_spec(library):
        pytest.skip(f"{library} is not installed here")
    lines = [f"import {library}", "import fxjit"]
    lines = lines if first else lines[::-1]
    program = PROGRAM.format(first=lines[0], second=lines[1], path=str(path_of("resnet")),
                             use=USES[library])
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
