"""Requests and answers as the server works with them, whatever protocol brought them."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .datatypes import Tensor
from .errors import BadRequest, short

# Parameters of Triton's extensions: what they ask for would be silently missing.
REFUSED = ("sequence_id", "sequence_start", "sequence_end", "shared_memory_region")
LAST = 2**64


@dataclass
class Request:
    """What a client asks of a model.

    outputs: names, with whether each is wanted in the binary form (None: as `binary` says);
        empty: all outputs.
    deadline: of time.monotonic(); None: none.
    priority: of those that wait the lowest number is next.
    """

    inputs: dict[str, np.ndarray]
    id: str = ""
    outputs: dict[str, bool | None] = field(default_factory=dict)
    binary: bool = False
    deadline: float | None = None
    priority: int = LAST

    def check_names(self, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]) -> None:
        """BadRequest unless the inputs are those of the model, and the outputs some of its."""
        known = [one.name for one in inputs]
        if set(known) != self.inputs.keys():
            raise BadRequest(f"expected the inputs {', '.join(known)}, "
                             f"got {short(', '.join(self.inputs)) or 'none'}")
        known = [one.name for one in outputs]
        for name in self.outputs:
            if name not in known:
                raise BadRequest(f"output {short(name)}: expected some of {', '.join(known)}")


@dataclass
class Answer:
    """Outputs by name, in the order in which they were asked for."""

    model: str
    version: str
    id: str
    outputs: dict[str, np.ndarray]


def new_id() -> str:
    """For the log, of a request that brings none."""
    return f"{random.getrandbits(128):032x}"


def check_parameters(parameters: Any) -> dict[str, Any]:
    """The parameters of a request or tensor; BadRequest for those that nothing here serves."""
    if parameters is None:
        return {}
    if not isinstance(parameters, dict):
        raise BadRequest("parameters: expected an object")
    for name in REFUSED:
        if parameters.get(name):
            raise BadRequest(f"parameters: {name} is not supported")
    return parameters


def whole_number(what: str, given: Any, most: int) -> int:
    """A number of a text of digits, or of an integer; BadRequest beyond `most`."""
    if isinstance(given, str) and given.isascii() and given.isdecimal() and len(given) < 20:
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= most:
        raise BadRequest(f"{what}: expected a number up to {most}, got {short(str(given))}")
    return given


def deadline_of(parameters: dict[str, Any]) -> float | None:
    """Triton's parameter `timeout`, in microseconds from now."""
    timeout = parameters.get("timeout")
    if timeout is None:
        return None
    microseconds = whole_number("parameters: timeout: of microseconds", timeout, 2**63 - 1)
    return time.monotonic() + microseconds / 1e6 if microseconds else None


def priority_of(parameters: dict[str, Any]) -> int:
    """Triton's parameter `priority`: 1 is the first; 0 and none are the last."""
    given = parameters.get("priority")
    return whole_number("parameters: priority", 0 if given is None else given, 2**64 - 1) or LAST


def sooner(a: float | None, b: float | None) -> float | None:
    return min(a, b) if a is not None and b is not None else a if b is None else b
