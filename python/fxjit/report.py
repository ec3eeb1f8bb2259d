"""What was compiled and what it takes, as texts that also give their numbers."""

import html
import json


class Report(str):
    """What became of a model's graph. Prints as text; `programs` has it as lists and dicts:
    one program for each tuple of input shapes (and part of the graph), with its steps."""

    def __new__(cls, text, as_json):
        report = super().__new__(cls, text)
        report.programs = json.loads(as_json)["programs"]
        return report

    @property
    def rows(self):
        """The steps of all programs, in order."""
        return [step for program in self.programs for step in program["steps"]]

    @property
    def native(self):
        """Whether nothing is left to the interpreter."""
        return not any(step["reason"] for step in self.rows) and not any(
            program["why_not"] for program in self.programs)

    def _repr_html_(self):
        return f"<pre>{html.escape(self)}</pre>"


class Profile(Report):
    """A table with the time of each step. `rows` has the steps with microseconds and share."""

    def _repr_html_(self):
        cells = [(f"{row['microseconds']:.1f}", f"{100 * row['share']:.0f}%", row["label"],
                  ", ".join(node["name"] for node in row["nodes"])) for row in self.rows]
        lines = [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>"
                 for line in cells]
        return ("<table><tr><th>us</th><th>share</th><th>step</th><th>nodes</th></tr>"
                f"{''.join(lines)}</table>")
