"""The server's log: one line of JSON for each event, with the fields given as `extra`."""

from __future__ import annotations

import datetime
import logging
import sys

from .log_limits import OfOneKind, Shapes, line_of

_OWN = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName",
                                                  "color_message"}


def _time(record: logging.LogRecord) -> str:
    """UTC with milliseconds, as RFC 3339 writes it."""
    at = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _time(record),
                "level": record.levelname.lower(), "event": record.getMessage(),
                **{name: value for name, value in record.__dict__.items() if name not in _OWN}}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return line_of(line)


def set_up(level: str) -> None:
    """Sends the log of fxjit to standard error; other libraries' from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(OfOneKind())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    library = logging.getLogger("fxjit")
    library.setLevel(level.upper())
    library.addFilter(Shapes())
