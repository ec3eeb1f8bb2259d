"""Writes docs/aten.md: which overloads of ATen are served, and by what.

With torch 2.13, whose tags tell its core set. `--check` writes nothing and fails
where the file would change.
"""

import collections
import pathlib
import sys

import torch

import make_schemas

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parents[2] / "docs" / "aten.md"

# Why overloads of the core set are not served, by a part of their names.
REASONS = {
    "backward": "computes gradients",
}

# Functions of sizes, which src/fx computes beside the op table.
OF_SIZES = {"sym_storage_offset": {"default": "sizes and strides"}}

HEAD = """# The functions of ATen that are served

`src/ops/aten/make_page.py` writes this page from the table in `src/ops/aten`. Each
overload binds by torch's own schema: order, names, keyword-only arguments and defaults.
Arguments that cannot change a result on a CPU (`device="cpu"`, `layout=torch.strided`,
`memory_format`, `cudnn_enabled`, ...) are accepted; others that are not supported are
refused by name. `name_` stands for the form in place, `.out` for the one with a given
result.
"""


def served():
    """{name: {overload: what serves it}}"""
    table = collections.defaultdict(dict)
    for key, op in sorted(make_schemas.served().items()):
        name, overload = key.rsplit(".", 1)
        table[name][overload] = op
    return table | OF_SIZES


def core_overloads():
    for schema in torch._C._jit_get_all_schemas():
        space, name = schema.name.split("::")
        if space != "aten" or not hasattr(torch.ops.aten, name):
            continue
        overload = schema.overload_name or "default"
        function = getattr(getattr(torch.ops.aten, name), overload, None)
        if function is not None and torch.Tag.core in function.tags:
            yield name, overload


def reason_of(name):
    return next((text for part, text in REASONS.items() if part in name), None)


def core_section(table):
    core = sorted(set(core_overloads()))
    absent = [(n, o) for n, o in core if o not in table.get(n, {})]
    unexplained = [f"{n}.{o}" for n, o in absent if not reason_of(n)]
    if unexplained:
        sys.exit("core overloads without a reason: " + ", ".join(unexplained))
    lines = ["\n## Torch's core set\n",
             f"Of the {len(core)} overloads that torch tags `core`, "
             f"{len(core) - len(absent)} are served. The others are refused by name:\n"]
    lines += [f"- `{n}.{o}`: {reason_of(n)}" for n, o in absent]
    return lines


def table_section(table):
    count = sum(len(overloads) for overloads in table.values())
    lines = [f"\n## All {count}\n", "| function | overloads | served by |",
             "|---|---|---|"]
    for name, overloads in sorted(table.items()):
        ways = collections.defaultdict(list)
        for overload, op in overloads.items():
            ways[op].append(overload)
        for op, names in ways.items():
            spelled = ", ".join(f"`{n}`" for n in names)
            lines.append(f"| `{name}` | {spelled} | `{op}` |")
    return lines


def main():
    table = served()
    text = HEAD + "\n".join(core_section(table) + table_section(table)) + "\n"
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit(f"{PAGE.name} is not what make_page.py writes")


if __name__ == "__main__":
    main()
