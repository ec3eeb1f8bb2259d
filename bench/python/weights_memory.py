"""Private memory that a model's weights take in torch.compile with discard=True.

weights_memory.py TYPE MIB [threads]: a chain of layers with weights of f32, bf16, f16 or int8
(dequantised in each call, as torchao writes it), MIB in all. Prints the private memory above that
before the model was made, after calls with 64 rows, 64 calls with one row, and 64 rows again, and
the bound: 1.1 times the weights as stored and 40 MB. Exits with 1 where it is exceeded.
"""

import ctypes
import gc
import sys

import torch
from torch import nn

WIDTH = 1024
ITEM = {"f32": 4, "bf16": 2, "f16": 2, "int8": 1}
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


class Int8(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        weight = torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8)
        self.register_buffer("weight", weight)
        self.register_buffer("scale", torch.rand(outputs) / 3000)

    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(x.dtype)) * self.scale


class Chain(nn.Module):
    def __init__(self, kind, width, layers):
        super().__init__()

        def layer(inputs, outputs):
            if kind == "int8":
                return Int8(inputs, outputs)
            return nn.Linear(inputs, outputs, bias=False, dtype=TYPES.get(kind))
        self.wide = nn.ModuleList(layer(width, 4 * width) for _ in range(layers))
        self.back = nn.ModuleList(layer(4 * width, width) for _ in range(layers))

    def forward(self, x):
        for wide, back in zip(self.wide, self.back):
            x = x + back(torch.relu(wide(x)))
        return x


def private_mib():
    """What other code freed is given back first."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/smaps_rollup") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def calls(kind, width, layers, threads, after):
    """The model's weights in MiB; `after(rows)` is called behind the calls of each size."""
    model = Chain(kind, width, layers).eval()
    tensors = [*model.parameters(), *model.buffers()]
    options = {"discard": True, "threads": threads}
    fast = torch.compile(model, backend="fxjit", options=options)
    for rows, times in ((64, 1), (1, 64), (64, 1)):
        x = torch.randn(rows, width, dtype=TYPES.get(kind))
        for _ in range(times):
            fast(x)
        after(rows)
    return sum(t.numel() * t.element_size() for t in tensors) / 2**20


def main(kind, mib, threads=1):
    threads = int(threads)
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    with torch.no_grad():
        calls(kind, 8, 1, threads, lambda rows: None)  # What any model needs.
        torch._dynamo.reset()
        before = private_mib()
        grown = {}
        layers = max(1, round(float(mib) * 2**20 / (8 * WIDTH * WIDTH * ITEM[kind])))
        stored = calls(kind, WIDTH, layers, threads,
                       lambda rows: grown.setdefault(len(grown), (rows, private_mib() - before)))
    bound = 1.1 * stored + 40
    text = ", ".join(f"{rows} rows {mib:.0f}" for rows, mib in grown.values())
    print(f"{kind}, {threads} threads: stored {stored:.0f}; {text}; bound {bound:.0f} MiB")
    return max(mib for _, mib in grown.values()) > bound


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
