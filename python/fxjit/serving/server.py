"""Models of fxjit behind the whole of the protocol: uvicorn's server for REST, gRPC's own."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import grpc
import uvicorn

from fxjit._fxjit import guard_mapped_files

from . import admin, grpc_services
from .access import Access, TokenGate, is_loopback
from .bounds import GRPC_CALLS, Bounds, raise_descriptors
from .collectors import ModelCollector, ServerCollector
from .front_door import FrontDoor
from .grpc_front import GrpcFront
from .http_listener import HttpListener
from .http_server import Limits, bounded_protocol
from .listening import Tls, bound, grpc_address
from .pages import Pages, refuse
from .process import leave, on_signals, watch_descriptors
from .repository import UNREADABLE, Repository
from .rest import RestApp
from .watch import SECONDS, Watch

log = logging.getLogger("fxjit.serving")
PLAIN = "this address is not a loopback one, and there is no TLS or no token: only behind a proxy"
SECONDS_TO_TELL = 1  # For the refusals of what was not done in time to reach the clients.


class Server:
    """Listens while it loads the models of `repository`: alive at once, ready when all are. Port 0
    takes a free one; none: no server for that protocol. `admin_at`: host and port of the one that
    admin.py describes. `drain_seconds`: how long it answers on after SIGTERM while it says that it
    is not ready; then it answers what was begun, for at most `grace_seconds`; what is not done then
    is refused. A second signal ends it at once. OSError where it cannot listen. `failed`: whether
    it ended because the repository could not be read."""

    def __init__(self, repository: Repository, door: FrontDoor, host: str = "127.0.0.1",
                 http: int | None = 8080, grpc_port: int | None = 8081,
                 drain_seconds: float = 0, grace_seconds: float = 30,
                 bounds: Bounds = Bounds(), *, admin_at: tuple[str, int] | None = None,
                 access: Access | None = None, tls: Tls | None = None, poll_seconds: float = 0):
        self._repository, self._door, self._host = repository, door, host
        self._http, self._grpc, self._admin_at = http, grpc_port, admin_at
        self._access, self._tls = access or Access(), tls
        self._drain_seconds, self._grace_seconds = drain_seconds, grace_seconds
        self._bounds = bounds
        self._watch = Watch(repository, poll_seconds)
        self._front = GrpcFront(door, self._access.check_change, bounds.body_seconds)
        self.failed = False

    def run(self) -> None:
        """Until SIGTERM or SIGINT."""
        guard_mapped_files()
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
        listeners = self._listeners()  # All ports are bound before anything is begun.
        ports = {name: listener.port for name, listener in listeners.items()}
        rpc = None
        if self._grpc is not None:
            rpc, ports["grpc"] = await self._begin_grpc()
        tasks = [await listener.begin() for listener in listeners.values()]
        ModelCollector(self._repository)
        ServerCollector(self._door, {name: listener.connections
                                     for name, listener in listeners.items()})
        log.info("listening", extra={"host": self._host, **ports})
        self._warn_of_strangers()
        loading = loop.run_in_executor(None, self._repository.load_all)
        loading.add_done_callback(lambda done: self._loaded(done, stop))
        watching = [asyncio.create_task(watch_descriptors()),
                    asyncio.create_task(self._watch_files(loading))]
        await stop.wait()
        log.info("stopping")
        self._repository.stopping = True
        await asyncio.sleep(self._drain_seconds)
        for task in watching:
            task.cancel()
        await self._end(list(listeners.values()), tasks, rpc)
        closing = loop.run_in_executor(None, self._repository.close)
        _, late = await asyncio.wait((loading, closing), timeout=SECONDS_TO_TELL)
        log.info("stopped")
        if late:  # A model is loading or computes on: nobody waits for it.
            leave(0)

    def _listeners(self) -> dict[str, HttpListener]:
        """Of REST, by the names under which their ports are logged. OSError."""
        made: dict[str, HttpListener] = {}
        seconds = self._bounds.body_seconds
        if self._admin_at is not None:
            app = RestApp(self._door, seconds, self._access.check_admin_change)
            made["admin"] = self._listener(admin.AdminApp(app), self._admin_at, admin.CONNECTIONS)
        if self._http is not None:
            app = RestApp(self._door, seconds, lambda scope: self._access.check_change())
            made["http"] = self._listener(app if made else Pages(app), (self._host, self._http),
                                          self._bounds.connections)
        return made

    def _listener(self, app: Any, at: tuple[str, int], connections: int) -> HttpListener:
        if self._access.tokens is not None:
            app = TokenGate(app, self._access, refuse)
        bounds, tls = self._bounds, self._tls
        limits = Limits(connections, min(bounds.of_address, connections), bounds.header_seconds)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", ws="none", proxy_headers=False,
            http=bounded_protocol(limits), timeout_keep_alive=bounds.idle_seconds,
            ssl_certfile=tls.certificate if tls else None, ssl_keyfile=tls.key if tls else None)
        if tls:
            config.load()
            tls.keep(config.ssl)
        return HttpListener(config, bound(*at))

    def _warn_of_strangers(self) -> None:
        hosts = [self._host, *(self._admin_at or ())[:1]]
        if not all(map(is_loopback, hosts)) and (self._tls is None
                                                 or self._access.tokens is None):
            log.warning(PLAIN, extra={"tls": self._tls is not None,
                                      "tokens": self._access.tokens is not None})

    async def _watch_files(self, loading: asyncio.Future[None]) -> None:
        await asyncio.wait((loading,))
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SECONDS)
            await loop.run_in_executor(None, self._watch.look)
            if self._tls is not None:
                self._tls.refresh()

    async def _end(self, listeners: list[HttpListener], tasks: list[asyncio.Task[None]],
                   rpc: grpc.aio.Server | None) -> None:
        """Answers what was begun, for as long as there is; refuses what is left."""
        for listener in listeners:
            listener.end()
        self._front.end_streams()
        rpc_task = asyncio.create_task(
            rpc.stop(self._grace_seconds + SECONDS_TO_TELL)) if rpc else None
        ending = [*tasks, rpc_task] if rpc_task else tasks
        if not ending:
            return
        _, late = await asyncio.wait(ending, timeout=self._grace_seconds)
        if not late:
            return
        self._door.end()
        self._front.end()
        _, late = await asyncio.wait(late, timeout=2 * SECONDS_TO_TELL)
        if late:
            for listener in listeners:
                listener.abort()
            await asyncio.wait(late, timeout=SECONDS_TO_TELL)

    def _loaded(self, done: asyncio.Future[None], stop: asyncio.Event) -> None:
        error = done.exception()
        if error:
            log.error(UNREADABLE, extra={"error": str(error)})
            self.failed = True
            stop.set()
        elif not self._repository.stopping:
            log.info("loaded", extra={"ready": self._repository.ready()})

    async def _begin_grpc(self) -> tuple[grpc.aio.Server, int]:
        bounds = self._bounds
        interceptors = [] if self._access.tokens is None else [
            grpc_services.TokenInterceptor(self._access)]
        server = grpc.aio.server(
            interceptors=interceptors, options=[
                ("grpc.max_receive_message_length", self._door.max_bytes),
                ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0),
                ("grpc.max_allowed_incoming_connections", bounds.connections),
                ("grpc.max_concurrent_streams", GRPC_CALLS),
                ("grpc.server_handshake_timeout_ms", round(1e3 * bounds.header_seconds)),
                ("grpc.max_connection_idle_ms", round(1e3 * bounds.idle_seconds)),
                ("grpc.keepalive_time_ms", round(1e3 * bounds.idle_seconds)),
                ("grpc.http2.bdp_probe", 0)],
            maximum_concurrent_rpcs=GRPC_CALLS, compression=grpc.Compression.NoCompression)
        self._front.add_to(server)
        grpc_services.add_to(server, self._front, self._repository)
        at = grpc_address(self._host, self._grpc)
        port = (server.add_secure_port(at, self._tls.credentials()) if self._tls
                else server.add_insecure_port(at))
        await server.start()
        return server, port
