"""Messages of the protocol's gRPC service. Most are KServe's. Those of Triton's extensions are made
here from `triton_schema`, because KServe has none or numbers their fields in its own way."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.message import DecodeError

from fxjit import _fxjit

from . import datatypes
from .account import Held
from .errors import BadRequest, short
from .kserve_parts import pb
from .requests import Answer, Request, check_parameters, deadline_of, priority_of
from .triton_schema import ENUMS, MESSAGES, PACKAGE

AT_A_TIME = 1 << 15  # Elements that are written while other threads wait.
_FIELD = descriptor_pb2.FieldDescriptorProto
_LINE = re.compile(r"(repeated )?([\w.]+) (\w+) = (\d+)")


def _add_message(file: Any, name: str, fields: str) -> None:
    message = file.message_type.add(name=name)
    for repeated, kind, field, number in _LINE.findall(fields):
        made = message.field.add(
            name=field, number=int(number),
            label=_FIELD.LABEL_REPEATED if repeated else _FIELD.LABEL_OPTIONAL)
        if hasattr(_FIELD, f"TYPE_{kind.upper()}"):
            made.type = getattr(_FIELD, f"TYPE_{kind.upper()}")
        else:
            made.type = _FIELD.TYPE_ENUM if kind in ENUMS else _FIELD.TYPE_MESSAGE
            made.type_name = f".{kind}" if "." in kind else f".{PACKAGE}.{kind}"


def _make_messages() -> dict[str, Any]:
    """Classes by name, in KServe's pool, because a stream's answer holds KServe's answer."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{PACKAGE}.proto", package=PACKAGE,
                                              syntax="proto3", dependency=[pb.DESCRIPTOR.name])
    for enum, names in ENUMS.items():
        made = file.enum_type.add(name=enum)
        for number, name in enumerate(names):
            made.value.add(name=name, number=number)
    for name, fields in MESSAGES.items():
        _add_message(file, name, fields)
    pool = pb.DESCRIPTOR.pool
    pool.AddSerializedFile(file.SerializeToString())
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
            for name in MESSAGES}


MADE = _make_messages()


def _parameters(messages: Any) -> dict[str, Any]:
    values = {}
    for name, value in messages.items():
        kind = value.WhichOneof("parameter_choice")
        if kind is not None:
            values[name] = getattr(value, kind)
    return check_parameters(values)


class Message:
    """A request's message: `around` is parsed, the elements of tensors are still bytes. BadRequest
    for a damaged one."""

    def __init__(self, data: bytes, held: Held):
        self.data, self.held = data, held
        try:
            around, self.contents, self.raw = _fxjit.split_message(data)
            self.around = pb.ModelInferRequest.FromString(around)
        except (ValueError, DecodeError) as error:
            raise BadRequest(str(error)) from None

    def input(self, place: int, tensor: Any, name: str) -> np.ndarray:
        shape = datatypes.checked_shape(name, list(tensor.shape))
        contents = self.contents[place]
        if not self.raw:
            return self._from_contents(tensor, name, shape, contents)
        if contents:
            raise BadRequest(f"input {name}: both contents and raw_input_contents")
        begin, end = self.raw[place]
        return datatypes.from_bytes(name, tensor.datatype, shape,
                                    memoryview(self.data)[begin:end], self.held)

    def _from_contents(self, tensor: Any, name: str, shape: tuple[int, ...],
                       contents: list[tuple[int, int]]) -> np.ndarray:
        dtype = datatypes.dtype_of(name, tensor.datatype)
        count, size = math.prod(shape), sum(end - begin for begin, end in contents)
        # An element has a byte at least: where the shape asks for more than there can be, no
        # memory is taken for them.
        room = min(count, size)
        self.held.grow(room * (datatypes.BYTES_OF_TEXT if dtype.hasobject else dtype.itemsize))
        try:
            if dtype.hasobject:
                items = _fxjit.read_byte_contents(self.data, contents)
                got = len(items)
            else:
                made = np.empty(room, dtype)
                got = _fxjit.fill_contents(self.data, contents, tensor.datatype, made)
        except ValueError as error:
            raise BadRequest(f"input {name}: {tensor.datatype} {error}") from None
        if got != count:
            raise BadRequest(f"input {name}: expected {count} elements for shape {list(shape)}, "
                             f"got {got}")
        return datatypes.objects(items, shape) if dtype.hasobject else made.reshape(shape)


def read_request(message: Message) -> Request:
    """BadRequest says what is wrong with it."""
    around = message.around
    if message.raw and len(message.raw) != len(around.inputs):
        raise BadRequest(f"{len(around.inputs)} inputs, but {len(message.raw)} "
                         "raw_input_contents")
    inputs: dict[str, np.ndarray] = {}
    for place, tensor in enumerate(around.inputs):
        if tensor.name in inputs:
            raise BadRequest(f"input {short(tensor.name)}: given twice")
        _parameters(tensor.parameters)
        inputs[tensor.name] = message.input(place, tensor, short(tensor.name))
    for output in around.outputs:
        if _parameters(output.parameters).get("classification"):
            raise BadRequest(f"output {short(output.name)}: classification is not supported")
    parameters = _parameters(around.parameters)
    return Request(inputs, around.id, {one.name: None for one in around.outputs},
                   bool(message.raw), deadline_of(parameters), priority_of(parameters))


def written(answer: Answer, request: Request, held: Held) -> Any:
    """The message. Outputs come as the inputs came, raw or not; all raw where one is of FP16. Its
    memory is counted in `held`."""
    # The array, its copy in the message, and the message's bytes.
    held.grow(3 * sum(array.nbytes for array in answer.outputs.values()))
    message = pb.ModelInferResponse(model_name=answer.model, model_version=answer.version,
                                    id=answer.id)
    raw = request.binary or any(array.dtype == np.float16 for array in answer.outputs.values())
    for name, array in answer.outputs.items():
        datatype = datatypes.datatype_of(array)
        made = message.outputs.add(name=name, datatype=datatype, shape=array.shape)
        if raw:
            message.raw_output_contents.append(bytes(datatypes.to_bytes(array)))
            continue
        contents = getattr(made.contents, datatypes.CONTENTS_OF[datatype])
        flat = array.reshape(-1)
        for begin in range(0, flat.size, AT_A_TIME):
            contents.extend(flat[begin:begin + AT_A_TIME].tolist())
    return message
