"""Names what a picture shows: python classify.py picture.jpg [--model resnet50] [--pretrained]

Without --pretrained the weights are seeded random numbers, which need no download.
"""

import argparse

import timm
import torch
from PIL import Image


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture")
    parser.add_argument("--model", default="resnet18", help="any of timm.list_models()")
    parser.add_argument("--pretrained", action="store_true", help="timm's weights, downloaded")
    parser.add_argument("--check", action="store_true", help="compare with PyTorch's own result")
    return parser.parse_args()


@torch.inference_mode()
def main():
    options = arguments()
    torch.manual_seed(0)
    model = timm.create_model(options.model, pretrained=options.pretrained).eval()
    prepare = timm.data.create_transform(**timm.data.resolve_model_data_config(model))
    image = prepare(Image.open(options.picture).convert("RGB")).unsqueeze(0)
    fast = torch.compile(model, backend="fxjit")
    chances = fast(image).softmax(-1)
    for chance, label in zip(*chances[0].topk(5), strict=True):
        print(f"{chance.item():7.4f}  class {label.item()}")
    if options.check:
        torch.testing.assert_close(chances, model(image).softmax(-1), atol=1e-5, rtol=1e-3)
        print("as PyTorch")


main()
