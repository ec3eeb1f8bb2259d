"""A wheel of `pip wheel .` in a fresh environment of another folder, with nothing installed but what
the wheel declares: no compiler in the path, and no file of the source tree in the process."""

import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from readme import ROOT

PROGRAM = """
import re
import sys
import numpy as np
import fxjit
root, model = sys.argv[1:]
images = np.linspace(-1, 1, 2 * 3 * 12 * 12, dtype=np.float32).reshape(2, 3, 12, 12)
answer = fxjit.load(model)(images)
assert answer.shape == (2, 5) and np.isfinite(answer).all()
with open("/proc/self/maps") as maps:
    mapped = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
assert not [path for path in mapped if path.startswith(root + "/")], mapped
print(sum("libfxjit" in path for path in mapped), "library")
"""


def pip(*words):
    subprocess.run([sys.executable, "-m", "pip", "-q", *map(str, words)], check=True, cwd=ROOT)


def copy_package(name, target):
    """A package of this Python, as pip would install it."""
    for file in importlib.metadata.distribution(name).files:
        if ".." not in file.parts and "__pycache__" not in file.parts:
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), target / file)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", ".", "--no-build-isolation", "--no-deps", "-w", folder)
    wheel, = folder.glob("fxjit-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    packages, = (folder / "venv/lib").glob("python3*/site-packages")
    pip("--python", folder / "venv/bin/python", "install", "--no-index", "--no-deps", wheel)
    declared = importlib.metadata.PathDistribution(next(packages.glob("fxjit-*.dist-info"))).requires
    for requirement in declared:
        if "extra ==" not in requirement:
            copy_package(re.match(r"[\w-]+", requirement)[0], packages)
    shutil.copy(ROOT / "tests/import/models/images.pt2", folder)
    return folder


def run(environment, *words):
    done = subprocess.run(words, cwd=environment, capture_output=True, text=True, check=False, env={
        "PATH": str(environment / "venv/bin"), "HOME": str(environment)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_python_runs_a_model(environment):
    assert run(environment, environment / "venv/bin/python", "-c", PROGRAM, str(ROOT),
               "images.pt2") == "1 library\n"


def test_the_command_runs_a_model(environment):
    printed = run(environment, "fxjit", "run", "images.pt2", "--share")
    assert printed.startswith("output: float32[2, 5] [")
    assert re.search(r"^native: (\d+) of \1 steps$", printed, re.MULTILINE)


def test_the_command_finds_what_it_needs(environment):
    """Other runtimes are called by a script beside it."""
    done = subprocess.run(
        ["fxjit", "bench", "images.pt2", "--seconds", "0.01", "--rounds", "1", "--against", "torch",
         "--python", "python"], cwd=environment, capture_output=True, text=True, check=False,
        env={"PATH": str(environment / "venv/bin"), "HOME": str(environment)})
    assert "package torch is missing" in done.stdout


def test_what_is_in_it(environment):
    package, = (environment / "venv/lib").glob("python3*/site-packages/fxjit")
    files = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    for needed in ("bin/fxjit", "fxjit/kernels.pack", "fxjit/libgomp.so.1", "py.typed"):
        assert needed in files
    assert [name for name in files if re.fullmatch(r"libfxjit\.so[.\d]*", name)]
    for name in files:
        if ".so" in name or name == "bin/fxjit":
            content = pathlib.Path(package / name).read_bytes()
            assert os.fsencode(f"{ROOT}/build") not in content, name
