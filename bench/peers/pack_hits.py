"""Counts the kernels that models of sizes.py find in the pack that ships with the
library, and what their first call takes with an empty cache, one thread. Each figure is
the least of three fresh processes. Prints a table in Markdown: code that was compiled is
what a process leaves in its cache, with the pack and without it.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from sizes_work import WORKLOADS, export

PROCESSES = 3
CALLS = 3  # Of as many sizes.


def sizes_of(workload):
    ranges = WORKLOADS[workload].ranges
    return [[low + (high - low) * (1 + i) // (CALLS + 1) for low, high in ranges]
            for i in range(CALLS)]


def child(workload, folder):
    import fxjit
    import torch
    work = WORKLOADS[workload]
    model = fxjit.load(str(folder / ("model.onnx" if work.file else "model.pt2")), threads=1)
    times = []
    for sizes in sizes_of(workload):
        inputs = work.inputs_of(*sizes).values()
        begin = time.perf_counter()
        with torch.inference_mode():
            model(*inputs)
        times.append(1e3 * (time.perf_counter() - begin))
    steps = len(model.report().programs[0]["steps"])
    print(json.dumps({"first": times[0], "steps": steps}))


def run(workload, folder, kernels):
    """The report of a fresh process, and how much code it compiled."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "FXJIT_CACHE": cache, **kernels}
        done = subprocess.run(
            [sys.executable, __file__, workload, "--child", "--folder", str(folder)],
            env=environment, check=True, capture_output=True, text=True)
        made = sum(path.is_file() for path in pathlib.Path(cache).rglob("*"))
    return json.loads(done.stdout.splitlines()[-1]), made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", help=", ".join(WORKLOADS))
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.workloads[0], options.folder)
    print("| work | steps | code in all | compiled beside the pack | first call with the "
          "pack, ms | without it |")
    print("|---|---|---|---|---|---|")
    for workload in options.workloads or WORKLOADS:
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            export(workload, folder)
            packed, alone = ([run(workload, folder, kernels) for _ in range(PROCESSES)]
                             for kernels in ({}, {"FXJIT_KERNELS": ""}))
        first = [min(report["first"] for report, _ in runs) for runs in (packed, alone)]
        print(f"| {workload} | {packed[0][0]['steps']} | {alone[0][1]} | {packed[0][1]} | "
              f"{first[0]:.0f} | {first[1]:.0f} |", flush=True)
    return None


if __name__ == "__main__":
    sys.exit(main())
