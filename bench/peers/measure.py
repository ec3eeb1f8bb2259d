"""Measures all contestants beside each other and writes results.json.

Each contestant is a process of its own that waits on its standard input; one
runs at a time, the others are stopped. A round gives every contestant one turn,
in rotating order. A turn during which other processes were busy is repeated, a
few times at most. The first start of each process, with empty caches, gives the
cold start and the memory; answers are checked before anything is timed.
More first starts follow, of which the median counts: fxjit's with its shipped
kernels, without them, and with the cache that it filled.
"""

import argparse
import contextlib
import datetime
import fcntl
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from workloads import WORKLOADS

# "graph": the same graph written in C++, where "fxjit" loads a .pt2 file.
# "python" and "torch_compile" are fxjit, called from Python.
NAMES = ["fxjit", "graph", "python", "torch_compile", "onnxruntime", "openvino",
         "inductor", "eager"]
# Those whose starts are compared; the others take seconds.
RIVALS = ["onnxruntime", "openvino"]
STARTERS = ["fxjit", *RIVALS]
# Largest difference from the double-precision answer, relative to its largest
# value: far above what f32 gives, far below what a wrong graph gives.
TOLERANCE = 1e-4
HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parents[1] / "tools" / "fxjit" / "contestant.py"


class Ended(SystemExit):
    """A process that ended by itself."""


class Contestant:
    """A running process; `ready` is what it said after its first answer."""

    def __init__(self, options, name, workload, threads, cache, cpus,
                 **environment):
        self.name = name
        self.output = os.path.join(cache, f"{name}.out")
        os.makedirs(self.output, exist_ok=True)
        command = self.command(options, workload, threads,
                               os.path.join(cache, name))
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "FXJIT_MODEL_DIR": options.model, **environment},
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.ready = self.read()
        self.stop()

    def command(self, options, workload, threads, cache):
        data = options.data / workload.name
        if self.name in ("fxjit", "graph"):
            graph = workload.graph if self.name == "graph" else workload.name
            return [str(options.fxjit), graph, str(data), options.model,
                    str(threads), cache, self.output]
        model = (str(data / "model.onnx") if self.name in RIVALS
                 else str(data / workload.file) if self.name == "python"
                 else f"{HERE / 'workloads.py'}:{workload.name}")
        command = [sys.executable, str(SCRIPT), self.name, "--model", model,
                   "--threads", str(threads), "--cache", cache,
                   "--output", self.output]
        for name in workload.inputs():
            command += ["--input", f"{name}={data / 'inputs' / name}.npy"]
        if self.name in RIVALS:
            for path in sorted((data / "state").glob("*.npy")):
                command += ["--state", f"{path.stem}={path}"]
        return command

    def answer(self, place):
        path = os.path.join(self.output, f"{place}.npy")
        return np.load(path).astype(np.float64)

    def total_ms(self):
        return sum(self.ready[f"{part}_ms"]
                   for part in ("load", "compile", "first"))

    def read(self):
        # Libraries may print lines of their own.
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        raise Ended(f"{self.name}: ended with status {self.process.wait()}")

    def ask(self, command):
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.read()
        self.stop()
        return answer

    def stop(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        os.kill(self.process.pid, signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()


def busy_seconds():
    """Of all CPUs since boot, user and system."""
    with open("/proc/stat") as stat:
        fields = [int(field) for field in stat.readline().split()[1:]]
    # user, nice, system, irq, softirq, steal.
    return sum(fields[i] for i in (0, 1, 2, 5, 6, 7)) / os.sysconf("SC_CLK_TCK")


def others_share(contestant, turn):
    """Runs `turn`; the CPUs that all other processes kept busy meanwhile."""
    begin, busy, own = (time.monotonic(), busy_seconds(),
                        contestant.cpu_seconds())
    result = turn()
    spent = time.monotonic() - begin
    others = busy_seconds() - busy - (contestant.cpu_seconds() - own)
    return result, others / spent


def quiet_turn(contestant, options):
    for _ in range(1 + options.retries):
        answer, others = others_share(
            contestant, lambda: contestant.ask(f"run {options.seconds}"))
        if others < options.others:
            return answer["ns"], False
        time.sleep(options.seconds)
    return answer["ns"], True


def errors(contestant, references):
    """Of all results together; of those that a graph has for its state, none."""
    differences = []
    for place, reference in enumerate(references):
        answer = contestant.answer(place).ravel()
        if answer.size != reference.size or not np.isfinite(answer).all():
            raise SystemExit(f"{contestant.name}: not an answer")
        differences.append(np.abs(answer - reference.ravel()))
        worst = float(differences[-1].max())
        if worst > TOLERANCE * np.abs(reference).max():
            raise SystemExit(f"{contestant.name}: wrong by {worst:.2e}")
    difference = np.concatenate(differences)
    return {"max_error": float(difference.max()),
            "rms_error": float(np.sqrt(np.mean(difference ** 2)))}


def read_references(folder):
    paths = sorted(folder.glob("*.npy"), key=lambda path: int(path.stem))
    return [np.load(path) for path in paths]


def runs(name, workload):
    """Whether there is something that this contestant could run."""
    if name == "graph":
        return workload.graph is not None
    if name == "python":
        return workload.file is not None
    return not workload.published or name in STARTERS


def percentile(times, share):
    return sorted(times)[int(share * (len(times) - 1))] / 1e3


def summary(contestant, rounds, empty, disturbed, references):
    times = [ns for turn in rounds for ns in turn]
    row = dict(contestant.ready)
    row["total_ms"] = contestant.total_ms()
    row.update(errors(contestant, references))
    row.update({
        "calls": len(times), "disturbed_turns": disturbed,
        "raw_p10_us": percentile(times, 0.1),
        "raw_median_us": percentile(times, 0.5),
        "empty_p10_us": percentile(empty, 0.1) if empty else 0,
        "empty_median_us": percentile(empty, 0.5) if empty else 0,
        "rounds_p10_us": [percentile(turn, 0.1) for turn in rounds],
    })
    for kind in ("p10", "median"):
        row[f"{kind}_us"] = row[f"raw_{kind}_us"] - row[f"empty_{kind}_us"]
    return row


def starts(options, name, workload, threads, cpus, cache=None, **environment):
    """Milliseconds until the first answer, of some more processes."""
    times = []
    for _ in range(options.starts):
        with tempfile.TemporaryDirectory() as empty:
            again = Contestant(options, name, workload, threads,
                               cache or empty, cpus, **environment)
            again.end()
            times.append(again.total_ms())
    return statistics.median(times)


def measure_starts(options, rows, workload, threads, cache, cpus):
    """In place of the first start's times, which anything may have disturbed."""
    for name in STARTERS if options.starts else []:
        if name in rows:
            rows[name]["total_ms"] = starts(options, name, workload, threads,
                                            cpus)
    if options.starts and "fxjit" in rows:
        rows["fxjit"]["warm_total_ms"] = starts(
            options, "fxjit", workload, threads, cpus, cache=cache)
        rows["fxjit"]["bare_total_ms"] = starts(
            options, "fxjit", workload, threads, cpus, FXJIT_KERNELS="")


def read_files(*folders):
    """Brings the models into the page cache, from which idle machines drop
    them: everybody starts alike."""
    for folder in folders:
        for path in pathlib.Path(folder).rglob("*"):
            if path.is_file():
                with open(path, "rb") as file:
                    while file.read(1 << 24):
                        pass


def measure(options, workload, threads, cpus):
    """The results of one workload with so many threads, by contestant."""
    references = read_references(options.data / workload.name / "reference")
    with tempfile.TemporaryDirectory() as cache, \
            contextlib.ExitStack() as running:
        contestants = []
        for name in options.contestants:
            if not runs(name, workload):
                continue
            read_files(options.model, options.data / workload.name)
            try:
                one = Contestant(options, name, workload, threads, cache, cpus)
            except Ended as ended:
                if name not in RIVALS or not workload.published:
                    raise
                print(f"{workload.name} is refused: {ended}", flush=True)
                continue
            contestants.append(one)
            running.callback(contestants[-1].end)
            errors(contestants[-1], references)
        times = {c.name: [] for c in contestants}
        disturbed = dict.fromkeys(times, 0)
        for turn in range(options.rounds):
            shift = turn % len(contestants)
            for contestant in contestants[shift:] + contestants[:shift]:
                ns, bad = quiet_turn(contestant, options)
                times[contestant.name].append(ns)
                disturbed[contestant.name] += bad
        rows = {}
        for c in contestants:
            empty = (c.ask(f"empty {options.seconds}")["ns"]
                     if c.name in (*RIVALS, "inductor", "eager") else [])
            rows[c.name] = summary(c, times[c.name], empty, disturbed[c.name],
                                   references)
        if "fxjit" in rows:
            rows["fxjit"]["profile"] = contestants[0].ask("profile")
        measure_starts(options, rows, workload, threads, cache, cpus)
        return rows


def measure_threads(options, workload, allowed):
    entry = {"name": workload.name, "title": workload.title, "threads": {}}
    for threads in options.threads:
        # The last CPUs: the first one serves most interrupts.
        cpus = set(allowed[-threads:])
        if len(cpus) < threads:
            continue
        rows = measure(options, workload, threads, cpus)
        entry["threads"][str(threads)] = {"rows": rows}
        print(workload.name, f"{threads} threads, us:",
              {name: round(row["p10_us"], 1) for name, row in rows.items()},
              flush=True)
    return entry


@contextlib.contextmanager
def window(lock):
    """Holds the lock file, if any, so that nothing else heavy runs."""
    if not lock:
        yield
        return
    with open(lock, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def machine():
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":")[1].strip() for line in info
                      if line.startswith("model name")), platform.machine())
    with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
        huge = file.read().split("[")[1].split("]")[0]
    return {"cpu": model, "cpus": len(os.sched_getaffinity(0)),
            "system": platform.platform(), "python": platform.python_version(),
            "huge_pages": huge,
            "date": datetime.date.today().isoformat()}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--fxjit", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--lock", help="held during each workload")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.3,
                        help="of one turn")
    parser.add_argument("--others", type=float, default=0.05,
                        help="CPUs that others may keep busy in a turn")
    parser.add_argument("--retries", type=int, default=4,
                        help="of a turn that others disturbed")
    parser.add_argument("--starts", type=int, default=3,
                        help="first answers that are timed; 0: the first only")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--workloads", nargs="*",
                        default=[w.name for w in WORKLOADS])
    parser.add_argument("--contestants", nargs="*", default=NAMES)
    return parser.parse_args()


def main():
    options = parse()
    # Ends by exception, so that no stopped process is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    allowed = sorted(os.sched_getaffinity(0))
    results = {"machine": machine(), "settings": {
        "rounds": options.rounds, "seconds": options.seconds}, "workloads": []}
    for workload in WORKLOADS:
        if workload.name not in options.workloads:
            continue
        with window(options.lock):
            results["workloads"].append(
                measure_threads(options, workload, allowed))
    options.results.mkdir(parents=True, exist_ok=True)
    with open(options.results / "results.json", "w") as file:
        json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
