"""Requests and answers as the server works with them, whatever protocol brought them."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .datatypes import Tensor
from .errors import BadRequest

# Parameters of Triton's extensions: what they ask for would be silently missing.
REFUSED = ("sequence_id", "sequence_start", "sequence_end", "shared_memory_region")


@dataclass
class Request:
    """What a client asks of a model.

    outputs: names, with whether each is wanted in the binary form (None: as `binary` says);
        empty: all outputs.
    deadline: of time.monotonic(); None: none.
    """

    inputs: dict[str, np.ndarray]
    id: str = ""
    outputs: dict[str, bool | None] = field(default_factory=dict)
    binary: bool = False
    deadline: float | None = None

    def check_names(self, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]) -> None:
        """BadRequest unless the inputs are those of the model, and the outputs some of its."""
        known = [one.name for one in inputs]
        if set(known) != self.inputs.keys():
            raise BadRequest(f"expected the inputs {', '.join(known)}, "
                             f"got {', '.join(self.inputs) or 'none'}")
        known = [one.name for one in outputs]
        for name in self.outputs:
            if name not in known:
                raise BadRequest(f"output {name}: expected some of {', '.join(known)}")


@dataclass
class Answer:
    """Outputs by name, in the order in which they were asked for."""

    model: str
    version: str
    id: str
    outputs: dict[str, np.ndarray]


def new_id() -> str:
    """For the log, of a request that brings none."""
    return uuid.uuid4().hex


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


def deadline_of(parameters: dict[str, Any]) -> float | None:
    """Triton's parameter `timeout`, in microseconds from now."""
    timeout = parameters.get("timeout")
    if timeout is None:
        return None
    if isinstance(timeout, str) and timeout.isdecimal():
        timeout = int(timeout)
    if isinstance(timeout, bool) or not isinstance(timeout, int) or timeout < 0:
        raise BadRequest(f"parameters: timeout: expected microseconds, got {timeout!r}")
    return time.monotonic() + timeout / 1e6 if timeout else None


def sooner(a: float | None, b: float | None) -> float | None:
    return min(a, b) if a is not None and b is not None else a if b is None else b
