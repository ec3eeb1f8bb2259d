"""Writes torch's half of overloads.inc, and unserved.inc. What serves an overload is
kept as it is found.

They have the overloads that are served and those of the functions that the op table
names. With torch 2.13. `--check` writes nothing and fails where a file would change.
"""

import collections
import pathlib
import re
import sys

import torch
from torch.fx.operator_schemas import get_signature_for_torch_op

FOLDER = pathlib.Path(__file__).resolve().parent
SERVED = FOLDER / "overloads.inc"
UNSERVED = FOLDER / "unserved.inc"
# Parameters of functions that make tensors.
OF_NEW = ("ScalarType? dtype=", "Layout? layout=", "Device? device=",
          "bool? pin_memory=")


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


def with_out(schema):
    """The schema of the overload that writes to a given tensor, as
    schema_with_out() of torch_schema.h derives it."""
    parts = re.split(r", (?![^\[(]*[\])])", schema[1:schema.rindex(") -> ")])
    if any(part.startswith("Layout? layout=") for part in parts):
        parts = [part for part in parts if not part.startswith(OF_NEW)]
    if "*" not in parts:
        parts.append("*")
    return f"({', '.join(parts)}, Tensor(a!) out) -> Tensor(a!)"


def in_place(text):
    """The call or schema of the overload that does the same in place, as overload.cpp
    derives it."""
    if not text.startswith("("):
        return re.sub(r"^\w+", r"\g<0>_", text)
    return text[:text.rindex(" -> ")].replace("(Tensor ", "(Tensor(a!) ", 1) + " -> Tensor(a!)"


def in_place_key(key):
    return key.replace(".", "_.")


def served():
    """{overload: what serves it}, of overloads.inc"""
    calls = {}
    for key, call, others in re.findall(
            r'^\{"([^"]+)", "([^"]*)"(?:, "[^"]*", "([^"]*)")?', SERVED.read_text(),
            re.MULTILINE):
        calls[key] = call
        if "_" in others.split():
            calls[in_place_key(key)] = in_place(call)
    return {key: call for key, call in calls.items() if call}


def written_of(calls, rows):
    """The overloads whose form in place is derived."""
    return {key for key, (functions, schema) in rows.items()
            if calls.get(key) and (written := in_place_key(key)) in rows
            and calls.get(written) == in_place(calls[key])
            and rows[written][1] == in_place(schema)
            and all(name.endswith("_") for name in rows[written][0].split())
            and not any(name.endswith("_") for name in functions.split())}


def outs_of(unserved, rows):
    """{overload: the one that writes to a given tensor, where it is derived}"""
    bases = {}
    for key, (functions, schema) in rows.items():
        place = key.split(".")[0], functions, with_out(schema)
        bases.setdefault(place, key)
    found = {}
    for key in unserved:
        base = bases.get((key.split(".")[0], *rows[key]))
        if base and base not in found:
            found[base] = key
    return found


def texts(calls, rows):
    unserved = [key for key in rows if not calls.get(key)]
    outs = outs_of(unserved, rows)
    written = written_of(calls, rows)
    derived = set(outs.values()) | set(map(in_place_key, written))
    lines, groups = "", collections.defaultdict(list)
    for key, (functions, schema) in rows.items():
        name, overload = key.split(".")
        others = [outs[key].split(".")[1]] if key in outs else []
        if key in derived:
            continue
        if not calls.get(key) and not others and functions == f"torch.{name}":
            groups[overload, schema].append(name)
            continue
        if key in written:
            others.append("_")
            functions = f"{functions} {rows[in_place_key(key)][0]}".strip()
        lines += (f'{{"{key}", "{calls.get(key, "")}", "{functions}", '
                  f'"{" ".join(others)}", "{schema}"}},\n')
    return lines, "".join(
        f'{{"{overload}", "{" ".join(names)}", "{schema}"}},\n'
        for (overload, schema), names in sorted(groups.items()))


def main():
    calls = served()
    functions = functions_of_overloads()
    schemas = torch_schemas()
    rows = {}
    for key in sorted(set(calls) | set(functions)):
        schema = schemas[key]
        rows[key] = (" ".join(functions[key]),
                     schema[schema.index("("):].replace('"', '\\"'))
    for path, text in zip((SERVED, UNSERVED), texts(calls, rows)):
        old = path.read_text()
        text = re.match(r"(//.*\n)*", old)[0] + text
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
        elif old != text:
            sys.exit(f"{path.name} is not what make_schemas.py writes")


if __name__ == "__main__":
    main()
