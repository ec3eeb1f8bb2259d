"""The datatypes of the Open Inference Protocol, and tensors as its bodies hold them."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import BadRequest

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
    """The sizes that a request states: whole numbers from 0, of less than 2^63 elements."""
    if not isinstance(shape, list) or len(shape) > MAX_RANK:
        raise BadRequest(f"input {name}: shape: expected a list of at most {MAX_RANK} sizes")
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**63:
            raise BadRequest(f"input {name}: shape: expected sizes from 0, got {size!r}")
    if math.prod(shape) >= 2**63:
        raise BadRequest(f"input {name}: shape: {shape} has too many elements")
    return tuple(shape)


def dtype_of(name: str, datatype: Any) -> np.dtype:
    known = NUMPY_OF.get(datatype) if isinstance(datatype, str) else None
    if known is None:
        raise BadRequest(f"input {name}: datatype: expected one of {', '.join(NUMPY_OF)}, "
                         f"got {datatype!r}")
    return known


def from_bytes(name: str, datatype: Any, shape: tuple[int, ...], data: Any) -> np.ndarray:
    """A tensor in the binary form; numbers share the memory of `data` where they can."""
    dtype = dtype_of(name, datatype)
    if dtype.hasobject:
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


def from_json(name: str, datatype: Any, shape: tuple[int, ...], data: Any) -> np.ndarray:
    """A tensor as (nested) lists of JSON."""
    dtype = dtype_of(name, datatype)
    if not isinstance(data, list):
        raise BadRequest(f"input {name}: data: expected a list")
    if dtype.hasobject:
        return texts_from_json(name, shape, data)
    try:
        array = np.asarray(data)
    except (ValueError, OverflowError) as error:
        raise BadRequest(f"input {name}: data: {error}") from None
    return fitted(name, datatype, shape, array)


def fitted(name: str, datatype: str, shape: tuple[int, ...], array: np.ndarray) -> np.ndarray:
    """Numbers as an array of the datatype and shape; BadRequest where one would change."""
    dtype = dtype_of(name, datatype)
    if array.size != math.prod(shape):
        raise BadRequest(f"input {name}: expected {math.prod(shape)} elements for shape "
                         f"{list(shape)}, got {array.size}")
    if array.size == 0:
        return np.empty(shape, dtype)
    given, wanted = array.dtype.kind, dtype.kind
    fits = given in ("bif" if wanted == "f" else "biu" if wanted in "iu" else "b")
    if not fits or (given == "b") != (wanted == "b"):
        raise BadRequest(f"input {name}: data: expected numbers of {datatype}")
    if wanted in "iu":
        bounds = np.iinfo(dtype)
        if array.min() < bounds.min or array.max() > bounds.max:
            raise BadRequest(f"input {name}: data: a number beyond {datatype}")
    with np.errstate(over="ignore"):
        return array.astype(dtype).reshape(shape)


def texts_from_json(name: str, shape: tuple[int, ...], data: list[Any]) -> np.ndarray:
    items: list[bytes] = []
    pending = [iter(data)]  # Of nested lists, the innermost last.
    while pending:
        item = next(pending[-1], pending)
        if item is pending:
            pending.pop()
        elif isinstance(item, str):
            items.append(item.encode("utf-8", "surrogatepass"))
        elif isinstance(item, list) and len(pending) < MAX_RANK:
            pending.append(iter(item))
        else:
            raise BadRequest(f"input {name}: data: expected texts")
    if len(items) != math.prod(shape):
        raise BadRequest(f"input {name}: expected {math.prod(shape)} elements for shape "
                         f"{list(shape)}, got {len(items)}")
    return objects(items, shape)


def to_bytes(array: np.ndarray) -> bytes:
    """The binary form: little-endian in row-major order."""
    if not array.dtype.hasobject:
        return array.tobytes()
    return b"".join(struct.pack("<I", len(item)) + item for item in array.ravel().tolist())


def to_json(array: np.ndarray) -> list[Any]:
    """A flat list; BYTES as texts of UTF-8, which BadRequest refuses for other bytes."""
    flat = array.ravel().tolist()
    if not array.dtype.hasobject:
        return flat
    try:
        return [item.decode() for item in flat]
    except UnicodeDecodeError:
        raise BadRequest("an output is no text of UTF-8: ask for binary data") from None


def datatype_of(array: np.ndarray) -> str:
    return PROTOCOL_OF[np.dtype(object) if array.dtype.hasobject else array.dtype]
