"""The package's annotations, by a type checker."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="mypy is not installed here")


def test_the_package_is_typed(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "--strict",
         "--ignore-missing-imports", "--follow-imports=silent",
         str(pathlib.Path(__file__).parent / "typed_use.py")],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
