"""What gRPC servers have beside their own service: grpc.health.v1, reflection, and tokens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from .access import Access
from .errors import Unauthorized
from .metrics import count_refusal
from .repository import Repository

SERVICE = "inference.GRPCInferenceService"
HEALTH = "grpc.health.v1.Health"
# Of the protocol, and of health: what asks for it has no token.
OPEN = tuple(f"/{name}" for name in (
    f"{SERVICE}/ServerLive", f"{SERVICE}/ServerReady", f"{HEALTH}/Check", f"{HEALTH}/Watch"))
WATCHED_SECONDS = 0.5
Status = health_pb2.HealthCheckResponse


class Health(health_pb2_grpc.HealthServicer):
    """SERVING, for the server ("") and its service, when the server is ready."""

    def __init__(self, repository: Repository):
        self._repository = repository

    def _status(self, service: str) -> Any:
        if service not in ("", SERVICE):
            return Status.SERVICE_UNKNOWN
        return Status.SERVING if self._repository.ready() else Status.NOT_SERVING

    async def Check(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        status = self._status(request.service)
        if status == Status.SERVICE_UNKNOWN:
            await context.abort(grpc.StatusCode.NOT_FOUND, "there is no such service")
        return Status(status=status)

    async def Watch(self, request: Any,
                    context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        """Each change; ends with the server, for whose end nobody waits longer than that."""
        told = None
        while True:
            stopping, status = self._repository.stopping, self._status(request.service)
            if status != told:
                yield Status(status=status)
                told = status
            if stopping:
                return
            await asyncio.sleep(WATCHED_SECONDS)


def add_to(server: grpc.aio.Server, repository: Repository) -> None:
    health_pb2_grpc.add_HealthServicer_to_server(Health(repository), server)
    reflection.enable_server_reflection((SERVICE, HEALTH, reflection.SERVICE_NAME), server)


class TokenInterceptor(grpc.aio.ServerInterceptor):
    """Refuses calls without a token when they begin, before their message is read."""

    def __init__(self, access: Access):
        self._access = access
        self._refusal = grpc.stream_stream_rpc_method_handler(self._refuse)

    async def _refuse(self, _requests: Any, context: grpc.aio.ServicerContext) -> None:
        error = Unauthorized("expected the metadata authorization: Bearer with a token")
        count_refusal("grpc", error)
        await context.abort(grpc.StatusCode[error.grpc], str(error))

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
