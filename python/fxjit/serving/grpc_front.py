"""The Open Inference Protocol over gRPC."""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn

import grpc
from google.protobuf.message import DecodeError

from . import grpc_messages
from .account import Held
from .body_threads import BodyThreads
from .errors import BadRequest, ModelFailed, ServingError, TooLarge
from .front_door import FrontDoor
from .grpc_messages import MADE
from .grpc_receipts import Receipts
from .grpc_streams import RequestStreams
from .kserve_parts import pb
from .metrics import count_refusal
from .requests import Answer, Request, sooner

log = logging.getLogger("fxjit.serving")
SERVICE = "inference.GRPCInferenceService"
INFER = "ModelInfer"
MOST_PLAIN = 1 << 16  # Bytes of a message without tensors.
Context = grpc.aio.ServicerContext
Handler = Callable[[Any, Context], Awaitable[Any]]
Answering = Callable[[bytes, Context, Held], Awaitable[Any]]


def parsed(kind: Any, data: bytes) -> Any:
    """The message of this kind, which has no tensors; BadRequest for a damaged one."""
    if len(data) > MOST_PLAIN:
        raise TooLarge(f"the message has more than {MOST_PLAIN} bytes")
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise BadRequest(f"the message is damaged: {error}") from None


async def refuse(error: ServingError, context: Context) -> NoReturn:
    """Ends a call, and counts it."""
    count_refusal("grpc", error)
    await context.abort(grpc.StatusCode[error.grpc], str(error))


def _of_stream(response: Any) -> bytes:
    response.parameters["triton_final_response"].bool_param = True
    return MADE["StreamResponse"](infer_response=response).SerializeToString()


class _Told:
    """A stream's context for one of its requests, and that request's id."""

    def __init__(self, context: Context):
        self.id = ""
        self.time_remaining, self.invocation_metadata = (
            context.time_remaining, context.invocation_metadata)


class GrpcFront:
    """The service's methods. All are handled as streams, so that a message is received when there
    is room for it; they are parsed here, so that damaged ones are refused by the protocol's code.
    Messages that do not arrive, and answers that are not taken, within `seconds` are given up.
    Models are loaded and unloaded unless `allow_change` raises."""

    def __init__(self, door: FrontDoor, allow_change: Callable[[], None], seconds: float = 30):
        self._allow_change = allow_change
        self._door, self._seconds = door, seconds
        self._receipts = Receipts(door.account, door.max_bytes, seconds)
        self._streams = RequestStreams(door.account, door.max_bytes, seconds, self._streamed)
        self._threads = BodyThreads()
        # By name: the message that each takes, and what answers it.
        self.methods: dict[str, tuple[Any, Handler]] = {
            "ServerLive": (pb.ServerLiveRequest, self._live),
            "ServerReady": (pb.ServerReadyRequest, self._ready),
            "ServerMetadata": (pb.ServerMetadataRequest, self._metadata),
            "ModelReady": (pb.ModelReadyRequest, self._model_ready),
            "ModelMetadata": (pb.ModelMetadataRequest, self._model_metadata),
            "ModelConfig": (MADE["VersionRequest"], self._config),
            "ModelStatistics": (MADE["VersionRequest"], self._statistics),
            "RepositoryIndex": (MADE["IndexRequest"], self._index),
            "RepositoryModelLoad": (MADE["ModelRequest"], self._load),
            "RepositoryModelUnload": (MADE["ModelRequest"], self._unload)}

    def add_to(self, server: grpc.aio.Server) -> None:
        handlers = {name: self.handler(functools.partial(self._answer, name))
                    for name in (*self.methods, INFER)}
        handlers["ModelStreamInfer"] = grpc.stream_stream_rpc_method_handler(self._stream)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))

    async def answer(self, name: str, data: bytes, context: Context) -> Any:
        """The answer of a method to a message. ServingError."""
        held = self._door.account.open()
        try:
            held.grow(len(data))
            return await self._answer(name, data, context, held)
        finally:
            held.close()

    def handler(self, answer: Answering) -> grpc.RpcMethodHandler:
        """Of a method with one message, which `answer` is given with what the account holds for
        it. What it gives is sent, None stands for nothing; what it raises is told."""
        async def call(_requests: Any, context: Context) -> None:
            held = self._door.account.open()
            try:
                refused = await self._call(answer, context, held)
            finally:
                held.close()
            if refused:
                await context.abort(*refused)

        return grpc.stream_stream_rpc_method_handler(call)

    async def messages(self, kind: Any, context: Context) -> AsyncIterator[Any]:
        """Those of a stream of small requests, which ends where the next does not come in time."""
        while (data := await self._receipts.receive(context.read)) is not grpc.aio.EOF:
            yield parsed(kind, data)

    def end(self) -> None:
        """Gives up the messages that have not come."""
        self._receipts.end()

    def end_streams(self) -> None:
        """Takes no more requests of streams, which end when those that came are answered."""
        self._streams.end()

    async def _call(self, answer: Answering, context: Context,
                    held: Held) -> tuple[grpc.StatusCode, str] | None:
        """Receives and answers. The code and text of a refusal."""
        try:
            data = await self._receipts.one(context.read)
            held.grow(len(data))
            response = await answer(data, context, held)
            if response is None:
                return None
            async with asyncio.timeout(self._seconds):
                await context.write(await self._serialized(response, held))
        except ServingError as error:
            count_refusal("grpc", error)
            return grpc.StatusCode[error.grpc], str(error)
        except TimeoutError:
            return grpc.StatusCode.DEADLINE_EXCEEDED, "the answer was not taken"
        return None

    async def _serialized(self, response: Any, held: Held) -> bytes:
        return await self._threads.run(held, response.ByteSize(), response.SerializeToString)

    async def _answer(self, name: str, data: bytes, context: Context, held: Held) -> Any:
        try:
            if name == INFER:
                return await self._infer(data, context, held)
            kind, handler = self.methods[name]
            return await handler(parsed(kind, data), context)
        except ServingError:
            raise
        except Exception as error:  # The server's own fault, which must not end it.
            log.exception("a request failed")
            raise ModelFailed(type(error).__name__) from error

    async def _stream(self, requests: AsyncIterator[bytes], context: Context) -> None:
        try:
            await self._streams.serve(requests, context)
        except ServingError as error:
            await refuse(error, context)

    async def _streamed(self, data: bytes, context: Context, held: Held) -> bytes:
        """An answer, or what was wrong: the stream's other requests go on."""
        told = _Told(context)
        try:
            held.grow(len(data))
            response = await self._answer(INFER, data, told, held)
            return await self._threads.run(held, response.ByteSize(), _of_stream, response)
        except ServingError as error:
            count_refusal("grpc", error)
            return MADE["StreamResponse"](
                error_message=str(error),
                infer_response=pb.ModelInferResponse(id=told.id)).SerializeToString()

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

    async def _infer(self, data: bytes, context: Any, held: Held) -> Any:
        left = context.time_remaining()
        deadline = None if left is None else time.monotonic() + left
        headers = dict(context.invocation_metadata() or ())
        message = await self._threads.run(held, len(data), grpc_messages.Message, data, held)
        around = message.around
        if isinstance(context, _Told):
            context.id = around.id

        async def read() -> Request:
            request = await self._threads.run(held, len(data), grpc_messages.read_request, message)
            request.deadline = sooner(request.deadline, deadline)
            return request

        async def write(answer: Answer, request: Request) -> Any:
            size = sum(array.nbytes for array in answer.outputs.values())
            return await self._threads.run(held, size, grpc_messages.written, answer, request, held)

        return await self._door.infer(around.model_name, around.model_version,
                                      str(headers.get("x-request-id") or around.id), read, write)

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
