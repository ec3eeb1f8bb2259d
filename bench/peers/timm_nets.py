"""Measures small nets of timm beside ONNX Runtime and, where it is installed,
OpenVINO: random weights, f32, one picture, one thread unless told otherwise.

Contestants take turns as in layers.py; a ratio is the median of three runs, and
results are compared with PyTorch first. Prints a table in Markdown, the
geometric mean of the ratios, and the nets in which a peer is faster.
"""

import argparse
import io
import statistics
import warnings

import numpy as np
import torch
from layers import better_peer_over_fxjit, contestants, measure
from sizes_work import define_once

define_once()  # timm imports torchvision as well.
import timm  # noqa: E402

RUNS, ROUNDS, SECONDS = 3, 3, 0.15
# Of the greatest number of the result: nets differ by their roundings.
TOLERANCE = 2e-4
OPSET = 17

# One of a family.
NETS = """
convnext_atto cspresnet50 davit_tiny deit3_small_patch16_224 densenet121
dla46x_c edgenext_xx_small efficientformer_l1 efficientnet_b0 efficientvit_b0
fasternet_t0 fastvit_t8 focalnet_tiny_srf ghostnet_100 hgnetv2_b0 hrnet_w18_small
inception_next_atto inception_v3 levit_128s mixer_s32_224 mixnet_s mnasnet_100
mobilenetv2_100 mobilenetv3_large_100 mobilevit_s nf_resnet26 nfnet_l0
poolformerv2_s12 pvt_v2_b0 regnety_008 repvit_m0_9 res2net50_48w_2s resnet18
rexnet_100 starnet_s1 swin_tiny_patch4_window7_224 tiny_vit_5m_224
vit_tiny_patch16_224 vovnet39a xception41
""".split()


def onnx_model(net, x):
    out = io.BytesIO()
    torch.onnx.export(net, (x,), out, input_names=["x"], opset_version=OPSET,
                      dynamo=False)
    return out.getvalue()


def ratio_of(name, threads):
    """The times of the run with the median ratio, and this."""
    torch.manual_seed(0)
    net = timm.create_model(name, pretrained=False).eval()
    x = torch.randn(1, *net.default_cfg["input_size"])
    with torch.no_grad():
        wanted = net(x).numpy()
        calls = contestants(net, onnx_model(net, x), x, threads)
    for peer, call in calls.items():
        error = np.abs(np.asarray(call()) - wanted).max()
        if not error <= TOLERANCE * np.abs(wanted).max():
            raise SystemExit(f"{name}, {peer}: wrong by {error}")
    runs = [measure(calls, ROUNDS, SECONDS) for _ in range(RUNS)]
    times = sorted(runs, key=better_peer_over_fxjit)[RUNS // 2]
    return times, better_peer_over_fxjit(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nets", nargs="*", help="names of timm; none: 40 nets")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    names = options.nets or NETS
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    ratios = []
    for name in names:
        times, ratio = ratio_of(name, options.threads)
        if not ratios:
            print("| net |", " | ".join(f"{peer}, ms" for peer in times),
                  "| better peer over fxjit |")
            print("|" + "---|" * (len(times) + 2))
        ratios.append(ratio)
        print(f"| {name} |", " | ".join(f"{t / 1000:.2f}" for t in times.values()),
              f"| {ratio:.2f} |", flush=True)
    print(f"geometric mean {statistics.geometric_mean(ratios):.2f}")
    slower = [name for name, ratio in zip(names, ratios) if ratio < 1]
    print("below 1:", ", ".join(slower) or "none")


if __name__ == "__main__":
    main()
