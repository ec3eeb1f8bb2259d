"""The Open Inference Protocol over gRPC."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from . import grpc_messages
from .errors import BadRequest, ServingError
from .front_door import FrontDoor
from .kserve_parts import pb
from .requests import Request, sooner

log = logging.getLogger("fxjit.serving")
SERVICE = "inference.GRPCInferenceService"
Context = grpc.aio.ServicerContext
Handler = Callable[[Any, Context], Awaitable[Any]]


def parsed(kind: Any, data: bytes) -> Any:
    """The message of this kind; BadRequest for a damaged one."""
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise BadRequest(f"the message is damaged: {error}") from None


class GrpcFront:
    """The service's methods. Messages are parsed here, so that damaged ones are refused by the
    protocol's code."""

    def __init__(self, door: FrontDoor):
        self._door = door
        # By name: the message that each takes, and what answers it.
        self.methods: dict[str, tuple[Any, Handler]] = {
            "ServerLive": (pb.ServerLiveRequest, self._live),
            "ServerReady": (pb.ServerReadyRequest, self._ready),
            "ServerMetadata": (pb.ServerMetadataRequest, self._metadata),
            "ModelReady": (pb.ModelReadyRequest, self._model_ready),
            "ModelMetadata": (pb.ModelMetadataRequest, self._model_metadata),
            "ModelInfer": (pb.ModelInferRequest, self._infer),
            "RepositoryIndex": (grpc_messages.IndexRequest, self._index),
            "RepositoryModelLoad": (grpc_messages.ModelRequest, self._load),
            "RepositoryModelUnload": (grpc_messages.ModelRequest, self._unload)}

    def add_to(self, server: grpc.aio.Server) -> None:
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {
            name: grpc.unary_unary_rpc_method_handler(
                self._method(kind, handler),
                response_serializer=lambda message: message.SerializeToString())
            for name, (kind, handler) in self.methods.items()}),))

    def _method(self, kind: Any, handler: Handler) -> Callable[[bytes, Context], Any]:
        async def call(data: bytes, context: Context) -> Any:
            held = 0
            try:
                self._door.hold(len(data))
                held = len(data)
                return await handler(parsed(kind, data), context)
            except ServingError as error:
                code, text = grpc.StatusCode[error.grpc], str(error)
            except Exception as error:  # The server's own fault, which must not end it.
                log.exception("a request failed")
                code, text = grpc.StatusCode.INTERNAL, type(error).__name__
            finally:
                self._door.release(held)
            await context.abort(code, text)

        return call

    async def _live(self, _message: Any, _context: Context) -> Any:
        return pb.ServerLiveResponse(live=True)

    async def _ready(self, _message: Any, _context: Context) -> Any:
        return pb.ServerReadyResponse(ready=self._door.repository.ready())

    async def _metadata(self, _message: Any, _context: Context) -> Any:
        return pb.ServerMetadataResponse(**self._door.metadata())

    async def _model_ready(self, message: Any, _context: Context) -> Any:
        return pb.ModelReadyResponse(ready=self._door.model_ready(message.name, message.version))

    async def _model_metadata(self, message: Any, _context: Context) -> Any:
        return pb.ModelMetadataResponse(
            **self._door.model_metadata(message.name, message.version))

    async def _infer(self, message: Any, context: Context) -> Any:
        left = context.time_remaining()
        deadline = None if left is None else time.monotonic() + left
        told = dict(context.invocation_metadata() or ())

        def read() -> Request:
            request = grpc_messages.read_request(message)
            request.deadline = sooner(request.deadline, deadline)
            return request

        return await self._door.infer(message.model_name, message.model_version,
                                      str(told.get("x-request-id") or message.id), read,
                                      grpc_messages.written)

    async def _index(self, message: Any, _context: Context) -> Any:
        rows = await asyncio.get_running_loop().run_in_executor(
            None, self._door.repository.index, message.ready)
        return grpc_messages.IndexResponse(models=rows)

    async def _load(self, message: Any, _context: Context) -> Any:
        name = message.second or message.first
        await self._door.load(name)
        return grpc_messages.ModelResponse(model_name=name, done=True)

    async def _unload(self, message: Any, _context: Context) -> Any:
        name = message.second or message.first
        await self._door.unload(name)
        return grpc_messages.ModelResponse(model_name=name, done=True)
