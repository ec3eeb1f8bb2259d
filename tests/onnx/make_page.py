"""Writes docs/onnx.md: its text from page.md beside this script, the table of
ops from src/import/onnx/ops, and the backend cases from claims.txt.

    python tests/onnx/make_page.py
"""

import collections
import pathlib
import re

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent

GROUPS = {
    "light": "networks with constant weights",
    "node": "one op each",
    "pytorch-converted": "layers, converted from PyTorch",
    "pytorch-operator": "operators, exported from PyTorch",
    "simple": "a few ops each",
}


def domain_names():
    """The constants by which rows name their domain."""
    names = {}
    for file in (ROOT / "src/import/onnx/ops").glob("*.h"):
        names.update(re.findall(r'string_view (k\w+) = "([\w.]+)"',
                                file.read_text()))
    return names


def op_rows():
    ops = collections.defaultdict(list)
    domains = domain_names()
    for file in sorted((ROOT / "src/import/onnx/ops").glob("*.cpp")):
        text = file.read_text()
        for row in re.finditer(r'\{\.op = "(\w+)"(.*?)\},', text, re.S):
            since = re.search(r"\.since = (\d+)", row[2])
            domain = re.search(r'\.domain = "?([\w.]+)', row[2])
            name = row[1]
            if domain:
                name = domains.get(domain[1], domain[1]) + "." + name
            ops[name].append(int(since[1]) if since else 1)
    return ops


def claims():
    cases = []
    for line in (HERE / "claims.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            key, _, reason = line.partition("\t")
            group, name = key.split("/")
            cases.append((group, name, reason))
    return cases


def table_of_ops():
    lines = ["| op | from opset |", "|---|---|"]
    for name, versions in sorted(op_rows().items()):
        lines.append(f"| `{name}` | {', '.join(map(str, sorted(versions)))} |")
    return lines


def table_of_groups(cases):
    lines = ["| group | what | cases | pass |", "|---|---|---|---|"]
    for group, what in GROUPS.items():
        own = [reason for of, _, reason in cases if of == group]
        lines.append(f"| {group} | {what} | {len(own)} | "
                     f"{sum(not reason for reason in own)} |")
    return lines


def plain_reason(reason):
    """Without the file and the place, which differ from case to case."""
    reason = reason.removeprefix("compiled: ")
    reason = re.sub(r"^\[onnx\] (model\.onnx: |graph[^:]*: )?", "", reason)
    return re.sub(r" \(graph[^)]*\)", "", reason)


def failing(cases):
    reasons = collections.defaultdict(list)
    for group, name, reason in cases:
        if reason:
            reasons[plain_reason(reason)].append(f"{group}/{name}")
    lines = []
    for reason, names in sorted(reasons.items(),
                                key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"- {reason}: " +
                     ", ".join(f"`{name}`" for name in names))
    return lines


def main():
    cases = claims()
    text = (HERE / "page.md").read_text()
    parts = {"ops": table_of_ops(), "groups": table_of_groups(cases),
             "failing": failing(cases)}
    for name, lines in parts.items():
        text = text.replace(f"<!-- {name} -->", "\n".join(lines))
    (ROOT / "docs/onnx.md").write_text(text)


if __name__ == "__main__":
    main()
