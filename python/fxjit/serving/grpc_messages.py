"""Messages of the protocol's gRPC service. Most are KServe's. Those of Triton's extensions are made
here from `triton_schema`, because KServe has none or numbers their fields in its own way."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, message_factory

from . import datatypes
from .errors import BadRequest
from .kserve_parts import pb
from .requests import Answer, Request, check_parameters, deadline_of
from .triton_schema import ENUMS, MESSAGES, PACKAGE

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


def _from_contents(tensor: Any, shape: tuple[int, ...]) -> np.ndarray:
    member = datatypes.CONTENTS_OF.get(tensor.datatype)
    dtype = datatypes.dtype_of(tensor.name, tensor.datatype)
    if member is None:
        raise BadRequest(f"input {tensor.name}: {tensor.datatype} comes in raw_input_contents")
    for field, _ in tensor.contents.ListFields():
        if field.name != member:
            raise BadRequest(f"input {tensor.name}: {tensor.datatype} comes in {member}, not "
                             f"{field.name}")
    items = getattr(tensor.contents, member)
    if dtype.hasobject and len(items) == int(np.prod(shape, dtype=object)):
        return datatypes.objects(list(items), shape)
    return datatypes.fitted(tensor.name, tensor.datatype, shape, np.array(items))


def read_request(message: Any) -> Request:
    """BadRequest says what is wrong with it."""
    raw = message.raw_input_contents
    if raw and len(raw) != len(message.inputs):
        raise BadRequest(f"{len(message.inputs)} inputs, but {len(raw)} raw_input_contents")
    inputs: dict[str, np.ndarray] = {}
    for place, tensor in enumerate(message.inputs):
        name = tensor.name
        if name in inputs:
            raise BadRequest(f"input {name}: given twice")
        _parameters(tensor.parameters)
        shape = datatypes.checked_shape(name, list(tensor.shape))
        if not raw:
            inputs[name] = _from_contents(tensor, shape)
        elif tensor.HasField("contents"):
            raise BadRequest(f"input {name}: both contents and raw_input_contents")
        else:
            inputs[name] = datatypes.from_bytes(name, tensor.datatype, shape, raw[place])
    for output in message.outputs:
        if _parameters(output.parameters).get("classification"):
            raise BadRequest(f"output {output.name}: classification is not supported")
    return Request(inputs, message.id, {one.name: None for one in message.outputs}, bool(raw),
                   deadline_of(_parameters(message.parameters)))


def written(answer: Answer, request: Request) -> Any:
    """Outputs come as the inputs came, raw or not; all raw where one is of FP16."""
    message = pb.ModelInferResponse(model_name=answer.model, model_version=answer.version,
                                    id=answer.id)
    raw = request.binary or any(array.dtype == np.float16 for array in answer.outputs.values())
    for name, array in answer.outputs.items():
        datatype = datatypes.datatype_of(array)
        made = message.outputs.add(name=name, datatype=datatype, shape=array.shape)
        if raw:
            message.raw_output_contents.append(datatypes.to_bytes(array))
        else:
            getattr(made.contents, datatypes.CONTENTS_OF[datatype]).extend(array.ravel().tolist())
    return message
