"""Writes the models of the benchmark: make_models.py WEIGHTS FOLDER

FOLDER/minilm and FOLDER/resnet50 with model.pt2 and model.onnx, of changing batches. WEIGHTS is the
folder of all-MiniLM-L6-v2; ResNet-50 has random weights. Needs torch, torchvision, transformers
and onnxscript.
"""

import pathlib
import subprocess
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/import"), str(ROOT / "examples/exported")]
from make_exported import sentence_encoder  # noqa: E402
from make_models import define_torchvision  # noqa: E402


def write(folder, module, example, shapes):
    folder.mkdir(parents=True)
    program = torch.export.export(module.eval(), (example,), dynamic_shapes=(shapes,))
    torch.export.save(program, folder / "model.pt2")
    torch.onnx.export(program, f=folder / "model.onnx", dynamo=True, external_data=False,
                      verbose=False)


def write_minilm(weights, folder):
    ids = torch.tensor([[101, 1037, 4937, 102], [101, 4937, 102, 0]])
    write(folder, sentence_encoder(weights), ids,
          {0: torch.export.Dim("texts", max=1024), 1: torch.export.Dim("tokens", max=512)})
    (folder / "vocab.txt").symlink_to(weights.resolve() / "vocab.txt")
    (folder / "front.py").symlink_to(ROOT / "examples/serving/minilm/front.py")


def write_resnet(folder):
    from torchvision.models import resnet50

    torch.manual_seed(0)
    write(folder, resnet50(weights=None), torch.randn(2, 3, 224, 224),
          {0: torch.export.Dim("images", max=64)})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    define_torchvision()
    write_minilm(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "minilm")
    write_resnet(pathlib.Path(sys.argv[2]) / "resnet50")
