"""The Python of the README, beside PyTorch."""

import pathlib
import re
import sys

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "first_steps"))
from readme import TEXT, blocks  # noqa: E402


def test_the_blocks_run_and_answer_as_pytorch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec("".join(blocks("python")), names)
    export, = re.findall(r"`(torch\.export\.save\(.*?)`", TEXT, re.DOTALL)
    exec(export, names)
    with torch.no_grad():
        expected = names["model"](names["x"])
    torch.testing.assert_close(names["y"], expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(fxjit.load("model.pt2")(names["x"]), expected, atol=1e-5, rtol=1e-4)
    explained = fxjit.explain(names["model"], names["x"])
    assert "100.0% of the graphs' time in native code" in str(explained)
