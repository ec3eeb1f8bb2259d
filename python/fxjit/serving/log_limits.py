"""What keeps the log small, whoever asks: lines of at most 1 KB, at most ten refusals of one kind a
second, and no line for each new shape."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

MOST_BYTES = 1024
MOST_A_SECOND = 10
CUTS = (400, 100, 30)  # Characters of each text, tried one after the other.


def line_of(fields: dict[str, Any]) -> str:
    """The fields as a line of JSON, with texts cut until it is short enough. Of a traceback the end
    is kept, which says what happened."""
    line = json.dumps(fields, default=str)
    for most in CUTS:
        if len(line) <= MOST_BYTES:
            break
        line = json.dumps({name: _cut(name, value, most) for name, value in fields.items()})
    if len(line) > MOST_BYTES:
        line = json.dumps({name: _cut(name, fields[name], CUTS[-1])
                           for name in ("time", "level", "event")})
    return line


def _cut(name: str, value: Any, most: int) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if len(text) <= most:
        return value
    return f"...{text[-most:]}" if name == "traceback" else f"{text[:most]}..."


class Shapes(logging.Filter):
    """Of the library's logger: that a new shape is compiled is for debugging."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno == logging.INFO and record.getMessage().startswith("[compile]"):
            record.levelno, record.levelname = logging.DEBUG, "DEBUG"
            return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
        return True


class OfOneKind(logging.Filter):
    """Lets pass so many warnings of one event and reason a second; the next that passes says as
    `left_out` how many did not."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, str], list[float]] = {}  # Second, passed, left out.

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        second = float(int(time.monotonic()))
        kind = (str(record.msg)[:100], str(getattr(record, "reason", "")))
        seen = self._kinds.setdefault(kind, [second, 0, 0])
        if seen[0] != second:
            seen[0], seen[1] = second, 0
        if seen[1] >= MOST_A_SECOND:
            seen[2] += 1
            return False
        seen[1] += 1
        if seen[2]:
            record.left_out, seen[2] = int(seen[2]), 0
        return True
