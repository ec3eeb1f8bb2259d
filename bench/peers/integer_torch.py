"""What torchao quantises, beside PyTorch itself: single linear layers, and a net by
pt2e. Printed by integers.py where torchao is installed.

The nearer to the eager answer the better; results must agree but for the rounding of
floats, and of a quantised net for steps of 8 bits.
"""

import fxjit
import torch
from torch import nn

import integer_models
from layers import measure

DEPTH, COLUMNS, ROWS = 2048, 5632, (1, 32)
ROUNDS, SECONDS = 3, 0.2
LAYER_ERROR, NET_ERROR = 1e-4, 0.2


def configurations():
    from torchao.quantization import (
        Int8DynamicActivationInt8WeightConfig, Int8WeightOnlyConfig,
        IntxWeightOnlyConfig, PerGroup)
    return {
        "int8 weights": Int8WeightOnlyConfig(),
        "int4 weights, groups of 32": IntxWeightOnlyConfig(
            weight_dtype=torch.int4, granularity=PerGroup(32)),
        "int8, dynamic": Int8DynamicActivationInt8WeightConfig(),
    }


def layer(config):
    from torchao.quantization import quantize_
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(DEPTH, COLUMNS, bias=False)).eval()
    quantize_(module, config)
    return module


class Converted(nn.Module):
    """Modules of exported programs refuse eval()."""

    def __init__(self, module):
        super().__init__()
        self.module, self.training = module, False

    def forward(self, x):
        return self.module(x)


def net():
    """MobileNetV2 as PyTorch's own quantizer for this kind of CPU has it."""
    from torchao.quantization.pt2e.quantize_pt2e import (
        convert_pt2e, prepare_pt2e)
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer
    import torchvision
    torch.manual_seed(0)
    module = torchvision.models.mobilenet_v2()
    integer_models.calibrate_norms(module)
    x = torch.randn(1, 3, 224, 224)
    quantizer = x86_inductor_quantizer.X86InductorQuantizer().set_global(
        x86_inductor_quantizer.get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(torch.export.export(module, (x,)).module(),
                            quantizer)
    for _ in range(integer_models.CALIBRATIONS):
        prepared(torch.randn_like(x))
    return Converted(convert_pt2e(prepared)), x


def times(module, x, threads, tolerance):
    """Microseconds of a call, of fxjit and of eager mode."""
    torch.set_num_threads(threads)
    compiled = fxjit.compile(module, (x,), threads=threads)
    wanted = module(x)
    error = (torch.as_tensor(compiled(x)) - wanted).abs().max()
    if not error <= tolerance * wanted.abs().max():
        raise SystemExit(f"torchao: wrong by {error}")
    return measure({"fxjit": lambda: compiled(x), "eager": lambda: module(x)},
                   ROUNDS, SECONDS)


def works():
    for name, config in configurations().items():
        module = layer(config)
        for rows in ROWS:
            x = torch.randn(rows, DEPTH)
            yield f"{name}, {rows} x {DEPTH} x {COLUMNS}", module, x, LAYER_ERROR
    yield "MobileNetV2 by pt2e", *net(), NET_ERROR


def main(threads):
    print("\n| torchao | threads | fxjit, ms | eager, ms |")
    print("|---|---|---|---|")
    with torch.no_grad():
        for name, module, x, tolerance in works():
            for count in threads:
                found = times(module, x, count, tolerance)
                print(f"| {name} | {count} | {found['fxjit'] / 1000:.3g} | "
                      f"{found['eager'] / 1000:.3g} |", flush=True)
