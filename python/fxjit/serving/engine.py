"""What computes behind the server: a model of fxjit, addressed by the names and datatypes of the
protocol."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Protocol

import numpy as np

import fxjit

from .datatypes import PROTOCOL_OF, Tensor
from .errors import BadRequest, ModelFailed
from .held_files import HeldFiles
from .redaction import without_paths
from .symbols import named_sizes

# What a call raises for arguments that the model does not take.
REFUSALS = (TypeError, ValueError, OverflowError, IndexError)


class Engine(Protocol):
    """A loaded model. Calls may run in several threads."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    def example(self) -> dict[str, tuple[int, ...]] | None:
        """For each input, sizes that fit together; None if nothing tells them."""

    def run(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Computes one array for each of `outputs` from one array for each of `inputs`. Raises
        BadRequest for what the model refuses, ModelFailed for its other errors."""

    def compiled_size(self) -> tuple[int, int]:
        """The number of compiled programs that are kept, and their bytes."""


def _datatype(path: str, name: str, dtype: str | None) -> str:
    if dtype is None:
        return "INT64"  # A number, which the protocol has as a tensor of one element.
    try:
        return PROTOCOL_OF[np.dtype(dtype)]
    except (KeyError, TypeError):
        raise fxjit.UserError(f"{path}: {name} is of {dtype}, which the Open Inference Protocol "
                              "or NumPy has no type for") from None


def _example_of(inputs: list[Any]) -> dict[str, tuple[int, ...]] | None:
    """The sizes of the exported call. If the file has none, as in ONNX, each symbol is guessed: 1
    row, 16 of everything else."""
    guessed: dict[str, int] = {}
    made: dict[str, tuple[int, ...]] = {}
    for one in inputs:
        sizes = []
        for place, (size, known) in enumerate(zip(one.sizes, one.example, strict=True)):
            if known is None and not str(size).isidentifier():
                return None
            guess = 1 if place == 0 else 16
            sizes.append(guessed.setdefault(size, guess) if known is None else known)
        made[one.name] = tuple(sizes) if one.dtype is not None else (1,)
    return made


def _opened(path: str, options: dict[str, Any], files: HeldFiles) -> fxjit.Model:
    """The model, whose errors name its files though it opens copies of them."""
    options = dict(options)
    weights = options.pop("weights", "")
    names: dict[str, str] = {}
    try:
        for file in (path, weights) if weights else (path,):
            names[files.opened(pathlib.Path(file))] = file
        return fxjit.Model(*names, *([] if weights else [""]), options, path)
    except fxjit.UserError as error:
        text = str(error)
        for opened, file in names.items():
            text = text.replace(opened, file)
        raise fxjit.UserError(text) from None
    finally:
        files.opening_done()


class FxjitEngine:
    """A model that fxjit.load takes. `options` are those of fxjit.load; `signature` states
    inputs and outputs of files that do not hold them; `files` takes the files, else they are
    mapped as they are. Outputs without a datatype, such as numbers, are left out."""

    def __init__(self, path: str | os.PathLike[str], options: dict[str, Any] | None = None,
                 signature: tuple[tuple[Tensor, ...], tuple[Tensor, ...]] | None = None,
                 files: HeldFiles | None = None):
        self._path, self._files = os.fspath(path), files
        self._model = (_opened(self._path, options or {}, files) if files
                       else fxjit.load(self._path, **(options or {})))
        described, made = named_sizes(self._model.inputs, self._model.outputs)
        self._tensors: list[int] = []  # The outputs that are tensors, by place.
        self._constants = [one.constant for one in described]
        self._numbers = [one.dtype is None and not one.constant for one in described]
        taken = [one for one in described if not one.constant]
        if signature is not None:
            self.inputs, self.outputs = signature
            self._numbers = [False] * len(described)
        elif not made:
            raise fxjit.UserError(f"{self._path}: it names no dtypes and sizes of its inputs and "
                                  "outputs: state them in model.json")
        else:
            self.inputs = tuple(self._input(one) for one in taken)
            self._tensors = [place for place, one in enumerate(made) if one.dtype is not None]
            self.outputs = tuple(Tensor(
                str(made[place]), _datatype(self._path, made[place], made[place].dtype),
                tuple(made[place].sizes)) for place in self._tensors)
        if len(self.inputs) != len(taken):
            raise fxjit.UserError(f"{self._path}: {len(taken)} inputs, model.json states "
                                  f"{len(self.inputs)}")
        self._example = _example_of(taken) if signature is None else None

    def _input(self, one: Any) -> Tensor:
        sizes = tuple(one.sizes) if one.dtype is not None else (1,)
        return Tensor(one.name, _datatype(self._path, one.name, one.dtype), sizes,
                      tuple(one.most))

    def example(self) -> dict[str, tuple[int, ...]] | None:
        return self._example

    def run(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        given = iter(arrays)
        leaves = [constant[0] if constant else next(given) for constant in self._constants]
        leaves = [int(leaf[0]) if number else leaf
                  for leaf, number in zip(leaves, self._numbers, strict=True)]
        try:
            results = self._model.call_leaves(leaves)
        except (fxjit.InternalError, NotImplementedError, MemoryError) as error:
            raise ModelFailed(without_paths(error), str(error)) from error
        except (*REFUSALS, RuntimeError) as error:
            raise BadRequest(without_paths(error), str(error)) from error
        if self._files and self._files.lost():
            raise ModelFailed("the model's file was cut off while it was read")
        return [results[place] for place in self._tensors] if self._tensors else results

    def compiled_size(self) -> tuple[int, int]:
        return self._model.compiled_size
