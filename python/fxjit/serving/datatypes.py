"""The datatypes of the Open Inference Protocol, and tensors as its bodies hold them."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from fxjit import _fxjit

from .account import Held
from .errors import BadRequest, short

# Names of the protocol, and NumPy's of the same numbers.
NUMPY_OF = {
    "BOOL": np.dtype(np.bool_), "UINT8": np.dtype(np.uint8), "UINT16": np.dtype(np.uint16),
    "UINT32": np.dtype(np.uint32), "UINT64": np.dtype(np.uint64), "INT8": np.dtype(np.int8),
    "INT16": np.dtype(np.int16), "INT32": np.dtype(np.int32), "INT64": np.dtype(np.int64),
    "FP16": np.dtype(np.float16), "FP32": np.dtype(np.float32), "FP64": np.dtype(np.float64),
    "BYTES": np.dtype(object)}
PROTOCOL_OF = {dtype: name for name, dtype in NUMPY_OF.items()}
# The member of a gRPC message's `contents` that holds numbers of a type.
CONTENTS_OF = {
    "BOOL": "bool_contents", "UINT8": "uint_contents", "UINT16": "uint_contents",
    "UINT32": "uint_contents", "UINT64": "uint64_contents", "INT8": "int_contents",
    "INT16": "int_contents", "INT32": "int_contents", "INT64": "int64_contents",
    "FP32": "fp32_contents", "FP64": "fp64_contents", "BYTES": "bytes_contents"}
MAX_RANK = 8
MAX_TEXTS = 1 << 20  # Elements of BYTES, each of which is an object of Python's.
BYTES_OF_TEXT = 64  # That such an object takes beside its own bytes.


@dataclass(frozen=True)
class Tensor:
    """An input or output of a model: `sizes` are numbers and names of symbols, `most` the largest
    of each where one is known."""

    name: str
    datatype: str
    sizes: tuple[int | str, ...]
    most: tuple[int | None, ...] = ()

    def most_of(self, symbol: str) -> int | None:
        """The largest size that `symbol` may stand for."""
        return next((most for size, most in zip(self.sizes, self.most) if size == symbol), None)

    @property
    def shape(self) -> list[int]:
        """As the protocol writes it: -1 for sizes that change from request to request."""
        return [size if isinstance(size, int) else -1 for size in self.sizes]

    def metadata(self) -> dict[str, Any]:
        return {"name": self.name, "datatype": self.datatype, "shape": self.shape}


def checked_shape(name: str, shape: Any) -> tuple[int, ...]:
    """The sizes that a request states: whole numbers from 0, of less than 2^59 elements."""
    if not isinstance(shape, list) or len(shape) > MAX_RANK:
        raise BadRequest(f"input {name}: shape: expected a list of at most {MAX_RANK} sizes")
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**63:
            raise BadRequest(f"input {name}: shape: expected sizes from 0, got {short(repr(size))}")
    if math.prod(max(size, 1) for size in shape) >= 2**59:  # In bytes less than 2^63.
        raise BadRequest(f"input {name}: shape: {shape} has too many elements")
    return tuple(shape)


def dtype_of(name: str, datatype: Any) -> np.dtype:
    known = NUMPY_OF.get(datatype) if isinstance(datatype, str) else None
    if known is None:
        raise BadRequest(f"input {name}: datatype: expected one of {', '.join(NUMPY_OF)}, "
                         f"got {short(repr(datatype))}")
    return known


def from_bytes(name: str, datatype: Any, shape: tuple[int, ...], data: Any,
               held: Held) -> np.ndarray:
    """A tensor in the binary form; numbers share the memory of `data` where they can."""
    dtype = dtype_of(name, datatype)
    if dtype.hasobject:
        held.grow(min(math.prod(shape), len(data) // 4) * BYTES_OF_TEXT)
        return texts_from_bytes(name, shape, data)
    expected = math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise BadRequest(f"input {name}: expected {expected} bytes for {datatype} of shape "
                         f"{list(shape)}, got {len(data)}")
    if dtype.kind == "b":  # Any byte but 0 is true, as in C.
        return (np.frombuffer(data, np.uint8) != 0).reshape(shape)
    array = np.frombuffer(data, dtype).reshape(shape)
    return array if array.flags.aligned else array.copy()


def texts_from_bytes(name: str, shape: tuple[int, ...], data: Any) -> np.ndarray:
    """Elements of BYTES: four bytes with the length before each."""
    count, at, items = math.prod(shape), 0, []
    if count > MAX_TEXTS:
        raise BadRequest(f"input {name}: more than {MAX_TEXTS} texts")
    while at < len(data) and len(items) < count:
        if at + 4 > len(data):
            raise BadRequest(f"input {name}: a length is cut off")
        (length,) = struct.unpack_from("<I", data, at)
        if at + 4 + length > len(data):
            raise BadRequest(f"input {name}: an element of {length} bytes is cut off")
        items.append(bytes(data[at + 4:at + 4 + length]))
        at += 4 + length
    if len(items) != count or at != len(data):
        raise BadRequest(f"input {name}: expected {count} elements of BYTES for shape "
                         f"{list(shape)}, got {len(items)} in {len(data)} bytes")
    return objects(items, shape)


def objects(items: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    made = np.empty(len(items), object)
    made[:] = items
    return made.reshape(shape)


def from_json(name: str, datatype: Any, shape: tuple[int, ...], text: Any,
              place: tuple[int, int], held: Held) -> np.ndarray:
    """A tensor as a (nested) list of JSON, which stands at this place of the text."""
    dtype = dtype_of(name, datatype)
    count, (begin, end) = math.prod(shape), place
    # Elements have a character and a comma or bracket each: where the shape asks for more than
    # there can be, no memory is taken for them.
    room = min(count, (end - begin) // 2)
    held.grow(room * (BYTES_OF_TEXT if dtype.hasobject else dtype.itemsize))
    try:
        if dtype.hasobject:
            items = _fxjit.read_texts(text, begin, end)
            got = len(items)
        else:
            kind = "FP64" if datatype == "FP16" else datatype
            made = np.empty(room, NUMPY_OF[kind])
            got = _fxjit.fill_numbers(text, begin, end, kind, made)
    except ValueError as error:
        raise BadRequest(f"input {name}: data: {error}") from None
    if got != count:
        raise BadRequest(f"input {name}: expected {count} elements for shape {list(shape)}, "
                         f"got {got}")
    if dtype.hasobject:
        return objects(items, shape)
    return (_halves(name, made) if datatype == "FP16" else made).reshape(shape)


def _halves(name: str, numbers: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        made = numbers.astype(np.float16)
    beyond = np.isinf(made)
    if beyond.any():
        place = int(beyond.argmax())
        raise BadRequest(f"input {name}: data: expected numbers of FP16, but element {place} is "
                         f"{numbers[place]:g}")
    return made


def to_bytes(array: np.ndarray) -> bytes | memoryview:
    """The binary form, little-endian in row-major order: of the array's memory where it can be."""
    if array.dtype.hasobject:
        return b"".join(struct.pack("<I", len(item)) + item for item in array.ravel().tolist())
    if array.size and array.flags.c_contiguous:
        return memoryview(array).cast("B")
    return array.tobytes()


def datatype_of(array: np.ndarray) -> str:
    return PROTOCOL_OF[np.dtype(object) if array.dtype.hasobject else array.dtype]
