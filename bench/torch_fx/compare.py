"""Runs both sides in turn and writes table.md and results.json.

Every number is the best over all rounds of a side: the machine may be busy with
other work, which only ever makes a run slower. A run of torch.fx that takes
longer than --limit seconds is stopped and given as a lower bound.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WORK = ["trace", "create", "copy", "print", "python_code",
        "eliminate_dead_code", "lint", "replace_pattern"]


def run(command, limit):
    """What one side printed; nothing when it was stopped."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=limit, check=True, env=environment)
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(command)}:\n{error.stderr}")
    return json.loads(done.stdout)


def measure(options):
    results = []
    torch_side = [sys.executable, str(HERE / "torch_side.py")]
    for nodes in options.nodes:
        # Enough for caches to be warm, few enough for torch to end.
        repeats = max(1, 8000 // nodes)
        for work in WORK:
            best = {"torch": None, "fxjit": None}
            stopped = False
            for _ in range(options.rounds):
                for side, command, times in (
                    ("torch", torch_side, repeats),
                    ("fxjit", [options.fxjit], repeats * 5),
                ):
                    if side == "torch" and stopped:
                        continue
                    answer = run(command + [work, str(nodes), str(times)],
                                 options.limit)
                    if answer is None:
                        stopped = True
                        continue
                    seconds = answer["seconds"]
                    best[side] = min(best[side] or seconds, seconds)
            row = {"work": work, "nodes": nodes, **best}
            if best["torch"] is None:
                row["torch_above"] = options.limit
            results.append(row)
            print(line(row), flush=True)
    return results


def memory(options, nodes):
    torch_side = [sys.executable, str(HERE / "torch_side.py")]
    sides = {"torch": torch_side, "fxjit": [options.fxjit]}
    return {side: run(command + ["memory", str(nodes), "1"], None)["bytes"]
            for side, command in sides.items()}


def line(row):
    nodes = row["nodes"]
    torch_seconds = row["torch"] or row["torch_above"]
    ratio = torch_seconds / row["fxjit"]
    bound = "" if row["torch"] else "> "
    return (f"| {row['work']} | {nodes} | {bound}"
            f"{torch_seconds / nodes * 1e6:.2f} | "
            f"{row['fxjit'] / nodes * 1e6:.3f} | {bound}{ratio:.0f}x |")


def table(results, bytes_per_node, nodes):
    lines = [
        "Microseconds per node, best of all rounds; the same graphs in one run.",
        "",
        "| work | nodes | torch.fx | fxjit | ratio |",
        "|---|---|---|---|---|",
        *map(line, results),
        "",
        f"Memory per node at {nodes} nodes: torch.fx "
        f"{bytes_per_node['torch']:.0f} bytes, fxjit "
        f"{bytes_per_node['fxjit']:.0f} bytes.",
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fxjit", required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--nodes", type=int, nargs="+", default=[2000, 100000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120,
                        help="seconds that one run of torch.fx may take")
    options = parser.parse_args()
    results = measure(options)
    nodes = max(options.nodes)
    bytes_per_node = memory(options, nodes)
    options.results.mkdir(parents=True, exist_ok=True)
    text = table(results, bytes_per_node, nodes)
    (options.results / "table.md").write_text(text)
    facts = {"machine": platform.machine(), "python": platform.python_version(),
             "rows": results, "bytes_per_node": bytes_per_node}
    (options.results / "results.json").write_text(json.dumps(facts, indent=1))
    print(text)


main()
