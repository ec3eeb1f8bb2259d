"""The Open Inference Protocol over gRPC."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from . import grpc_messages
from .errors import BadRequest, ModelFailed, ServingError
from .front_door import FrontDoor
from .grpc_messages import MADE
from .grpc_services import SERVICE
from .kserve_parts import pb
from .metrics import REFUSALS
from .requests import Request, sooner

log = logging.getLogger("fxjit.serving")
Context = grpc.aio.ServicerContext
Handler = Callable[[Any, Context], Awaitable[Any]]
STREAMED = 64  # Requests of one stream that are worked on at a time; others are not read yet.


def parsed(kind: Any, data: bytes) -> Any:
    """The message of this kind; BadRequest for a damaged one."""
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise BadRequest(f"the message is damaged: {error}") from None


class GrpcFront:
    """The service's methods. Messages are parsed here, so that damaged ones are refused by the
    protocol's code. Models are loaded and unloaded unless `allow_change` raises."""

    def __init__(self, door: FrontDoor, allow_change: Callable[[], None]):
        self._door, self._allow_change = door, allow_change
        self._reading: set[asyncio.Task[None]] = set()  # Of the streams that are open.
        # By name: the message that each takes, and what answers it.
        self.methods: dict[str, tuple[Any, Handler]] = {
            "ServerLive": (pb.ServerLiveRequest, self._live),
            "ServerReady": (pb.ServerReadyRequest, self._ready),
            "ServerMetadata": (pb.ServerMetadataRequest, self._metadata),
            "ModelReady": (pb.ModelReadyRequest, self._model_ready),
            "ModelMetadata": (pb.ModelMetadataRequest, self._model_metadata),
            "ModelInfer": (pb.ModelInferRequest, self._infer),
            "ModelConfig": (MADE["VersionRequest"], self._config),
            "ModelStatistics": (MADE["VersionRequest"], self._statistics),
            "RepositoryIndex": (MADE["IndexRequest"], self._index),
            "RepositoryModelLoad": (MADE["ModelRequest"], self._load),
            "RepositoryModelUnload": (MADE["ModelRequest"], self._unload)}

    def add_to(self, server: grpc.aio.Server) -> None:
        def written(message: Any) -> bytes:
            return message.SerializeToString()

        handlers = {name: grpc.unary_unary_rpc_method_handler(self._method(kind, handler),
                                                              response_serializer=written)
                    for name, (kind, handler) in self.methods.items()}
        handlers["ModelStreamInfer"] = grpc.stream_stream_rpc_method_handler(
            self._stream, response_serializer=written)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))

    def end_streams(self) -> None:
        """Takes no more requests of streams, which end when those that came are answered."""
        for reading in self._reading:
            reading.cancel()

    def _method(self, kind: Any, handler: Handler) -> Callable[[bytes, Context], Any]:
        async def call(data: bytes, context: Context) -> Any:
            try:
                return await self._answer(kind, handler, data, context)
            except ServingError as error:
                failure = error
            if not failure.counted:
                REFUSALS.labels("grpc", failure.grpc, failure.reason).inc()
            await context.abort(grpc.StatusCode[failure.grpc], str(failure))

        return call

    async def _answer(self, kind: Any, handler: Handler, data: bytes, context: Context) -> Any:
        self._door.hold(len(data))
        try:
            return await handler(parsed(kind, data), context)
        except ServingError:
            raise
        except Exception as error:  # The server's own fault, which must not end it.
            log.exception("a request failed")
            raise ModelFailed(type(error).__name__) from error
        finally:
            self._door.release(len(data))

    async def _stream(self, requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[Any]:
        """One answer for each request, in the order of the requests."""
        slots = asyncio.Semaphore(STREAMED)
        answers: asyncio.Queue[asyncio.Task[Any] | None] = asyncio.Queue()

        async def read() -> None:
            try:
                async for data in requests:
                    await slots.acquire()
                    answers.put_nowait(asyncio.create_task(self._streamed(data, context)))
            finally:
                answers.put_nowait(None)

        reading = asyncio.create_task(read())
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        try:
            while (answer := await answers.get()) is not None:
                yield await answer
                slots.release()
        finally:
            reading.cancel()
            while not answers.empty():
                if (answer := answers.get_nowait()) is not None:
                    answer.cancel()

    async def _streamed(self, data: bytes, context: Context) -> Any:
        """An answer, or what was wrong: the stream's other requests go on."""
        request_id = ""

        async def infer(message: Any, context: Context) -> Any:
            nonlocal request_id
            request_id = message.id
            return await self._infer(message, context)

        try:
            response = await self._answer(pb.ModelInferRequest, infer, data, context)
        except ServingError as error:
            return MADE["StreamResponse"](error_message=str(error),
                                           infer_response=pb.ModelInferResponse(id=request_id))
        response.parameters["triton_final_response"].bool_param = True
        return MADE["StreamResponse"](infer_response=response)

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

    async def _config(self, message: Any, _context: Context) -> Any:
        return MADE["ConfigResponse"](
            config=self._door.model_config(message.name, message.version))

    async def _statistics(self, message: Any, _context: Context) -> Any:
        return MADE["StatisticsResponse"](
            **self._door.statistics(message.name, message.version))

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
        return MADE["IndexResponse"](models=rows)

    async def _load(self, message: Any, _context: Context) -> Any:
        self._allow_change()
        if message.parameters:
            raise BadRequest("parameters of a load are not supported")
        name = message.second or message.first
        await self._door.load(name)
        return MADE["ModelResponse"](model_name=name, done=True)

    async def _unload(self, message: Any, _context: Context) -> Any:
        self._allow_change()
        name = message.second or message.first
        await self._door.unload(name)
        return MADE["ModelResponse"](model_name=name, done=True)
