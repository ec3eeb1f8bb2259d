"""Writes src/fx/torch_schemas_tables.cpp: the schemas that torch 2.13 has for the
functions whose names stand in the op table.

Run with a Python that has torch 2.13.0, after ops were added:

    python tests/fx/make_torch_schemas.py
"""

import pathlib
import re

import torch
from torch.fx.operator_schemas import get_signature_for_torch_op

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / "src" / "fx" / "torch_schemas_tables.cpp"

HEAD = """\
// Written by tests/fx/make_torch_schemas.py from torch {version}.
#include "src/fx/torch_schemas.h"

namespace fxjit::fx {{
namespace {{

constexpr TorchSchema kSchemas[] = {{
"""

TAIL = """\
};

}  // namespace

std::span<const TorchSchema> all_torch_schemas() { return kSchemas; }

}  // namespace fxjit::fx
"""


def resolve(name):
    found = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def names():
    text = "".join(
        path.read_text()
        for path in sorted((ROOT / "src" / "ops" / "families").glob("*.cpp"))
    )
    found = set(re.findall(r"\btorch(?:\.\w+)+", text))
    return sorted(name for name in found if not name.startswith("torch.ops."))


def rows(name):
    function = resolve(name)
    if not callable(function):
        return []
    schemas = get_signature_for_torch_op(function, return_schemas=True)[1]
    texts = [str(schema).replace('"', '\\"') for schema in schemas or []]
    return [f'    {{"{name}",\n     "{text}"}},\n' for text in texts]


def main():
    version = torch.__version__.split("+")[0]
    text = HEAD.format(version=version)
    text += "".join(row for name in names() for row in rows(name)) + TAIL
    if not OUTPUT.exists() or OUTPUT.read_text() != text:
        OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
