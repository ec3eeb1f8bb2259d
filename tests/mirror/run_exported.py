"""Runs the Python code of graphs that C++ traced by torch; numbers must agree.

    FXJIT_MIRROR_EXPORT=build/mirror build/release/bin/test_mirror
    python tests/mirror/run_exported.py build/mirror

test_mirror writes, for every comparison of outputs, the `.code` of its graph and
what its compiled forward gave. Here the cases run once more; in place of torch's
own code each module runs that of C++, on torch's parameters; and the package that
C++ wrote with its own parameters (to_folder) is imported and run.
"""

import importlib
import importlib.util
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import torch  # noqa: E402

import mirror  # noqa: E402

LEAST = 20  # Fewer graphs mean that the export did not work.


def numbers_of(line):
    """Head and numbers of a line of floats; nothing for other lines."""
    head, colon, rest = line.partition(":")
    if not colon or not head.startswith(("float", "bfloat")):
        return None
    return head, [float(word) for word in rest.split()]


def lines_agree(got, expected):
    if got == expected:
        return True
    a, b = numbers_of(got), numbers_of(expected)
    if a is None or b is None or a[0] != b[0] or len(a[1]) != len(b[1]):
        return False
    scale = max((abs(y) for y in b[1] if math.isfinite(y)), default=0)
    return all(
        math.isclose(x, y, rel_tol=1e-5, abs_tol=2e-6 * max(1, scale))
        or (math.isnan(x) and math.isnan(y))
        for x, y in zip(a[1], b[1])
    )


def run_code(code, gm, inputs):
    names = dict(gm.graph.python_code("self").globals)
    names.setdefault("torch", torch)
    exec(compile(code, "<C++>", "exec"), names)
    return mirror.describe(names["forward"](gm, *inputs))


def run_package(folder, inputs):
    path = folder / "module.py"
    spec = importlib.util.spec_from_file_location("exported_package", path)
    package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    with torch.no_grad():
        return mirror.describe(package.Exported()(*inputs))


def require_equal(target, got, expected):
    assert len(got) == len(expected), (target, got, expected)
    for a, b in zip(got, expected):
        assert lines_agree(a, b), f"{target}\n{a}\n{b}"


class Runner(mirror.Recorder):
    """Runs a case; outputs come from the code that C++ wrote."""

    def __init__(self, folder, name):
        super().__init__()
        self.folder = folder
        self.name = name
        self.count = 0

    def outputs(self, gm, *inputs):
        target = self.folder / f"{self.name}.{self.count}"
        self.count += 1
        expected = (target / "outputs.txt").read_text().split("\n")
        code = (target / "code.py").read_text()
        require_equal(target, run_code(code, gm, inputs), expected)
        require_equal(target, run_package(target / "package", inputs), expected)


def main():
    folder = pathlib.Path(sys.argv[1])
    for path in sorted(HERE.glob("cases_*.py")):
        importlib.import_module(path.stem)
    done = 0
    for area, name, function in mirror.CASES:
        torch.manual_seed(0)
        runner = Runner(folder, f"{area}.{name}")
        function(runner)
        done += runner.count
    if done < LEAST:
        sys.exit(f"only {done} graphs were run")
    print(f"torch ran the code of {done} graphs")


if __name__ == "__main__":
    main()
