"""What gRPC servers have beside their own service: grpc.health.v1, reflection, and tokens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from .access import Access
from .account import Held
from .errors import NotFound, ServingError, Unauthorized
from .grpc_front import SERVICE, GrpcFront, parsed, refuse
from .repository import Repository

HEALTH = "grpc.health.v1.Health"
# Of the protocol, and of health: what asks for it has no token.
OPEN = tuple(f"/{name}" for name in (
    f"{SERVICE}/ServerLive", f"{SERVICE}/ServerReady", f"{HEALTH}/Check", f"{HEALTH}/Watch"))
WATCHED_SECONDS = 0.5
Asked, Status = health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse


class Health:
    """SERVING, for the server ("") and its service, when the server is ready."""

    def __init__(self, repository: Repository):
        self._repository = repository

    def _status(self, service: str) -> Any:
        if service not in ("", SERVICE):
            return Status.SERVICE_UNKNOWN
        return Status.SERVING if self._repository.ready() else Status.NOT_SERVING

    async def check(self, data: bytes, _context: grpc.aio.ServicerContext, _held: Held) -> Any:
        status = self._status(parsed(Asked, data).service)
        if status == Status.SERVICE_UNKNOWN:
            raise NotFound("there is no such service")
        return Status(status=status)

    async def watch(self, data: bytes, context: grpc.aio.ServicerContext, _held: Held) -> None:
        """Writes each change; ends with the server, for whose end nobody waits longer than
        that."""
        service, told = parsed(Asked, data).service, None
        while True:
            stopping, status = self._repository.stopping, self._status(service)
            if status != told:
                await context.write(Status(status=status).SerializeToString())
                told = status
            if stopping:
                return
            await asyncio.sleep(WATCHED_SECONDS)


def _reflection(front: GrpcFront) -> grpc.RpcMethodHandler:
    """The library's, with messages that are received as those of other methods are."""
    servicer = reflection.aio.ReflectionServicer((SERVICE, HEALTH, reflection.SERVICE_NAME))

    async def info(_requests: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        asked = front.messages(reflection_pb2.ServerReflectionRequest, context)
        try:
            async for answer in servicer.ServerReflectionInfo(asked, context):
                yield answer.SerializeToString()
        except ServingError as error:
            await refuse(error, context)

    return grpc.stream_stream_rpc_method_handler(info)


def add_to(server: grpc.aio.Server, front: GrpcFront, repository: Repository) -> None:
    health = Health(repository)
    server.add_generic_rpc_handlers((
        grpc.method_handlers_generic_handler(HEALTH, {
            "Check": front.handler(health.check), "Watch": front.handler(health.watch)}),
        grpc.method_handlers_generic_handler(reflection.SERVICE_NAME, {
            "ServerReflectionInfo": _reflection(front)})))


class TokenInterceptor(grpc.aio.ServerInterceptor):
    """Refuses calls without a token when they begin, before their message is read."""

    def __init__(self, access: Access):
        self._access = access
        self._refusal = grpc.stream_stream_rpc_method_handler(self._refuse)

    async def _refuse(self, _requests: Any, context: grpc.aio.ServicerContext) -> None:
        await refuse(Unauthorized("expected the metadata authorization: Bearer with a token"),
                     context)

    async def intercept_service(
            self, continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
            details: grpc.HandlerCallDetails) -> Any:
        if details.method not in OPEN:
            told = dict(details.invocation_metadata or ())
            try:
                self._access.check_token(str(told.get("authorization", "")))
            except Unauthorized:
                return self._refusal
        return await continuation(details)
