"""Decides which requests of a model may share a call, joins their rows into one call, and cuts the
results apart again. Used by batcher.py.

A row is one index of dim 0. Inputs have rows if dim 0 of all of them has the same symbol. An output
has rows in each of its dims with that symbol, and a request is given its own rows of all of them.
Dims with other symbols may be padded if the model's configuration says that this changes no result
(Padding); outputs are cut back to the sizes of the request."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from .datatypes import Tensor, datatype_of
from .errors import BadRequest

MADE_UP = r"\b[su]\d+\b"  # A symbol that torch.export named.
Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Padding:
    """How inputs are padded: for each input by name, the number that fills the places behind its
    own, up to a multiple of `multiple`."""

    values: dict[str, float]
    multiple: int = 16


def row_symbol(inputs: tuple[Tensor, ...]) -> str | None:
    """The symbol that all inputs have as their dim 0; None if they share none."""
    first = {one.sizes[0] if one.sizes else None for one in inputs}
    symbol = first.pop() if len(first) == 1 else None
    return symbol if isinstance(symbol, str) and symbol.isidentifier() else None


def shown(sizes: tuple[int | str, ...]) -> str:
    """Sizes as text for a client. Symbols that the exporter made up (s77) become "batch" in dim 0
    and single letters elsewhere."""
    letters, names = iter("nmkpqrstuv"), {}
    if sizes and re.fullmatch(MADE_UP, str(sizes[0])):
        names[sizes[0]] = "batch"

    def name_of(symbol: re.Match[str]) -> str:
        if symbol[0] not in names:
            names[symbol[0]] = next(letters, symbol[0])
        return names[symbol[0]]

    return f"[{', '.join(re.sub(MADE_UP, name_of, str(size)) for size in sizes)}]"


def check_array(tensor: Tensor, array: np.ndarray, symbols: dict[str, int]) -> None:
    """Raises BadRequest unless datatype, rank and sizes of the array fit the input. Adds the size
    that each symbol stands for to `symbols`."""
    given = datatype_of(array)
    if given != tensor.datatype:
        raise BadRequest(f"input {tensor.name}: expected {tensor.datatype}, got {given}")
    fits = len(array.shape) == len(tensor.sizes)
    for size, wanted in zip(array.shape, tensor.sizes):
        if isinstance(wanted, int):
            fits = fits and size == wanted
        elif wanted.isidentifier():
            fits = fits and symbols.setdefault(wanted, size) == size
    if not fits:
        raise BadRequest(f"input {tensor.name}: expected the shape {shown(tensor.sizes)}, "
                         f"got {list(array.shape)}")


def _mentions(size: int | str, symbols: set[str]) -> bool:
    """Whether a size is computed from one of these symbols, without being one."""
    return isinstance(size, str) and size not in symbols and bool(
        symbols & set(re.findall(r"[A-Za-z_]\w*", size)))


class BatchPlan:
    """How the requests of one model share calls. If `rows` is None, they do not. Raises ValueError
    if the configuration asks for something impossible, such as cutting an output whose size is
    computed from the number of rows."""

    def __init__(self, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...],
                 batched: bool, padding: Padding | None = None):
        self.inputs, self.outputs = inputs, outputs
        self.rows = row_symbol(inputs) if batched else None
        self.padding = padding
        padded = set()
        for one in inputs if padding else ():
            if one.name in padding.values:
                padded |= {size for size in one.sizes if isinstance(size, str)}
        self.padded = padded - {self.rows}
        for one in inputs if padding else ():
            if one.name not in padding.values and self.padded & set(one.sizes):
                raise ValueError(f"pad: {one.name} has a padded dim, but no value to pad with")
        cut = self.padded | {self.rows} - {None}
        for one in outputs:
            if any(_mentions(size, cut) for size in one.sizes):
                raise ValueError(f"output {one.name}: its size is computed from one of "
                                 f"{', '.join(sorted(cut))}: it cannot be cut")
        self._most = {symbol: min((most for one in inputs
                                   if (most := one.most_of(symbol)) is not None), default=None)
                      for symbol in cut}

    def most_rows(self, wanted: int) -> int:
        """The most rows of a call: as many as are wanted, if the model takes that many."""
        most = self._most.get(self.rows)
        return wanted if most is None else min(wanted, most)

    def symbols_of(self, arrays: list[np.ndarray]) -> dict[str, int]:
        """Checks the arrays of a request, one for each input, and returns the size that each symbol
        stands for."""
        symbols: dict[str, int] = {}
        for tensor, array in zip(self.inputs, arrays, strict=True):
            check_array(tensor, array, symbols)
        return symbols

    def padded_size(self, symbol: str, size: int) -> int:
        multiple, most = self.padding.multiple, self._most[symbol]
        padded = -(-size // multiple) * multiple
        return padded if most is None else max(size, min(padded, most))

    def key(self, arrays: list[np.ndarray]) -> Shapes:
        """A key that is equal for requests which may share a call: their shapes after padding,
        without rows."""
        shapes = []
        for tensor, array in zip(self.inputs, arrays, strict=True):
            shapes.append(tuple(
                self.padded_size(symbol, size) if symbol in self.padded else size
                for symbol, size in zip(tensor.sizes, array.shape) if symbol != self.rows))
        return tuple(shapes)

    def joined(self, requests: list[list[np.ndarray]]) -> list[np.ndarray]:
        """The arrays of one call, one for each input, with the rows of all requests."""
        return [self._join(tensor, [arrays[place] for arrays in requests])
                for place, tensor in enumerate(self.inputs)]

    def _join(self, tensor: Tensor, parts: list[np.ndarray]) -> np.ndarray:
        padded = [d for d, symbol in enumerate(tensor.sizes) if symbol in self.padded]
        if len(parts) == 1 and not padded:
            return parts[0]
        if not padded:
            return np.concatenate(parts)
        shape = [self.padded_size(tensor.sizes[d], size) if d in padded else size
                 for d, size in enumerate(parts[0].shape)]
        rows = [part.shape[0] for part in parts]
        if self.rows is not None:
            shape[0] = sum(rows)
        whole = np.full(shape, self.padding.values[tensor.name], parts[0].dtype)
        at = 0
        for part, count in zip(parts, rows):
            inside = tuple(slice(size) for size in part.shape[1:])
            whole[(slice(at, at + count), *inside)] = part
            at += count
        return whole

    def parts(self, results: list[np.ndarray],
              symbols: list[dict[str, int]]) -> list[list[np.ndarray]]:
        """Cuts the results of a call into the outputs of each request. `symbols` has for each
        request what symbols_of() returned."""
        made, at = [], 0
        for own in symbols:
            count = own[self.rows] if self.rows is not None else 0
            made.append([self._part(tensor, result, own, at)
                         for tensor, result in zip(self.outputs, results, strict=True)])
            at += count
        return made

    def _part(self, tensor: Tensor, result: np.ndarray, own: dict[str, int],
              at: int) -> np.ndarray:
        places = []
        for symbol in tensor.sizes:
            if symbol == self.rows and self.rows is not None:
                places.append(slice(at, at + own[symbol]))
            else:
                places.append(slice(own[symbol]) if symbol in self.padded else slice(None))
        return result[tuple(places)]
