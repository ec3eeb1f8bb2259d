"""Writes schemas.inc: torch's schemas of the overloads of overloads.inc.

With torch 2.13. `--check` writes nothing and fails where the file would change.
"""

import pathlib
import re
import sys

import torch

FOLDER = pathlib.Path(__file__).parent


def overload_names():
    text = (FOLDER / "overloads.inc").read_text()
    return re.findall(r'^\{"([^"]+)"', text, re.MULTILINE)


def torch_schemas():
    schemas = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::"):
            overload = schema.overload_name or "default"
            schemas[f"{schema.name[6:]}.{overload}"] = str(schema)
    return schemas


def parameters(schema):
    """What stands between the outer parentheses, before the arrow."""
    return schema[schema.index("(") + 1 : schema.rindex(") -> ")]


def main():
    names = overload_names()
    if names != sorted(names):
        sys.exit("overloads.inc is not sorted by name")
    schemas = torch_schemas()
    lines = ["// Made by make_schemas.py from torch's schemas: do not edit.\n"]
    for name in names:
        text = parameters(schemas[name]).replace('"', "'")
        lines.append(f'{{"{name}", "{text}"}},\n')
    file = FOLDER / "schemas.inc"
    if "--check" in sys.argv[1:]:
        if file.read_text() != "".join(lines):
            sys.exit("torch's schemas are no longer those of schemas.inc")
    else:
        file.write_text("".join(lines))


if __name__ == "__main__":
    main()
