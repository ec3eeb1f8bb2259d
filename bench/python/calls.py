"""What a call from Python costs beyond the same call from C++:

    PYTHONPATH=build/release/python python bench/python/calls.py build/release/bin/fxjit

Models of few small tensors, so that the call is most of the time. "C++" is what `fxjit bench`
measures for the same program. Prints a table in Markdown: microseconds a call, 10th percentile,
one thread.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import fxjit
import torch
from fxjit.compiled_graph import CompiledGraph

CALLS, TURNS = 2000, 7


class Sum(torch.nn.Module):
    """Of its inputs, with a relu."""

    def forward(self, *inputs):
        return torch.relu(sum(inputs[1:], inputs[0] * 2))


class Layers(torch.nn.Module):
    def __init__(self, count):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def least(call):
    """The 10th percentile of the time of a call, the least of some turns."""
    best = float("inf")
    for _ in range(TURNS):
        times = []
        for _ in range(CALLS):
            begin = time.perf_counter_ns()
            call()
            times.append(time.perf_counter_ns() - begin)
        best = min(best, sorted(times)[CALLS // 10])
    empty = sorted(-(time.perf_counter_ns() - time.perf_counter_ns()) for _ in range(CALLS))
    return (best - empty[CALLS // 10]) / 1e3


def in_cpp(program, path):
    told = subprocess.run([program, "bench", path, "--threads", "1", "--json"], check=True,
                          capture_output=True, text=True).stdout
    rows = json.loads(told)["rows"]
    return min(row["p10_us"] for row in rows if row["name"] == "fused")


def direct_call(module, inputs):
    """The callable that torch.compile was given for the module's one graph, with its arguments."""
    torch._dynamo.reset()
    calls, plain = [], CompiledGraph.__call__

    def kept(graph, args):
        calls.append((graph, list(args)))
        return plain(graph, args)
    CompiledGraph.__call__ = kept
    torch.compile(module, backend="fxjit")(*inputs)
    CompiledGraph.__call__ = plain
    ((graph, arguments),) = calls
    return lambda: graph(list(arguments))


def measure(program, title, module, inputs, rows):
    module.eval()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path = str(pathlib.Path(folder) / "model.pt2")
        torch.export.save(torch.export.export(module, inputs), path)
        base = in_cpp(program, path)
        loaded = fxjit.load(path, threads=1)
        arrays = [t.numpy() for t in inputs]
        results = [least(lambda: loaded(*inputs)), least(lambda: loaded(*arrays)),
                   least(direct_call(module, inputs))]
    parameters = len(list(module.parameters()))
    rows.append([title, parameters, f"{base:.2f}", *(f"+{t - base:.2f}" for t in results),
                 f"{5 + 0.1 * parameters:.1f}"])


def main():
    torch.set_num_threads(1)
    rows = []
    for count in (1, 2, 4):
        inputs = tuple(torch.randn(8) for _ in range(count))
        measure(sys.argv[1], f"sum of {count} tensors of 8", Sum(), inputs, rows)
    for count in (1, 4, 50):
        measure(sys.argv[1], f"{count} linear layers of 8", Layers(count), (torch.randn(1, 8),),
                rows)
    print("| model | parameters | C++ | `fxjit.load`, torch | NumPy | torch.compile's callable | "
          "bound |\n|" + "---|" * 7)
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
