"""What a user's Python file puts before a model: text that becomes tokens, for one.

The file has a class Front:

    class Front:
        inputs = [Tensor("text", "BYTES", ("texts",))]     # What clients send.
        outputs = [Tensor("embeddings", "FP32", ("texts", 384))]

        def __init__(self, folder): ...                    # The folder of the file.
        def before(self, inputs): ...                      # Arrays by name, for the model.
        def after(self, outputs): return outputs           # Of the model, for clients.

`before` may raise BadRequest. Both run in a thread of their own, one call at a time.
"""

from __future__ import annotations

import importlib.util
import itertools
import pathlib
import sys
from typing import Any, Protocol

import numpy as np

import fxjit

from .batch_plan import check_array
from .datatypes import Tensor

_numbers = itertools.count()


class UserFront(Protocol):
    inputs: list[Tensor]
    outputs: list[Tensor]

    def before(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]: ...
    def after(self, outputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]: ...


class Front:
    """The user's object, with its inputs checked before it sees them."""

    def __init__(self, user: UserFront):
        self._user = user
        self.inputs, self.outputs = tuple(user.inputs), tuple(user.outputs)

    def before(self, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        symbols: dict[str, int] = {}
        for one in self.inputs:
            check_array(one, given[one.name], symbols)
        return self._user.before(given)

    def after(self, outputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return self._user.after(outputs)


def load_front(path: pathlib.Path) -> Front:
    """Runs the file and makes its Front. fxjit.UserError where it has none."""
    name = f"fxjit_front_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise fxjit.UserError(f"{path}: there is no such Python file")
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        return Front(module.Front(path.parent))
    except Exception as error:  # The code is the user's.
        raise fxjit.UserError(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        del sys.modules[name]
