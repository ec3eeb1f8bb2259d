"""A few of the models that scripts/sweep --torch-compile tries, as it tries them."""

import argparse
import importlib.util
import json
import pathlib
import sys

import fxjit
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed here")
for library in ("timm", "transformers"):
    if not importlib.util.find_spec(library):
        pytest.skip(f"{library} is not installed here", allow_module_level=True)
sys.path.append(str(pathlib.Path(__file__).parent.parent / "sweep"))
import sweep  # noqa: E402


@pytest.mark.parametrize("name", [
    "timm.convnext", "timm.mobilenetv3", "timm.vision_transformer", "transformers.bert",
    "transformers.bloom", "transformers.mixtral", "transformers.whisper", "transformers.mamba",
    "generate.llama", "generate.bart"])
def test_models_are_right_and_whole(name, tmp_path):
    (tmp_path / "results").mkdir()
    options = argparse.Namespace(
        torch_compile=True, resume=False, keep=False, timeout=280, work=tmp_path,
        package=str(pathlib.Path(fxjit.__file__).parent.parent))
    line = sweep.sweep_one(name, options)
    outcome = json.loads((tmp_path / "results" / f"{name}.json").read_text())
    assert outcome["stage"] == "done", line
    assert not outcome["not_native"] and not outcome["in_python"], line
