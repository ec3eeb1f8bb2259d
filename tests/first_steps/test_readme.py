"""The README's commands print what it says."""

import os
import shutil
import subprocess

import pytest
from readme import ROOT, TEXT, commands, missing_line

# What stands for the reader's files.
FILES = {"model.pt2": "tests/import/models/resnet.pt2", "model.onnx": "tests/onnx/models/deit.onnx"}


def run(command, folder):
    words = command.split()
    if words[0].startswith("scripts/"):
        words[0] = str(ROOT / words[0])
    words = [str(folder / "installed") if word == "/tmp/fxjit" else word for word in words]
    return subprocess.run(words, capture_output=True, text=True, check=False,
                          cwd=folder if words[0].endswith("/run") else ROOT)


@pytest.mark.parametrize(("command", "wanted"), commands(), ids=[c for c, _ in commands()])
def test_a_command(command, wanted, tmp_path):
    if command == "scripts/test":  # It is what runs this.
        assert os.access(ROOT / command, os.X_OK)
        assert "scripts/test" in (ROOT / ".ci/run").read_text()
        return
    for name, source in FILES.items():
        shutil.copy(ROOT / source, tmp_path / name)
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert missing_line(wanted, done.stdout) is None, done.stdout


def test_the_page_of_a_model_is_where_the_command_says(tmp_path):
    shutil.copy(ROOT / FILES["model.onnx"], tmp_path / "a model.onnx")
    done = subprocess.run([ROOT / "scripts/run", "a model.onnx"], cwd=tmp_path, text=True,
                          capture_output=True, check=True)
    page = done.stdout.splitlines()[-1].split(": ")[0]
    with open(page, encoding="utf-8") as file:
        assert "<title>a model.onnx" in file.read()


def test_wanted_lines():
    assert missing_line(["a 1.00001", "...", "c"], "a 1\nb\nc\n") is None
    assert missing_line(["a 1.1", "...", "c"], "a 1\nb\nc\n") == "a 1.1"
    assert missing_line(["a 7 us a call"], "a 9 us a call\n") is None
    assert missing_line(["a", "...", "d"], "a\nb\nc\n") == "d"
    assert missing_line(["a"], "a\nb\n") == "nothing more, got b"


def test_the_readme_is_short():
    assert TEXT.count("\n") <= 200
