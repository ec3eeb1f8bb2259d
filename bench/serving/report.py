"""results.json, table.md and chart.svg of measure.py."""

import json

COLOURS = {"fxjit": "#1f6f8b", "onnxruntime": "#c9803a", "pytorch": "#8a8a8a"}


def table_of(results):
    lines = [f"{results['cpu']}, {results['instances']} CPUs, the load of other processes "
             f"{results['other_load']:.1f}, {results['date']}. {results['instances']} calls at a "
             f"time, each of {results['threads']} threads; clients on the same CPUs. Times in ms; "
             "ours: the part of a request's time in the server that is neither the queue nor the "
             "model's.", "",
             "| model | load | engine | requests/s | p50 | p99 | CPU s/request | compute | ours |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for model, one in results["models"].items():
        for kind, load, cells in one["rows"]:
            name = f"{load} connections" if kind == "closed" else f"{load}/s, open loop"
            for engine, cell in cells.items():
                stages = cell["stages"]
                lines.append(
                    f"| {model} | {name} | {engine} | {cell['throughput']:.1f} | {cell['p50']:.1f}"
                    f" | {cell['p99']:.1f} | {cell['cpu']:.4f} | {stages['compute']:.2f} |"
                    f" {stages['ours']:.2f} |")
    lines += ["", "| model | engine | most memory, MB |", "| --- | --- | --- |"]
    lines += [f"| {model} | {engine} | {memory:.0f} |"
              for model, one in results["models"].items()
              for engine, memory in one["memory"].items()]
    return "\n".join(lines) + "\n"


def chart_of(results):
    """Throughput of the closed loop as bars, relative to the best of each load."""
    bars, y = [], 30
    for model, one in results["models"].items():
        for kind, load, cells in one["rows"]:
            if kind != "closed":
                continue
            bars.append(f'<text x="8" y="{y + 12}" font-weight="bold">{model}, {load} '
                        "connections</text>")
            best = max(cell["throughput"] for cell in cells.values())
            for engine, cell in cells.items():
                y += 18
                width = 380 * cell["throughput"] / best
                bars.append(f'<text x="110" y="{y + 12}" text-anchor="end">{engine}</text>'
                            f'<rect x="118" y="{y}" width="{width:.1f}" height="14" '
                            f'fill="{COLOURS[engine]}"/><text x="{124 + width:.1f}" y="{y + 12}">'
                            f'{cell["throughput"]:.1f}/s</text>')
            y += 28
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="{y}" '
            'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" '
            'fill="white"/><text x="8" y="18">Requests a second, closed loop</text>'
            + "".join(bars) + "</svg>\n")


def write_report(results, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "table.md").write_text(table_of(results))
    (folder / "chart.svg").write_text(chart_of(results))
    print(table_of(results))
