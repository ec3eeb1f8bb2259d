"""Writes torch's half of overloads.inc: the functions of torch that stand for each
overload, and its schema. What serves an overload is kept as it is found.

Has rows for the overloads that are served and for those of the functions that the
op table names. With torch 2.13. `--check` writes nothing and fails where the file
would change.
"""

import collections
import pathlib
import re
import sys

import torch
from torch.fx.operator_schemas import get_signature_for_torch_op

FOLDER = pathlib.Path(__file__).resolve().parent
FILE = FOLDER / "overloads.inc"


def key_of(schema):
    return f"{schema.name[6:]}.{schema.overload_name or 'default'}"


def torch_schemas():
    return {key_of(schema): str(schema)
            for schema in torch._C._jit_get_all_schemas()
            if schema.name.startswith("aten::")}


def resolve(name):
    found = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def function_names():
    families = sorted((FOLDER.parent / "families").rglob("*.cpp"))
    text = "".join(path.read_text() for path in families)
    found = set(re.findall(r"\btorch(?:\.\w+)+", text))
    return sorted(name for name in found if not name.startswith("torch.ops."))


def functions_of_overloads():
    functions = collections.defaultdict(list)
    for name in function_names():
        function = resolve(name)
        if not callable(function):
            continue
        found = get_signature_for_torch_op(function, return_schemas=True)[1]
        for schema in found or []:
            functions[key_of(schema)].append(name)
    return functions


def main():
    old = FILE.read_text()
    head = re.match(r"(//.*\n)*", old)[0]
    calls = dict(re.findall(r'^\{"([^"]+)", "([^"]*)"', old, re.MULTILINE))
    functions = functions_of_overloads()
    schemas = torch_schemas()
    text = head
    for key in sorted({key for key in calls if calls[key]} | set(functions)):
        schema = schemas[key]
        schema = schema[schema.index("("):].replace('"', '\\"')
        text += (f'{{"{key}", "{calls.get(key, "")}", '
                 f'"{" ".join(functions[key])}", "{schema}"}},\n')
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text)
    elif old != text:
        sys.exit("overloads.inc is not what make_schemas.py writes")


if __name__ == "__main__":
    main()
