"""What models take, what was compiled and how long it runs, as texts that also give their
numbers."""

from __future__ import annotations

import html
import json
from typing import Any


class Input(str):
    """An input of a model. Prints as "x: float32[2, s0]"; `path` is where a caller has it
    ("d['b']"), `dtype` None where it is no tensor, `sizes` numbers and names of symbols,
    `example` the sizes in the call that was exported and `most` the largest (None where they are
    not known). `constant` is a tuple of the value that the program holds for, empty where it takes
    any."""

    name: str
    path: str
    dtype: str | None
    sizes: list[int | str]
    example: list[int | None]
    most: list[int | None]
    constant: tuple[Any, ...]

    def __new__(cls, text: str, name: str, path: str, dtype: str | None,
                sizes: list[int | str], example: list[int | None],
                most: list[int | None]) -> Input:
        made = super().__new__(cls, text)
        made.name, made.path, made.dtype, made.sizes = name, path, dtype, sizes
        made.example, made.most, made.constant = example, most, ()
        return made


class Output(str):
    """An output of a model. Prints as its name; `path` is where the result has it ("['z'][0]"),
    `dtype` None where it is no tensor, `sizes` numbers and names of the inputs' symbols."""

    path: str
    dtype: str | None
    sizes: list[int | str]

    def __new__(cls, name: str, path: str, dtype: str | None, sizes: list[int | str]) -> Output:
        made = super().__new__(cls, name)
        made.path, made.dtype, made.sizes = path, dtype, sizes
        return made


class Report(str):
    """What became of a model's graph. Prints as text; `programs` has it as lists and dicts:
    one program for each tuple of input shapes (and part of the graph), with its steps. `kinds`
    tells which sizes of inputs have names, their ranges, and what is assumed of them."""

    programs: list[dict[str, Any]]
    kinds: list[dict[str, Any]]

    def __new__(cls, text: str, as_json: str) -> Report:
        report = super().__new__(cls, text)
        facts = json.loads(as_json)
        report.programs, report.kinds = facts["programs"], facts["kinds"]
        return report

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The steps of all programs, in order."""
        return [step for program in self.programs for step in program["steps"]]

    @property
    def native(self) -> bool:
        """Whether nothing is left to the interpreter."""
        return not any(step["reason"] for step in self.rows) and not any(
            program["why_not"] for program in self.programs)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


class Profile(Report):
    """A table with the time of each step. `rows` has the steps with microseconds and share."""

    def _repr_html_(self) -> str:
        cells = [(f"{row['microseconds']:.1f}", f"{100 * row['share']:.0f}%", row["label"],
                  ", ".join(node["name"] for node in row["nodes"])) for row in self.rows]
        lines = [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>"
                 for line in cells]
        return ("<table><tr><th>us</th><th>share</th><th>step</th><th>nodes</th></tr>"
                f"{''.join(lines)}</table>")
