"""Measures what a named size costs a warm call: a model exported with names beside the
same model exported for the sizes of the call alone, in turns, one thread. Prints a table
in Markdown: medians of the calls, and the median and the quartiles of their ratios.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

from sizes_work import WORKLOADS, export, export_fixed

SIZES = {"bert": [(1, 16), (1, 128), (8, 32)], "resnet50": [(7, 7)],
         "mobilenet_v3": [(7, 7)], "unet": [(8, 8)]}
WARM_CALLS = 5


def timed(model, inputs):
    begin = time.perf_counter()
    model(*inputs)
    return 1e3 * (time.perf_counter() - begin)


def measure(workload, sizes, calls):
    """The times of both models' calls."""
    import fxjit
    import torch
    with tempfile.TemporaryDirectory() as made, torch.inference_mode():
        folder = pathlib.Path(made)
        export_fixed(workload, folder, sizes)
        fixed = fxjit.load(str(folder / "model.pt2"), threads=1)
        export(workload, folder)
        named = fxjit.load(str(folder / "model.pt2"), threads=1)
        torch.manual_seed(1)
        inputs = tuple(WORKLOADS[workload].inputs_of(*sizes).values())
        torch.testing.assert_close(named(*inputs), fixed(*inputs), rtol=1e-3, atol=1e-3)
        for _ in range(WARM_CALLS):
            timed(named, inputs), timed(fixed, inputs)
        times = ([], [])
        for i in range(calls):
            for which in ((0, 1) if i % 2 else (1, 0)):
                times[which].append(timed((named, fixed)[which], inputs))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", help=", ".join(SIZES))
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    if set(options.workloads) - set(SIZES) or options.calls < 8:
        parser.error(f"workloads: {', '.join(SIZES)}; --calls: 8 at least")
    print("| work | named, ms | fixed, ms | ratio | quartiles |")
    print("|---|---|---|---|---|")
    for workload in options.workloads or SIZES:
        for sizes in SIZES[workload]:
            named, fixed = measure(workload, sizes, options.calls)
            ratios = [a / b for a, b in zip(named, fixed)]
            low, middle, high = statistics.quantiles(ratios, n=4)
            print(f"| {workload}, {' x '.join(map(str, sizes))} | "
                  f"{statistics.median(named):.3f} | {statistics.median(fixed):.3f} | "
                  f"{middle:.3f} | {low:.3f} to {high:.3f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
