"""Measures what an input of new sizes costs, beside ONNX Runtime and OpenVINO.

Each contestant is a process of its own that has a model with named sizes, one
thread. For each tuple of sizes, drawn at random, the processes take turns: the
first call of these sizes, a second one, then the fastest of two more. What the first
one took beyond that is its extra; that of the second one says how much of it is the
machine's doing. Answers are compared with those of the first contestant.
Prints a table in Markdown. "Kinds" are the programs with named sizes that the
calls have needed (`Report.kinds`).

With --again, all of it is done twice with the same cache of code, and the second
time is shown: new processes that have no code to compile.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from sizes_work import WORKLOADS, export, module_of

CONTESTANTS = ["fxjit.load", "torch.compile", "ONNX Runtime", "OpenVINO"]
WARM_CALLS = 3
TOLERANCE, LEAST = 1e-3, 1e-6


class Call:
    """A model to call, and the number of its kinds."""

    def __init__(self, run, kinds):
        self.run, self.kinds = run, kinds

    def __call__(self, inputs):
        return self.run(inputs)


def array_of(result):
    while not hasattr(result, "shape"):
        result = next(iter(result.values())) if hasattr(
            result, "values") else result[0]
    return np.asarray(result)


def by_load(workload, folder):
    import fxjit
    file = "model.onnx" if WORKLOADS[workload].file else "model.pt2"
    model = fxjit.load(str(folder / file), threads=1)
    return Call(lambda inputs: array_of(model(*inputs.values())),
                lambda: len(model.report().kinds))


def by_compile(workload, folder):
    import torch
    model = torch.compile(module_of(workload), backend="fxjit", dynamic=True,
                          options={"threads": 1})
    return lambda inputs: model(*inputs.values()).numpy()


def by_onnxruntime(workload, folder):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(folder / "model.onnx"), options,
        providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(
        None, {name: x.numpy() for name, x in inputs.items()})[0]


def by_openvino(workload, folder):
    import openvino
    model = openvino.Core().compile_model(
        str(folder / "model.onnx"), "CPU",
        {"INFERENCE_NUM_THREADS": "1", "INFERENCE_PRECISION_HINT": "f32"})
    request = model.create_infer_request()
    return lambda inputs: request.infer(
        {name: x.numpy() for name, x in inputs.items()})[0]


MAKERS = dict(zip(CONTESTANTS,
                  [by_load, by_compile, by_onnxruntime, by_openvino]))


def resident_mb():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def contest(workload, contestant, folder, calls):
    """The process of a contestant: sizes from standard input, figures out."""
    import torch
    torch.set_num_threads(1)
    inputs_of = WORKLOADS[workload].inputs_of
    with torch.inference_mode():
        call = MAKERS[contestant](workload, folder)
        kinds = getattr(call, "kinds", lambda: "")
        for line in sys.stdin:
            torch.manual_seed(1)
            inputs = inputs_of(*json.loads(line))
            times = []
            for _ in range(calls):
                begin = time.perf_counter()
                result = call(inputs)
                times.append(1e3 * (time.perf_counter() - begin))
            print(json.dumps({"first": times[0], "second": times[1],
                              "warm": min(times[2:]),
                              "resident": resident_mb(),
                              "kinds": kinds(),
                              "sum": float(np.abs(result).mean())}),
                  flush=True)


def start(workload, contestant, folder, calls):
    environment = {**os.environ, "FXJIT_CACHE": str(folder / contestant)}
    return subprocess.Popen(
        [sys.executable, __file__, workload, "--contestant", contestant,
         "--folder", str(folder), "--calls", str(calls)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, env=environment)


def ask(process, sizes):
    process.stdin.write(json.dumps(sizes) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"a contestant ended: {process.args}")
    return json.loads(line)


def drawn(ranges, count):
    rng = random.Random(1)
    seen = dict.fromkeys(tuple(rng.randint(*each) for each in ranges)
                         for _ in range(4 * count))
    return list(seen)[:count]


def measure(workload, names, folder, count, calls=1 + WARM_CALLS):
    """The figures of each tuple of sizes by contestant."""
    processes = {name: start(workload, name, folder, calls) for name in names}
    figures = {name: [] for name in names}
    for i, sizes in enumerate(drawn(WORKLOADS[workload].ranges, count)):
        turns = names[i % len(names):] + names[:i % len(names)]
        for name in turns:
            figures[name].append(ask(processes[name], sizes))
        sums = [figures[name][-1]["sum"] for name in names]
        if max(sums) - min(sums) > TOLERANCE * max(sums) + LEAST:
            raise SystemExit(f"{workload}, {sizes}: answers differ: {sums}")
    for process in processes.values():
        process.stdin.close()
        process.wait()
    return figures


def row(workload, name, rows):
    def extra(call):
        return sorted(each[call] - each["warm"] for each in rows[3:])

    def near(call):
        return sum(each[call] <= 1.3 * each["warm"] for each in rows[3:])

    first, count = extra("first"), len(rows) - 3
    warm = statistics.median(each["warm"] for each in rows)
    at = min(len(rows) - 1, 50)
    return (f"| {workload}, {len(rows)} tuples, {name} | {warm:.1f} | "
            f"{statistics.median(first):.2f} | {first[count * 9 // 10]:.2f} | "
            f"{first[count * 99 // 100]:.2f} | {statistics.median(extra('second')):.2f} | "
            f"{100 * near('first') / count:.1f}% | {100 * near('second') / count:.1f}% | "
            f"{rows[at]['resident']:.0f} | {rows[-1]['resident']:.0f} | "
            f"{rows[-1]['kinds']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", help=", ".join(WORKLOADS))
    parser.add_argument("--tuples", type=int, default=60,
                        help="tuples of sizes of each workload")
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS,
                        default=CONTESTANTS, help="contestants, default all")
    parser.add_argument("--again", action="store_true",
                        help="new processes that find their code in the cache")
    parser.add_argument("--calls", type=int, default=1 + WARM_CALLS,
                        help="of each tuple")
    parser.add_argument("--contestant", choices=CONTESTANTS,
                        help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        return contest(options.workloads[0], options.contestant,
                       options.folder, options.calls)
    unknown = set(options.workloads) - set(WORKLOADS)
    if unknown or options.tuples < 8 or options.calls < 3:
        parser.error(f"no workload: {', '.join(sorted(unknown))}" if unknown
                     else "--tuples: 8 at least; --calls: 3 at least")
    print("| work | warm call, ms | extra of a first call, median | p90 | p99 | of a "
          "second one | first calls of at most 1.3 warm ones | second ones | resident "
          "MB after 50 | at the end | kinds |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for workload in options.workloads or WORKLOADS:
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            export(workload, folder)
            names = options.only
            if WORKLOADS[workload].file:
                names = [name for name in names if name != "torch.compile"]
            for _ in range(1 + options.again):
                figures = measure(workload, names, folder, options.tuples,
                                  options.calls)
        for name, rows in figures.items():
            print(row(workload, name, rows), flush=True)
    return None


if __name__ == "__main__":
    sys.exit(main())
