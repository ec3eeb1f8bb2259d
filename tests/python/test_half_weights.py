"""Large weights of bfloat16 are held once and in 16 bits, whatever the number of rows."""

import pathlib
import subprocess
import sys

import numpy as np
from onnx_files import write_model

BFLOAT16, FLOAT = 16, 1
SIZES = [(4096, 4608), (4608, 4096)]
MEGABYTE = 1 << 20
RUN = """
import sys
import numpy as np
import fxjit

def anonymous():
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Anonymous"))

before = anonymous()
model = fxjit.load(sys.argv[1])
for rows in (40, 1):
    x = np.random.default_rng(rows).standard_normal((rows, 4096)).astype(np.float32)
    y = np.asarray(model(x))
    print(anonymous() - before)
    np.save(f"{sys.argv[2]}/{rows}.npy", np.stack([x, y]))
"""


def test_one_narrow_copy(tmp_path):
    generator = np.random.default_rng(3)
    nodes, constants, value = [("Cast", ["x"], ["h"], {"to": BFLOAT16})], {}, "h"
    for i, sizes in enumerate(SIZES):
        bits = (generator.standard_normal(sizes, np.float32) / 64).view(np.uint32) >> 16
        constants[f"w{i}"] = BFLOAT16, bits.astype(np.uint16)
        nodes.append(("MatMul", [value, f"w{i}"], [f"y{i}"], {}))
        value = f"y{i}"
    nodes.append(("Cast", [value], ["y"], {"to": FLOAT}))
    path = write_model(tmp_path / "model.onnx", nodes, {"x": ("float32", ["n", 4096])},
                       {"y": ("float32", ["n", 4096])}, constants=constants)
    made = subprocess.run([sys.executable, "-c", RUN, str(path), str(tmp_path)],
                          check=True, capture_output=True, text=True)
    stored = sum(a.nbytes for _, a in constants.values())
    for grown in map(int, made.stdout.split()):
        assert grown <= 1.1 * stored + 40 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB"
    for rows in (40, 1):
        x, y = np.load(pathlib.Path(tmp_path) / f"{rows}.npy").astype(np.float64)
        for _, bits in constants.values():
            x = x @ (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        assert np.abs(x - y).max() <= 0.03 * np.abs(x).max()
