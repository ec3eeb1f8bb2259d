"""The same server with fxjit, ONNX Runtime and PyTorch behind it: measure.py MODELS --results FOLDER

Closed loop at several numbers of connections, then open loop at half of the lowest saturation of
the engines. Engines take turns, so that what else the machine does hits all of them. Writes
results.json, table.md and chart.svg.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from report import write_report

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = {"minilm": (1, 8, 64), "resnet50": (1, 8)}
STAGES = ("read", "queue", "compute", "write", "whole")
SERIES = re.compile(r'fxjit_(?:request|stage)_seconds_(sum|count)\{(?:.*stage="(\w+)")?')
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_name():
    """The kernel's name, which some machines shorten to the vendor's, and what tells the kind."""
    about = dict(line.replace("\t", "").partition(": ")[::2]
                 for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines())
    return (f"{about.get('model name', 'an unknown CPU')} (family {about.get('cpu family')}, "
            f"model {about.get('model')})")


class Server:
    def __init__(self, engine, model, given):
        self.engine, self.model = engine, model
        self._log = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-B", HERE / "serve.py", engine, model, given.models,
             "--threads", str(given.threads), "--instances", str(given.instances),
             *(["--packages", given.packages] if given.packages else [])],
            stderr=self._log)
        self.port = self._wait("listening")["http"]
        self._wait("loaded")

    def _wait(self, event):
        while self._process.poll() is None:
            self._log.seek(0)
            for line in self._log:
                if line.startswith("{") and line.endswith("\n") and (
                        (read := json.loads(line))["event"] == event):
                    return read
            time.sleep(0.1)
        raise RuntimeError(f"{self.engine}: the server ended")

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")")[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        """The most that was resident, in MB."""
        text = pathlib.Path(f"/proc/{self._process.pid}/status").read_text()
        return int(text.split("VmHWM:")[1].split()[0]) / 1024

    def stages(self):
        """Seconds and count of each stage, and of whole requests, so far."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as reply:
            lines = reply.read().decode().splitlines()
        sums = {}
        for line in lines:
            found = SERIES.match(line)
            if found:
                kind, stage = found.groups()
                sums[stage or "whole", kind] = float(line.rsplit(" ", 1)[1])
        return sums

    def load(self, connections, seconds, rate=None):
        """One run: what load.py prints, with CPU seconds a request and milliseconds of stages."""
        cpu, stages = self.cpu(), self.stages()
        done = subprocess.run(
            [sys.executable, "-B", HERE / "load.py", str(self.port), self.model, "--connections",
             str(connections), "--seconds", str(seconds), *(["--rate", str(rate)] if rate else [])],
            capture_output=True, text=True, check=True)
        run = json.loads(done.stdout)
        if run["failures"]:
            raise RuntimeError(f"{self.engine}: {run['failures']} requests failed")
        after = self.stages()
        count = after["whole", "count"] - stages["whole", "count"]
        run["cpu"] = (self.cpu() - cpu) / run["requests"]
        run["stages"] = {stage: 1e3 * (after[stage, "sum"] - stages[stage, "sum"]) / count
                         for stage in STAGES}
        spent = run["stages"]
        spent["ours"] = spent["whole"] - spent["queue"] - spent["compute"]
        return run

    def close(self):
        self._process.terminate()
        self._process.wait(30)
        self._log.close()


def summed(runs):
    """The median of the runs' throughput, and percentiles of all latencies together."""
    latencies = sorted(one for run in runs for one in run["latencies"])
    return {"throughput": statistics.median(run["requests"] / run["seconds"] for run in runs),
            "p50": latencies[len(latencies) // 2],
            "p99": latencies[min(len(latencies) * 99 // 100, len(latencies) - 1)],
            "cpu": statistics.median(run["cpu"] for run in runs),
            "stages": {stage: statistics.median(run["stages"][stage] for run in runs)
                       for stage in (*STAGES, "ours")}}


def measure(servers, given, connections, rate=None):
    runs = {server.engine: [] for server in servers}
    for turn in range(given.rounds):
        for server in servers[turn % len(servers):] + servers[:turn % len(servers)]:
            runs[server.engine].append(server.load(connections, given.seconds, rate))
    return {engine: summed(own) for engine, own in runs.items()}


def measure_model(model, given):
    with contextlib.ExitStack() as stack:
        servers = []
        for engine in given.engines:
            servers.append(Server(engine, model, given))
            stack.callback(servers[-1].close)
        rows = []
        for server in servers:  # Shapes are compiled and pages touched before anything counts.
            server.load(CONNECTIONS[model][-1], given.seconds)
            server.load(1, given.seconds / 2)
        for connections in CONNECTIONS[model]:
            rows.append(("closed", connections, measure(servers, given, connections)))
            print(model, *rows[-1], flush=True)
        half = min(max(row[2][server.engine]["throughput"] for row in rows)
                   for server in servers if server.engine != "pytorch") / 2
        rows.append(("open", round(half, 2), measure(servers, given, 64, half)))
        print(model, *rows[-1], flush=True)
        return {"rows": rows, "memory": {one.engine: one.memory() for one in servers}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=CONNECTIONS, help="one model")
    parser.add_argument("--engines", nargs="+", default=["fxjit", "onnxruntime", "pytorch"])
    parser.add_argument("--packages", help="where onnxruntime and torch are")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--instances", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5)
    given = parser.parse_args()
    results = {"threads": given.threads, "instances": given.instances,
               "date": time.strftime("%Y-%m-%d"), "cpu": cpu_name(),
               "other_load": os.getloadavg()[0],
               "models": {model: measure_model(model, given)
                          for model in ([given.only] if given.only else CONNECTIONS)}}
    write_report(results, given.results)


if __name__ == "__main__":
    main()
