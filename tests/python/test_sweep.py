"""A few of the models that scripts/sweep --torch-compile tries, by the programs that it runs, which
one process imports for several models."""

import importlib.util
import pathlib
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
for library in ("timm", "transformers"):
    if not importlib.util.find_spec(library):
        pytest.skip(f"{library} is not installed here", allow_module_level=True)
sys.path.append(str(pathlib.Path(__file__).parent.parent / "sweep"))
import generate  # noqa: E402
import sweep  # noqa: E402
import torch_compile  # noqa: E402


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """As in a process of its own: kernels are compiled anew, nothing is left of earlier graphs."""
    monkeypatch.setenv("FXJIT_CACHE", str(tmp_path / "cache"))
    torch_compile.define_torchvision()
    torch._dynamo.reset()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch._dynamo.config.patch(cache_size_limit=64):
        yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", [
    "timm.convnext", "timm.mobilenetv3", "timm.vision_transformer", "transformers.bert",
    "transformers.bloom", "transformers.mixtral", "transformers.whisper", "transformers.mamba",
    "generate.llama", "generate.bart"])
def test_models_are_right_and_whole(name, tmp_path):
    library, model = name.split(".", 1)
    if library == "generate":
        generate.run(model, tmp_path)
    else:
        torch_compile.run(name, tmp_path)
    outcome = {}
    sweep.judge_compiled(tmp_path, outcome)
    assert not outcome["not_native"] and not outcome["in_python"]
