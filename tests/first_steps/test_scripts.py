"""What the scripts say of wrong arguments, before anything is fetched or built."""

import subprocess

import pytest
from readme import ROOT


@pytest.mark.parametrize(("words", "said"), [
    (["run", "none.onnx"], "none.onnx: no such file"),
    (["run", "folder.onnx"], "folder.onnx: no file that can be read"),
    (["run", "similiar"], "no such file, and no command of minilm (similar, embed, bench)"),
    (["run", "notes.txt"], "notes.txt: expected a .pt2 file of torch.export.save or an .onnx model"),
    (["run", "weights.safetensors"], "weights alone are no program"),
    (["setup", "--for", "fun"], "--for fun: expected model, run, wheel or tests"),
    (["setup", "--fast"], "unknown argument: --fast"),
])
def test_wrong_arguments(words, said, tmp_path):
    (tmp_path / "folder.onnx").mkdir()
    (tmp_path / "notes.txt").write_text("")
    done = subprocess.run([ROOT / "scripts" / words[0], *words[1:]], cwd=tmp_path, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
