"""Makes table.md, chart.svg and overview.svg from results.json: all contestants,
and on one thread those that fxjit is compared with.

    report.py RESULTS_FOLDER
"""

import json
import pathlib
import sys

LABELS = {"fxjit": "fxjit", "onnxruntime": "ONNX Runtime",
          "openvino": "OpenVINO", "inductor": "Inductor", "eager": "eager",
          "graph": "fxjit, C++ graph", "python": "fxjit.load",
          "torch_compile": "torch.compile, fxjit"}
# Called from Python with nothing taken off: whose turn is compared with whose.
PAIRINGS = {"python": ["onnxruntime", "openvino"],
            "torch_compile": ["inductor", "eager"]}
RIVALS = ["onnxruntime", "openvino"]
OF_SPEED = [name for name in LABELS if name not in PAIRINGS]


def runs(results):
    """(workload, threads, run) in order."""
    for workload in results["workloads"]:
        for threads, run in workload["threads"].items():
            yield workload, int(threads), run


def ratio(rows, kind="p10_us"):
    """fxjit's speed over that of the better rival."""
    best = min(rows[name][kind] for name in RIVALS if name in rows)
    return best / rows["fxjit"][kind]


def beside_graph(rows):
    """Time of what was loaded from .pt2 over that of the graph in C++."""
    if "graph" not in rows:
        return ""
    return f"{rows['fxjit']['p10_us'] / rows['graph']['p10_us']:.3f}"


def round_ratios(rows):
    """The same for each round: how far the ratio spreads."""
    names = [name for name in RIVALS if name in rows]
    turns = zip(rows["fxjit"]["rounds_p10_us"],
                *(rows[name]["rounds_p10_us"] for name in names))
    return [min(other - rows[name]["empty_p10_us"]
                for name, other in zip(names, others)) / own
            for own, *others in turns]


def disturbed(rows):
    """Whether other processes were busy during most turns of somebody."""
    return any(2 * row["disturbed_turns"] > len(row["rounds_p10_us"])
               for row in rows.values())


def number(us):
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def duration(us):
    return f"{number(us)} us" if us < 1e4 else f"{number(us / 1e3)} ms"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |",
             "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def has_ratio(rows):
    return "fxjit" in rows and any(name in rows for name in RIVALS)


def speed_table(results, threads):
    rows = []
    for workload, count, run in runs(results):
        if count != threads or not has_ratio(run["rows"]):
            continue
        peers, spread = run["rows"], round_ratios(run["rows"])
        rows.append([workload["title"]]
                    + [number(peers[n]["p10_us"]) if n in peers else ""
                       for n in OF_SPEED]
                    + [f"{ratio(peers):.2f}x",
                       ("\\* " if disturbed(peers) else "")
                       + f"{min(spread):.2f}-{max(spread):.2f}",
                       f"{ratio(peers, 'median_us'):.2f}x",
                       beside_graph(peers)])
    header = ["work"] + [LABELS[name] for name in OF_SPEED]
    return table(header + ["ratio", "rounds", "median", ".pt2 / C++ graph"],
                 rows)


def python_table(results, ours):
    rivals = PAIRINGS[ours]
    rows = []
    for workload, threads, run in runs(results):
        peers = run["rows"]
        if not all(name in peers for name in (ours, *rivals)):
            continue
        times = [peers[name]["raw_p10_us"] for name in (ours, *rivals)]
        rows.append([workload["title"], str(threads)]
                    + [number(time) for time in times]
                    + [f"{min(times[1:]) / times[0]:.2f}x"])
    return table(["work", "threads"]
                 + [LABELS[name] for name in (ours, *rivals)] + ["ratio"], rows)


def compile_table(results):
    rows = []
    for workload, threads, run in runs(results):
        ours, other = (run["rows"].get(name) for name in ("torch_compile",
                                                          "inductor"))
        if threads != 1 or not other or "own_ms" not in (ours or {}):
            continue
        before = ours["total_ms"] - ours["own_ms"]
        times = [before, ours["own_ms"], other["total_ms"] - before]
        rows.append([workload["title"]] + [f"{time:.0f}" for time in times]
                    + [f"{times[2] / times[1]:.0f}x"])
    if not rows:
        return []
    return ["## Compiling", "",
            "Until the first answer under torch.compile, one thread, caches of "
            "compiled code empty, milliseconds. Dynamo and AOT autograd are "
            "the same for both; fxjit's part and Inductor's are what follows, "
            "the first call included.", ""] + table(
        ["work", "Dynamo and AOT autograd", "fxjit's part", "Inductor's part",
         "ratio"], rows)


def raw_table(results):
    rows = []
    for workload, threads, run in runs(results):
        for name, row in run["rows"].items():
            rows.append([workload["title"], str(threads), LABELS[name]] + [
                number(row[k]) for k in
                ("raw_p10_us", "raw_median_us", "empty_p10_us", "p10_us",
                 "median_us")] + [f"{row['rms_error']:.1e}",
                                  f"{row['max_error']:.1e}"])
    return table(["work", "threads", "runtime", "p10", "median", "empty call",
                  "p10, corrected", "median, corrected", "RMS error",
                  "max error"], rows)


def start_table(results):
    rows = []
    for workload, threads, run in runs(results):
        if threads != 1:
            continue
        for name, row in run["rows"].items():
            grown = (row["anon_kib"] - row["anon_before_kib"]) / 1024
            warm, bare = row.get("warm_total_ms"), row.get("bare_total_ms")
            rows.append([workload["title"], LABELS[name],
                         f"{row['total_ms']:.0f}",
                         f"{warm:.0f}" if warm else "",
                         f"{bare:.0f}" if bare else "",
                         f"{grown:.0f}", f"{row['anon_kib'] / 1024:.0f}"])
    return table(["work", "runtime", "first answer after, ms",
                  "with fxjit's cache, ms", "without shipped kernels, ms",
                  "private memory grown, MiB",
                  "whole process, MiB"], rows)


def write_table(results, path):
    machine, settings = results["machine"], results["settings"]
    first = results["workloads"][0]["threads"]
    versions = [row["version"].replace("\n", ", ")
                for row in next(iter(first.values()))["rows"].values()]
    lines = ["# fxjit beside other runtimes", "",
             "Made by `bench/peers/run`. Microseconds a call, f32, 10th "
             "percentile; one process a runtime, pinned alike, taking turns "
             f"of {settings['seconds']} s in {settings['rounds']} rounds. For "
             "runtimes called from Python the cost of an empty call is taken "
             "off. Ratio: the better of ONNX Runtime and OpenVINO over fxjit; "
             "rounds: its least and greatest value in one round, with a star "
             "where other processes were busy most of the time.", "",
             f"{machine['cpu']}, {machine['cpus']} CPUs, huge pages "
             f"{machine['huge_pages']}, {machine['system']}, "
             f"Python {machine['python']}, {machine['date']}.", ""]
    lines += [f"- {version}" for version in versions] + [""]
    for threads in sorted({count for _, count, _ in runs(results)}):
        lines += [f"## {threads} thread{'s' if threads > 1 else ''}", ""]
        lines += speed_table(results, threads)
    lines += ["## Called from Python", "",
              "Nothing is taken off. `fxjit.load` gets the arrays of inputs and "
              "results at each call; those of ONNX Runtime and OpenVINO are "
              "bound beforehand.", ""] + python_table(results, "python")
    lines += python_table(results, "torch_compile")
    lines += compile_table(results)
    lines += ["## Start and memory", "",
              "From the model's file to the first answer, one thread, the "
              "file in the page cache, caches of compiled code empty, "
              "libraries loaded before, fxjit's with the kernels that were "
              "compiled with it; private memory is RssAnon after the first "
              "answers.", ""] + start_table(results)
    lines += ["## As measured", "",
              "Errors are against PyTorch in double precision.", ""]
    lines += raw_table(results)
    path.write_text("\n".join(lines))


class Chart:
    """Horizontal bars of how many times as long as fxjit each peer takes."""

    WIDTH, LABEL, ROW, LIMIT = 860, 330, 15, 8.0
    COLOURS = {"fxjit": "#1b6ac9", "onnxruntime": "#e08a1e",
               "openvino": "#7a5fb5", "inductor": "#c9483b",
               "eager": "#9aa0a6", "graph": "#8fbbe8"}

    def __init__(self, names):
        self.y, self.parts, self.names = 0, [], names

    def text(self, x, y, words, size=12, anchor="start", weight="normal"):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" '
            f'text-anchor="{anchor}" font-weight="{weight}">{words}</text>')

    def box(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height}" fill="{colour}"/>')

    def legend(self):
        x = 12
        for name in self.names:
            self.box(x, self.y, 12, 12, self.COLOURS[name])
            self.text(x + 17, self.y + 10, LABELS[name])
            x += 40 + 7 * len(LABELS[name])
        self.y += 30

    def bars(self, title, rows):
        full = self.WIDTH - self.LABEL - 120
        own = rows["fxjit"]["p10_us"]
        name, _, size = title.partition(", ")
        self.text(self.LABEL - 10, self.y + 12, name, anchor="end")
        self.text(self.LABEL - 10, self.y + 27, size, anchor="end")
        for name, row in rows.items():
            if name not in self.names:
                continue
            times = row["p10_us"] / own
            width = min(times, self.LIMIT) / self.LIMIT * full
            self.box(self.LABEL, self.y, width, self.ROW - 2,
                     self.COLOURS[name])
            more = ">" if times > self.LIMIT else ""
            self.text(self.LABEL + width + 5, self.y + self.ROW - 4,
                      f"{more} {times:.2f}x, {duration(row['p10_us'])}", 10)
            self.y += self.ROW
        self.y += 12

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.WIDTH}" '
                f'height="{self.y}" font-family="sans-serif" fill="#222">'
                f'<rect width="100%" height="100%" fill="#fff"/>'
                + "\n".join(self.parts) + "</svg>\n")


def write_chart(results, path, names, most_threads):
    chart = Chart(names)
    chart.y = 26
    chart.text(12, chart.y, "Time of a call, in units of fxjit's (less is "
               "better)", 16, weight="bold")
    chart.y += 18
    chart.legend()
    for threads in sorted({count for _, count, _ in runs(results)}):
        if threads > most_threads:
            continue
        chart.text(12, chart.y + 8, f"{threads} thread"
                   f"{'s' if threads > 1 else ''}", 14, weight="bold")
        chart.y += 22
        for workload, count, run in runs(results):
            if count == threads:
                chart.bars(workload["title"], run["rows"])
        chart.y += 6
    path.write_text(chart.svg())


def main():
    folder = pathlib.Path(sys.argv[1])
    results = json.loads((folder / "results.json").read_text())
    write_table(results, folder / "table.md")
    present = {name for _, _, run in runs(results) for name in run["rows"]}
    if "fxjit" not in present:
        return  # The charts show multiples of its times.
    write_chart(results, folder / "chart.svg",
                [name for name in OF_SPEED if name in present], 1 << 20)
    write_chart(results, folder / "overview.svg", ["fxjit", *RIVALS], 1)


if __name__ == "__main__":
    main()
