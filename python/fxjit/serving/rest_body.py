"""Bodies of REST: JSON, and JSON followed by binary tensors."""

from __future__ import annotations

import zlib
from typing import Any

import orjson

from . import datatypes
from .errors import BadRequest, TooLarge
from .requests import Answer, Request, check_parameters, deadline_of

LENGTH_HEADER = "inference-header-content-length"


def json_of(text: Any) -> dict[str, Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"the body is no JSON: {error}") from None
    if not isinstance(read, dict):
        raise BadRequest("the body: expected an object")
    return read


def unpacked(body: bytes, encoding: str, limit: int) -> bytes:
    """The body without its compression; TooLarge where that has more than `limit` bytes."""
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise BadRequest(f"content-encoding: expected gzip or deflate, got {encoding}")
    decoder = zlib.decompressobj(31 if encoding == "gzip" else 15)
    try:
        made = decoder.decompress(body, limit + 1)
    except zlib.error as error:
        raise BadRequest(f"the body is no {encoding}: {error}") from None
    if len(made) > limit:
        raise TooLarge(f"the body has more than {limit} bytes when it is unpacked")
    if not decoder.eof:
        raise BadRequest(f"the body is {encoding} that was cut off")
    return made


def packed(body: bytes, accepted: str) -> tuple[bytes, str]:
    """The body in the first encoding of these that is known, and that encoding's name."""
    for one in accepted.split(","):
        name = one.split(";")[0].strip()
        if name in ("gzip", "deflate"):
            packer = zlib.compressobj(1, wbits=31 if name == "gzip" else 15)
            return packer.compress(body) + packer.flush(), name
    return body, ""


def split(body: bytes, header_length: str | None) -> tuple[dict[str, Any], memoryview]:
    """The JSON and what follows it."""
    if header_length is None:
        return json_of(body), memoryview(b"")
    if not header_length.isdecimal() or int(header_length) > len(body):
        raise BadRequest(f"{LENGTH_HEADER}: expected a number up to {len(body)}, "
                         f"got {header_length}")
    length = int(header_length)
    whole = memoryview(body)
    return json_of(whole[:length]), whole[length:]


def _name_of(entry: Any, what: str) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise BadRequest(f"{what}: expected objects with a name")
    return entry["name"]


def _input_of(entry: dict[str, Any], name: str, binary: memoryview):
    """The tensor, and what follows its bytes."""
    shape = datatypes.checked_shape(name, entry.get("shape"))
    parameters = check_parameters(entry.get("parameters"))
    size = parameters.get("binary_data_size")
    if size is None:
        return datatypes.from_json(name, entry.get("datatype"), shape, entry.get("data")), binary
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= len(binary):
        raise BadRequest(f"input {name}: binary_data_size: expected a number up to the "
                         f"{len(binary)} bytes that are left, got {size!r}")
    if "data" in entry:
        raise BadRequest(f"input {name}: both data and binary_data_size")
    return datatypes.from_bytes(name, entry.get("datatype"), shape, binary[:size]), binary[size:]


def _outputs_of(entries: Any) -> dict[str, bool | None]:
    outputs: dict[str, bool | None] = {}
    for entry in entries or ():
        name = _name_of(entry, "outputs")
        parameters = check_parameters(entry.get("parameters"))
        if parameters.get("classification"):
            raise BadRequest(f"output {name}: classification is not supported")
        outputs[name] = parameters.get("binary_data")
    return outputs


def read(body: bytes, header_length: str | None) -> Request:
    """The request in a body; BadRequest says what is wrong with it."""
    whole, binary = split(body, header_length)
    entries, asked = whole.get("inputs"), whole.get("outputs")
    if not isinstance(entries, list) or not isinstance(asked, (list, type(None))):
        raise BadRequest("the body: expected lists \"inputs\" and, maybe, \"outputs\"")
    request_id = whole.get("id", "")
    if not isinstance(request_id, str):
        raise BadRequest("id: expected a text")
    parameters = check_parameters(whole.get("parameters"))
    inputs = {}
    for entry in entries:
        name = _name_of(entry, "inputs")
        if name in inputs:
            raise BadRequest(f"input {name}: given twice")
        inputs[name], binary = _input_of(entry, name, binary)
    if len(binary):
        raise BadRequest(f"{len(binary)} bytes behind the last input")
    return Request(inputs, request_id, _outputs_of(asked),
                   parameters.get("binary_data_output") is True, deadline_of(parameters))


def written(answer: Answer, request: Request) -> tuple[bytes, int | None]:
    """The body, and the length of its JSON where binary tensors follow."""
    entries, parts = [], []
    for name, array in answer.outputs.items():
        entry = {"name": name, "datatype": datatypes.datatype_of(array),
                 "shape": list(array.shape)}
        wanted = request.outputs.get(name)
        if request.binary if wanted is None else wanted:
            parts.append(datatypes.to_bytes(array))
            entry["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            entry["data"] = datatypes.to_json(array)
        entries.append(entry)
    whole = {"model_name": answer.model, "model_version": answer.version, "outputs": entries}
    if answer.id:
        whole["id"] = answer.id
    text = orjson.dumps(whole)
    return (b"".join([text, *parts]), len(text)) if parts else (text, None)
