"""Names of the sizes that change from call to call."""

from __future__ import annotations

import re
from typing import Any

_WORD = re.compile(r"[A-Za-z_]\w*")


def _is_computed(text: str, known: set[str]) -> bool:
    """Whether it is an expression of sizes that have names of their own, as 2*n is beside n."""
    words = _WORD.findall(text)
    return bool(words) and set(words) <= known


def _name_of(text: str, taken: set[str]) -> str:
    """An identifier near the text, unlike those that are taken."""
    name = re.sub(r"\W+", "_", text).strip("_") or "size"
    name = name if name.isidentifier() else f"size_{name}"
    while name in taken:
        name += "_"
    return name


def named_sizes(inputs: list[Any], outputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """Descriptions of a model's inputs and outputs, with an identifier for each symbol. ONNX lets a
    symbol have any text ("batch size"), and torch.export gives an input whose size is said to be a
    multiple that expression (2*n) and nothing else: both are symbols like others. Expressions of
    other inputs' symbols stay."""
    known = {size for one in inputs for size in one.sizes
             if isinstance(size, str) and size.isidentifier()}
    names: dict[str, str] = {}
    for one in inputs:
        for size in one.sizes:
            if isinstance(size, str) and size not in known and size not in names and (
                    not _is_computed(size, known)):
                names[size] = _name_of(size, known | set(names.values()))
    for one in (*inputs, *outputs):
        one.sizes = [names.get(size, size) if isinstance(size, str) else size
                     for size in one.sizes]
    return inputs, outputs
