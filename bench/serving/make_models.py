"""Writes the models of the benchmark: make_models.py WEIGHTS FOLDER

FOLDER/minilm and FOLDER/resnet50 with model.pt2 and model.onnx, of changing batches. WEIGHTS is the
folder of all-MiniLM-L6-v2; ResNet-50 has random weights. Needs torch, torchvision and onnxscript.
"""

import pathlib
import shutil
import subprocess
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/import"))
from make_models import define_torchvision  # noqa: E402


def write_onnx(folder):
    weights = folder / "model.safetensors"
    subprocess.run([sys.executable, ROOT / "tools/fxjit/contestant.py", "export",
                    "--model", folder / "model.pt2", "--output", folder / "model.onnx",
                    *(["--weights", weights] if weights.exists() else [])], check=True)


def write_minilm(weights, folder):
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "examples/exported/minilm.pt2", folder / "model.pt2")
    for name in ("model.safetensors", "vocab.txt"):
        (folder / name).symlink_to(weights.resolve() / name)
    (folder / "front.py").symlink_to(ROOT / "examples/serving/minilm/front.py")
    write_onnx(folder)


def write_resnet(folder):
    define_torchvision()
    from torchvision.models import resnet50

    folder.mkdir(parents=True)
    torch.manual_seed(0)
    images = torch.export.Dim("images", max=64)
    program = torch.export.export(resnet50(weights=None).eval(), (torch.randn(2, 3, 224, 224),),
                                  dynamic_shapes=({0: images},))
    torch.export.save(program, folder / "model.pt2")
    write_onnx(folder)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_minilm(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "minilm")
    write_resnet(pathlib.Path(sys.argv[2]) / "resnet50")
