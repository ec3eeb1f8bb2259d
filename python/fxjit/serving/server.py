"""Models of fxjit behind the whole of the protocol: uvicorn's server for REST, gRPC's own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Iterator
from typing import Any

import grpc
import uvicorn

from fxjit._fxjit import guard_mapped_files

from . import admin, grpc_services
from .access import Access, TokenGate, is_loopback
from .collectors import ModelCollector, ServerCollector
from .front_door import FrontDoor
from .grpc_front import GrpcFront
from .listening import Tls, bound, grpc_address
from .pages import Pages, refuse
from .repository import UNREADABLE, Repository
from .rest import RestApp
from .watch import SECONDS, Watch

log = logging.getLogger("fxjit.serving")
CONNECTIONS = 4096
PLAIN = "this address is not a loopback one, and there is no TLS or no token: only behind a proxy"


class _Uvicorn(uvicorn.Server):
    """Leaves signals to Server."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Rest:
    """An ASGI application at a socket that is bound."""

    def __init__(self, app: Any, at: socket.socket, grace: int, connections: int,
                 tls: Tls | None = None):
        self._socket = at
        self.port = at.getsockname()[1]
        self._config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", limit_concurrency=connections,
            timeout_keep_alive=65, timeout_graceful_shutdown=grace,
            ssl_certfile=tls.certificate if tls else None, ssl_keyfile=tls.key if tls else None)
        self._server = _Uvicorn(self._config)
        if tls:
            self._config.load()
            tls.keep(self._config.ssl)

    def connections(self) -> int:
        return len(self._server.server_state.connections)

    async def begin(self) -> asyncio.Task[None]:
        """Answers, and gives the task that ends with the server."""
        task = asyncio.create_task(self._server.serve([self._socket]))
        while not self._server.started and not task.done():
            await asyncio.sleep(0.01)
        return task

    def end(self) -> None:
        """Takes no more connections; requests that were begun are answered."""
        self._server.should_exit = True


class Server:
    """Listens while it loads the models of `repository`: alive at once, ready when all are. Port 0
    takes a free one; none: no server for that protocol. admin_at: host and port of the one that
    admin.py describes. `drain_seconds`: how long it answers on after SIGTERM while it says that it
    is not ready; then it answers what was begun, for at most `grace_seconds`. OSError where it
    cannot listen. `failed`: whether it ended because the repository could not be read."""

    def __init__(self, repository: Repository, door: FrontDoor, host: str = "127.0.0.1",
                 http: int | None = 8080, grpc_port: int | None = 8081,
                 drain_seconds: float = 0, grace_seconds: int = 30, *,
                 admin_at: tuple[str, int] | None = None, access: Access | None = None,
                 tls: Tls | None = None, poll_seconds: float = 0):
        self._repository, self._door, self._host = repository, door, host
        self._http, self._grpc, self._admin_at = http, grpc_port, admin_at
        self._access, self._tls = access or Access(), tls
        self._drain_seconds, self._grace_seconds = drain_seconds, grace_seconds
        self._watch = Watch(repository, poll_seconds)
        self._front = GrpcFront(door, self._access.check_change)
        self._rest: dict[str, _Rest] = {}  # By the name of the port.
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
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        self._open_ports()
        ports = {name: rest.port for name, rest in self._rest.items()}
        rpc = None
        if self._grpc is not None:
            rpc, ports["grpc"] = await self._begin_grpc()
        tasks = [await rest.begin() for rest in self._rest.values()]
        ModelCollector(self._repository)
        ServerCollector(self._door, {name: rest.connections
                                     for name, rest in self._rest.items()})
        log.info("listening", extra={"host": self._host, **ports})
        self._warn_of_strangers()
        loading = loop.run_in_executor(None, self._repository.load_all)
        loading.add_done_callback(lambda done: self._loaded(done, stop))
        watching = asyncio.create_task(self._watch_files(loading))
        await stop.wait()
        log.info("stopping")
        self._repository.stopping = True
        watching.cancel()
        await asyncio.sleep(self._drain_seconds)
        for rest in self._rest.values():
            rest.end()
        if rpc:
            self._front.end_streams()
            await rpc.stop(self._grace_seconds)
        for task in tasks:
            await task
        await loop.run_in_executor(None, self._repository.close)
        log.info("stopped")

    def _open_ports(self) -> None:
        """Binds all ports before anything is begun. OSError."""
        if self._admin_at is not None:
            app = RestApp(self._door, allow_change=self._access.check_admin_change)
            self._add_rest("admin", admin.AdminApp(app), self._admin_at, admin.CONNECTIONS)
        if self._http is not None:
            app = RestApp(self._door, allow_change=lambda scope: self._access.check_change())
            self._add_rest("http", app if self._rest else Pages(app), (self._host, self._http),
                           CONNECTIONS)

    def _add_rest(self, name: str, app: Any, at: tuple[str, int], connections: int) -> None:
        if self._access.tokens is not None:
            app = TokenGate(app, self._access, refuse)
        self._rest[name] = _Rest(app, bound(*at), self._grace_seconds, connections, self._tls)

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

    def _loaded(self, done: asyncio.Future[None], stop: asyncio.Event) -> None:
        error = done.exception()
        if error:
            log.error(UNREADABLE, extra={"error": str(error)})
            self.failed = True
            stop.set()
        else:
            log.info("loaded", extra={"ready": self._repository.ready()})

    async def _begin_grpc(self) -> tuple[grpc.aio.Server, int]:
        interceptors = [] if self._access.tokens is None else [
            grpc_services.TokenInterceptor(self._access)]
        server = grpc.aio.server(options=[
            ("grpc.max_receive_message_length", self._door.max_bytes),
            ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)],
            interceptors=interceptors, compression=grpc.Compression.NoCompression)
        self._front.add_to(server)
        grpc_services.add_to(server, self._repository)
        at = grpc_address(self._host, self._grpc)
        port = (server.add_secure_port(at, self._tls.credentials()) if self._tls
                else server.add_insecure_port(at))
        await server.start()
        return server, port
