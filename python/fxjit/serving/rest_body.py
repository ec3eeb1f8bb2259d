"""Bodies of REST: JSON, and JSON followed by binary tensors."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson

from fxjit import _fxjit

from . import datatypes
from .account import Held
from .errors import BadRequest, TooLarge, short
from .requests import (Answer, Request, check_parameters, deadline_of, priority_of,
                       whole_number)

LENGTH_HEADER = "inference-header-content-length"
PIECE = 1 << 20  # Bytes that are unpacked at a time.
PADDING = bytes(64)
AT_A_TIME = 1 << 15  # Elements that are written while other threads wait.


def binary_wanted(parameter: str, parameters: dict[str, Any]) -> bool | None:
    wanted = parameters.get(parameter)
    if not isinstance(wanted, (bool, type(None))):
        raise BadRequest(f"parameters: {parameter}: expected true or false")
    return wanted


def json_of(text: Any) -> dict[str, Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"the body is no JSON: {error}") from None
    if not isinstance(read, dict):
        raise BadRequest("the body: expected an object")
    return read


def unpacked(body: bytearray, encoding: str, limit: int, held: Held) -> bytearray:
    """The body without its compression, which `held` then has instead of it; TooLarge where that
    has more than `limit` bytes."""
    decoder = zlib.decompressobj(31 if encoding == "gzip" else 15)
    made, taken = bytearray(), 0
    try:
        while taken < len(body) and not decoder.eof:
            rest: bytes | memoryview = memoryview(body)[taken:taken + PIECE]
            taken += len(rest)
            more = True
            while more and not decoder.eof:
                piece = decoder.decompress(rest, PIECE)
                held.grow(len(piece))
                made += piece
                if len(made) > limit:
                    raise TooLarge(f"the body has more than {limit} bytes when it is unpacked")
                rest = decoder.unconsumed_tail
                more = bool(rest) or len(piece) == PIECE
    except zlib.error as error:
        raise BadRequest(f"the body is no {encoding}: {error}") from None
    if not decoder.eof:
        raise BadRequest(f"the body is {encoding} that was cut off")
    if decoder.unused_data or taken < len(body):
        raise BadRequest(f"the body has bytes behind the {encoding}")
    held.shrink(len(body))
    return made


def encoding_of(name: str) -> str:
    """The compression that a content-encoding names, "" for none."""
    name = name.strip().lower()
    if name in ("", "identity"):
        return ""
    if name not in ("gzip", "deflate"):
        raise BadRequest(f"content-encoding: expected gzip or deflate, got {name[:100]}")
    return name


def encoding_for(accepted: str) -> str:
    """The compression of an answer, "" for none: of those that are known the one with the largest
    weight q, the first of equals."""
    best, most = "", 0.0
    for one in accepted.split(","):
        name, *options = [part.strip().lower() for part in one.split(";")]
        weight = 1.0
        for option in options:
            if option.startswith("q="):
                try:
                    weight = float(option[2:])
                except ValueError:
                    weight = 0.0
        if name in ("gzip", "deflate") and weight > most:
            best, most = name, weight
    return best


def packed(parts: list[Any], encoding: str) -> list[bytes]:
    packer = zlib.compressobj(1, wbits=31 if encoding == "gzip" else 15)
    return [b"".join([*(packer.compress(part) for part in parts), packer.flush()])]


class Body:
    """The bytes of a request and, of its JSON, what stands around the elements of tensors."""

    def __init__(self, data: bytearray, header_length: str | None, held: Held):
        size = len(data)
        length = size
        if header_length is not None:
            length = whole_number(LENGTH_HEADER, header_length, size)
        data += PADDING  # Else the reader of JSON copies it.
        self.data, self.held = data, held
        self.binary = memoryview(data)[length:size]
        held.grow(index := _fxjit.json_index_bytes(data, length))
        try:
            around, self.lists = _fxjit.split_json(data, length)
        except ValueError as error:
            raise BadRequest(f"the body is no JSON: {error}{self._hint(header_length)}") from None
        self.index = index
        self.json = json_of(around)

    def _hint(self, header_length: str | None) -> str:
        if header_length is None and b"binary_data" in self.data[:4096]:
            return f" (this looks like binary data without {LENGTH_HEADER})"
        return ""

    def elements(self, name: str, datatype: Any, shape: tuple[int, ...], data: Any) -> np.ndarray:
        if not isinstance(data, int) or data >= len(self.lists):
            raise BadRequest(f"input {name}: data: expected a list")
        return datatypes.from_json(name, datatype, shape, self.data, self.lists[data], self.held)

    def bytes_of(self, name: str, size: Any) -> memoryview:
        """The next bytes behind the JSON."""
        if isinstance(size, bool) or not isinstance(size, int) or (
                not 0 <= size <= len(self.binary)):
            raise BadRequest(f"input {name}: binary_data_size: expected a number up to the "
                             f"{len(self.binary)} bytes that are left, got {str(size)[:100]}")
        taken, self.binary = self.binary[:size], self.binary[size:]
        return taken


def _name_of(entry: Any, what: str) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise BadRequest(f"{what}: expected objects with a name")
    return entry["name"]


def _input_of(entry: dict[str, Any], name: str, body: Body) -> np.ndarray:
    shape = datatypes.checked_shape(name, entry.get("shape"))
    datatype = entry.get("datatype")
    size = check_parameters(entry.get("parameters")).get("binary_data_size")
    if size is None:
        return body.elements(name, datatype, shape, entry.get("data"))
    data = body.bytes_of(name, size)
    if "data" in entry:
        raise BadRequest(f"input {name}: both data and binary_data_size")
    return datatypes.from_bytes(name, datatype, shape, data, body.held)


def _outputs_of(entries: Any) -> dict[str, bool | None]:
    outputs: dict[str, bool | None] = {}
    for entry in entries or ():
        name = _name_of(entry, "outputs")
        parameters = check_parameters(entry.get("parameters"))
        if parameters.get("classification"):
            raise BadRequest(f"output {short(name)}: classification is not supported")
        outputs[name] = binary_wanted("binary_data", parameters)
    return outputs


def read(data: bytearray, header_length: str | None, held: Held) -> Request:
    """The request in a body; BadRequest says what is wrong with it. Memory beside the body is
    counted in `held`."""
    body = Body(data, header_length, held)
    entries, asked = body.json.get("inputs"), body.json.get("outputs")
    if not isinstance(entries, list) or not isinstance(asked, (list, type(None))):
        raise BadRequest("the body: expected lists \"inputs\" and, maybe, \"outputs\"")
    request_id = body.json.get("id", "")
    if not isinstance(request_id, str):
        raise BadRequest("id: expected a text")
    parameters = check_parameters(body.json.get("parameters"))
    inputs: dict[str, np.ndarray] = {}
    for entry in entries:
        name = _name_of(entry, "inputs")
        if name in inputs:
            raise BadRequest(f"input {short(name)}: given twice")
        inputs[name] = _input_of(entry, short(name), body)
    if len(body.binary):
        raise BadRequest(f"{len(body.binary)} bytes behind the last input")
    held.shrink(body.index)
    return Request(inputs, request_id, _outputs_of(asked),
                   binary_wanted("binary_data_output", parameters) is True,
                   deadline_of(parameters), priority_of(parameters))


def json_elements(array: np.ndarray, held: Held) -> Iterator[bytes]:
    """The elements with commas between them, some at a time; BYTES as texts of UTF-8, which
    BadRequest refuses for other bytes."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype == np.float16:  # Which orjson writes only in newer versions.
        flat = flat.astype(np.float32)
    for begin in range(0, flat.size, AT_A_TIME):
        some: Any = flat[begin:begin + AT_A_TIME]
        if array.dtype.hasobject:
            try:
                some = [item.decode() for item in some.tolist()]
            except UnicodeDecodeError:
                raise BadRequest("an output is no text of UTF-8: ask for binary data") from None
        text = orjson.dumps(some, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]
        held.grow(len(text))
        yield b"," + text if begin else text


def written(answer: Answer, request: Request, held: Held) -> tuple[list[Any], int | None]:
    """The parts of the body, and the length of its JSON where binary tensors follow. Its memory is
    counted in `held`."""
    held.grow(sum(array.nbytes for array in answer.outputs.values()))
    whole = {"model_name": answer.model, "model_version": answer.version}
    if answer.id:
        whole["id"] = answer.id
    text, tensors = [orjson.dumps(whole)[:-1], b',"outputs":['], []
    for place, (name, array) in enumerate(answer.outputs.items()):
        entry = {"name": name, "datatype": datatypes.datatype_of(array),
                 "shape": list(array.shape)}
        wanted = request.outputs.get(name)
        if request.binary if wanted is None else wanted:
            tensors.append(datatypes.to_bytes(array))
            entry["parameters"] = {"binary_data_size": len(tensors[-1])}
        text += [b",", orjson.dumps(entry)] if place else [orjson.dumps(entry)]
        if "parameters" not in entry:
            text[-1] = text[-1][:-1]
            text += [b',"data":[', *json_elements(array, held), b"]}"]
    text.append(b"]}")
    length = sum(len(part) for part in text)
    return [*text, *tensors], length if tensors else None
