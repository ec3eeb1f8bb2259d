"""Messages of the protocol's gRPC service. Most are KServe's; those of Triton's repository
extension are made here, as KServe has none or numbers their fields in its own way."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from . import datatypes
from .errors import BadRequest
from .kserve_parts import pb
from .requests import Answer, Request, check_parameters, deadline_of

_FIELD = descriptor_pb2.FieldDescriptorProto
_TEXT, _FLAG = _FIELD.TYPE_STRING, _FIELD.TYPE_BOOL


def _make_messages() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="repository.proto", package="fxjit",
                                              syntax="proto3")

    def add(name: str, *fields: tuple[str, int]) -> Any:
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields, 1):
            message.field.add(name=field, number=number, type=kind, label=_FIELD.LABEL_OPTIONAL)
        return message

    add("IndexRequest", ("repository_name", _TEXT), ("ready", _FLAG))
    add("ModelIndex", ("name", _TEXT), ("version", _TEXT), ("state", _TEXT), ("reason", _TEXT))
    add("IndexResponse").field.add(name="models", number=1, type=_FIELD.TYPE_MESSAGE,
                                   label=_FIELD.LABEL_REPEATED, type_name=".fxjit.ModelIndex")
    # The model's name is field 1 for KServe's clients and field 2 for Triton's, which leave
    # field 1, a repository's name, empty.
    add("ModelRequest", ("first", _TEXT), ("second", _TEXT))
    add("ModelResponse", ("model_name", _TEXT), ("done", _FLAG))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {one.name: message_factory.GetMessageClass(
        pool.FindMessageTypeByName(f"fxjit.{one.name}")) for one in file.message_type}


_MADE = _make_messages()
IndexRequest, IndexResponse = _MADE["IndexRequest"], _MADE["IndexResponse"]
ModelRequest, ModelResponse = _MADE["ModelRequest"], _MADE["ModelResponse"]


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
