"""The programs of examples/python, as a user would run them."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import wave

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
torch = pytest.importorskip("torch", reason="PyTorch is not installed here")


# torchvision, where it was built for another PyTorch, needs schemas to be imported.
START = """import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
import make_models
make_models.define_torchvision()
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def need(library):
    if not importlib.util.find_spec(library):
        pytest.skip(f"{library} is not installed here")


def run(name, *arguments):
    program = ROOT / "examples" / "python" / f"{name}.py"
    done = subprocess.run(
        [sys.executable, "-c", START, str(ROOT / "tests" / "import"), str(program), *arguments,
         "--check"], capture_output=True, text=True, check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "as PyTorch" in done.stdout
    return done.stdout


def test_a_picture_is_classified(tmp_path):
    need("timm")
    from PIL import Image
    picture = tmp_path / "picture.png"
    x, y = np.meshgrid(np.arange(320), np.arange(240))
    Image.fromarray(np.stack([x % 256, y % 256, (x + y) % 256], -1).astype(np.uint8)).save(picture)
    assert len(run("classify", str(picture)).splitlines()) == 6


def test_sentences_are_embedded():
    need("transformers")
    folder = os.environ.get("FXJIT_MODEL_DIR", os.path.expanduser(
        "~/.cache/fxjit/models/all-minilm-l6-v2"))
    if not os.path.exists(os.path.join(folder, "model.safetensors")):
        pytest.skip(f"the weights of all-MiniLM-L6-v2 are not in {folder}")
    lines = run("embed", folder, "A cat sits on the mat.", "A kitten rests on a rug.",
                "Interest rates rose again.").splitlines()
    nearness = [float(line.split()[0]) for line in lines[:3]]
    assert nearness[0] == pytest.approx(1, abs=1e-4)
    assert nearness[1] > nearness[2] + 0.2


def spoken(path):
    """Speech where espeak-ng is installed, else a tone."""
    if shutil.which("espeak-ng"):
        subprocess.run(["espeak-ng", "-w", str(path), "Graphs are compiled."], check=True)
        return
    tone = np.sin(np.arange(16000) * 0.05) * 8000
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(tone.astype("<i2").tobytes())


def test_a_recording_has_features(tmp_path):
    need("transformers")
    spoken(tmp_path / "speech.wav")
    assert "vectors of 64 numbers" in run("speech_features", str(tmp_path / "speech.wav"))
