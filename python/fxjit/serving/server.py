"""KServe's model server with models of fxjit behind it, and the whole of the protocol in front."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import grpc
import uvicorn

from .bounds import GRPC_CALLS, GRPC_STREAMS, Bounds, raise_descriptors
from .front_door import FrontDoor
from .grpc_front import GrpcFront
from .http_listener import HttpListener
from .http_server import Limits, bounded_protocol
from .kserve_parts import DataPlane, ModelRepository, ModelRepositoryExtension, RESTServer, app
from .metrics import ModelCollector
from .process import leave, on_signals, watch_descriptors
from .repository import Repository
from .rest import RestApp

log = logging.getLogger("fxjit.serving")
ADMIN_CONNECTIONS = 64
SECONDS_TO_TELL = 1  # For the refusals of what was not done in time to reach the clients.


def _configure(config: uvicorn.Config, application: Any, host: str, limits: Limits,
               bounds: Bounds) -> HttpListener:
    config.app, config.host = application, host
    config.access_log = False
    config.lifespan = "off"
    config.http, config.ws = bounded_protocol(limits), "none"
    config.timeout_keep_alive = bounds.idle_seconds
    return HttpListener(config)


def _kserve_application() -> RESTServer:
    """KServe's application, which keeps the paths outside /v2 (/metrics among them)."""
    registry = ModelRepository()
    made = RESTServer("kserve.model_server:app", DataPlane(registry),
                      ModelRepositoryExtension(registry), 0)
    made.create_application()
    return made


class Server:
    """Listens while it loads the models of `repository`: alive at once, ready when all are. Port 0
    takes a free one; none: no server for that protocol. `admin`: a port for REST whose connections
    are counted apart. `drain_seconds`: how long it answers on after SIGTERM while it says that it
    is not ready; then it answers what was begun, for at most `grace_seconds`; what is not done then
    is refused. A second signal ends it at once."""

    def __init__(self, repository: Repository, door: FrontDoor, host: str = "127.0.0.1",
                 http: int | None = 8080, grpc_port: int | None = 8081,
                 drain_seconds: float = 0, grace_seconds: float = 30, admin: int | None = None,
                 bounds: Bounds = Bounds()):
        self._repository, self._door, self._host = repository, door, host
        self._http, self._grpc, self._admin = http, grpc_port, admin
        self._drain_seconds, self._grace_seconds = drain_seconds, grace_seconds
        self._bounds = bounds

    def run(self) -> None:
        """Until SIGTERM or SIGINT."""
        try:
            import uvloop
            runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        except ImportError:
            runner = asyncio.Runner()
        with runner:
            runner.run(self._run())

    async def _run(self) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        on_signals(loop, stop)
        if too_few := raise_descriptors(self._bounds):
            log.warning(too_few)
        ModelCollector(self._repository)
        front = GrpcFront(self._door, self._bounds.body_seconds, GRPC_STREAMS)
        listeners = self._listeners()
        tasks, rpc, ports = [], None, {}
        for name, listener in listeners.items():
            tasks.append(await listener.begin())
            ports[name] = listener.port
        if self._grpc is not None:
            rpc, ports["grpc"] = await self._begin_grpc(front)
        log.info("listening", extra={"host": self._host, **ports})
        watching = asyncio.create_task(watch_descriptors())
        loading = loop.run_in_executor(None, self._repository.load_all)
        loading.add_done_callback(lambda done: self._loaded(done, stop))
        await stop.wait()
        log.info("stopping")
        self._repository.stopping = True
        await asyncio.sleep(self._drain_seconds)
        watching.cancel()
        await self._end(front, list(listeners.values()), tasks, rpc)
        closing = loop.run_in_executor(None, self._repository.close)
        _, late = await asyncio.wait((loading, closing), timeout=SECONDS_TO_TELL)
        log.info("stopped")
        if late:  # A model is loading or computes on: nobody waits for it.
            leave(0)

    def _listeners(self) -> dict[str, HttpListener]:
        """Of REST, by the names under which their ports are logged."""
        made: dict[str, HttpListener] = {}
        bounds = self._bounds
        application = None
        for name, port, connections in (("http", self._http, bounds.connections),
                                        ("admin", self._admin, ADMIN_CONNECTIONS)):
            if port is None:
                continue
            if application is None:
                _kserve_application()
                application = RestApp(self._door, app, bounds.body_seconds)
            limits = Limits(connections, min(bounds.of_address, connections),
                            bounds.header_seconds)
            config = uvicorn.Config(application, port=port, log_config=None)
            made[name] = _configure(config, application, self._host, limits, bounds)
        return made

    async def _end(self, front: GrpcFront, listeners: list[HttpListener],
                   tasks: list[asyncio.Task[None]], rpc: grpc.aio.Server | None) -> None:
        """Answers what was begun, for as long as there is; refuses what is left."""
        for listener in listeners:
            listener.end()
        front.end_streams()
        rpc_task = asyncio.create_task(
            rpc.stop(self._grace_seconds + SECONDS_TO_TELL)) if rpc else None
        ending = [*tasks, rpc_task] if rpc_task else tasks
        if not ending:
            return
        _, late = await asyncio.wait(ending, timeout=self._grace_seconds)
        if not late:
            return
        self._door.end()
        front.end()
        _, late = await asyncio.wait(late, timeout=2 * SECONDS_TO_TELL)
        if late:
            for listener in listeners:
                listener.abort()
            await asyncio.wait(late, timeout=SECONDS_TO_TELL)

    def _loaded(self, done: asyncio.Future[None], stop: asyncio.Event) -> None:
        error = done.exception()
        if error:
            log.error("the repository cannot be read", extra={"error": str(error)})
            stop.set()
        elif not self._repository.stopping:
            log.info("loaded", extra={"ready": self._repository.ready()})

    async def _begin_grpc(self, front: GrpcFront) -> tuple[grpc.aio.Server, int]:
        bounds = self._bounds
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", self._door.max_bytes),
                ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0),
                ("grpc.max_allowed_incoming_connections", bounds.connections),
                ("grpc.max_concurrent_streams", GRPC_CALLS),
                ("grpc.server_handshake_timeout_ms", round(1e3 * bounds.header_seconds)),
                ("grpc.max_connection_idle_ms", round(1e3 * bounds.idle_seconds)),
                ("grpc.keepalive_time_ms", round(1e3 * bounds.idle_seconds)),
                ("grpc.http2.bdp_probe", 0)],
            maximum_concurrent_rpcs=GRPC_CALLS, compression=grpc.Compression.NoCompression)
        front.add_to(server)
        port = server.add_insecure_port(f"{self._host}:{self._grpc}")
        await server.start()
        return server, port
