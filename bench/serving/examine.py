"""Examines fxjit-serve as an attacker would: examine.py [--only NAME] [--cap MB]

    build/serve/bin/python bench/serving/examine.py

(with PYTHONPATH=build/release/python) tries one kind of hostile clients after the other. Beside
them tritonclient asks honestly, and another client asks over the admin port whether the server is
alive. A line for each kind has the most memory that was resident, the median and the worst time of
an answer about health, and the honest clients' right, refused and wrong answers. It ends with 1
where a bound does not hold: memory beyond the cap and 200 MB, health later than 100 ms at the
median or 500 ms at most, any wrong answer, a server that ended. Nothing else should run on the
machine meanwhile.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "python"))
from cases import case_of  # noqa: E402
from hostile import memory  # noqa: E402
from serving_server import CHANGES, inputs_of, make_repository, serving  # noqa: E402
import health  # noqa: E402
import hostile_cases  # noqa: E402
import tritonclient.grpc as over_grpc  # noqa: E402
import tritonclient.http as over_http  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402

MB = 1 << 20
BEYOND = 200  # MB of memory beside the cap.
MEDIAN, MOST = 0.1, 0.5  # Seconds until health is told.
NAMES = ("perceptron", "attention", "bert")


class Seen:
    """What the honest clients saw in one case."""

    def __init__(self):
        self.right = self.refused = 0
        self.wrong, self.seconds = [], []

    def faults(self, most_bytes, cap):
        found = [f"wrong: {one}" for one in self.wrong[:5]]
        if most_bytes > (cap + BEYOND) * MB:
            found.append(f"{most_bytes // MB} MB resident, {cap + BEYOND} MB may be")
        if not self.seconds:
            found.append("health was never told")
        elif statistics.median(self.seconds) > MEDIAN or max(self.seconds) > MOST:
            found.append("health is late")
        return found


def ask_honestly(library, port, seen, stop):
    """Asks all models in turn. The server may refuse while others take its room."""
    cases = [(name, *case_of(name)) for name in NAMES]
    with library.InferenceServerClient(f"127.0.0.1:{port}") as client:
        while not stop.is_set():
            for name, inputs, answers in cases:
                try:
                    result = client.infer(name, inputs_of(library, inputs))
                except InferenceServerException as error:
                    seen.refused += 1
                    if "503" not in str(error.status()) + str(error) and not any(
                            code in str(error.status()) for code in
                            ("RESOURCE_EXHAUSTED", "UNAVAILABLE")):
                        seen.wrong.append(f"{name}: {str(error)[:200]}")
                    continue
                except OSError:  # No more connections are taken.
                    seen.refused += 1
                    continue
                response = result.get_response()
                outputs = response["outputs"] if library is over_http else response.outputs
                names = [one["name"] if library is over_http else one.name for one in outputs]
                near = all(np.allclose(result.as_numpy(output), answer, atol=1e-4)
                           for output, answer in zip(names, answers, strict=True))
                seen.right += near
                if not near:
                    seen.wrong.append(f"{name}: other numbers")
            stop.wait(0.02)


@contextlib.contextmanager
def asking_for_health(server, seen):
    """Over the admin port, as an orchestrator does."""
    asking = subprocess.Popen([sys.executable, "-B", HERE / "health.py", str(server.admin)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    asking.stdout.readline()
    try:
        yield
    finally:
        time.sleep(3 * health.SECONDS_BETWEEN)  # After the shortest cases, too.
        told = json.loads(asking.communicate()[0])
        seen.seconds = told["seconds"]
        seen.wrong += [f"health: {one}" for one in told["wrong"]]


def run(server, case):
    """One case; the case's own function says what else was wrong."""
    seen, stop = Seen(), threading.Event()
    threads = [threading.Thread(target=ask_honestly, args=(over_http, server.http, seen, stop)),
               threading.Thread(target=ask_honestly, args=(over_grpc, server.grpc, seen, stop))]
    for thread in threads:
        thread.start()
    try:
        with asking_for_health(server, seen):
            seen.wrong += case(server) or []
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return seen


def examine(name, case, folder, cap):
    """Each case has a server of its own, so that its memory is its own."""
    with serving(folder, *CHANGES, "--max-held-mb", str(cap), "--max-body-mb", "64",
                 "--grace-seconds", "2") as server:
        server.folder = folder
        seen = run(server, case)
        ended = server.process.poll()
        most = 0 if ended is not None else memory(server.process.pid)
    faults = seen.faults(most, cap)
    if ended is not None:
        faults.append(f"the server ended: {ended}")
    median = statistics.median(seen.seconds) if seen.seconds else float("nan")
    worst = max(seen.seconds, default=float("nan"))
    print(f"{name:32} {most // MB:5} MB {1e3 * median:7.0f} ms {1e3 * worst:7.0f} ms "
          f"{seen.right:7} {seen.refused:7} {len(seen.wrong):5}  {'; '.join(faults)}", flush=True)
    return bool(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="cases whose name has this")
    parser.add_argument("--cap", type=int, default=256, help="--max-held-mb (%(default)s)")
    given = parser.parse_args()
    print(f"{'case':32} {'most':>8} {'median':>10} {'worst':>10} {'right':>7} {'refused':>7} "
          f"{'wrong':>5}")
    failed = False
    with tempfile.TemporaryDirectory() as place:
        folder = make_repository(pathlib.Path(place) / "models", [(name, 1) for name in NAMES])
        for name, case in hostile_cases.CASES.items():
            if not given.only or given.only in name:
                failed |= examine(name, case, folder, given.cap)
        with contextlib.ExitStack() as stack:
            if not given.only or given.only in "stops":
                failed |= hostile_cases.stops(folder, stack)
    return failed


if __name__ == "__main__":
    sys.exit(main())
