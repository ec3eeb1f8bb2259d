"""KServe's model server with models of fxjit behind it, and the whole of the protocol in front."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator

import grpc
import uvicorn

from .front_door import FrontDoor
from .grpc_front import GrpcFront
from .kserve_parts import DataPlane, ModelRepository, ModelRepositoryExtension, RESTServer, app
from .metrics import ModelCollector
from .repository import Repository
from .rest import RestApp


log = logging.getLogger("fxjit.serving")
CONNECTIONS = 4096


class _Uvicorn(uvicorn.Server):
    """Leaves signals to Server."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Rest(RESTServer):
    """KServe's application, which keeps the paths outside /v2 (/metrics among them)."""

    def __init__(self, door: FrontDoor, host: str, port: int, grace: int):
        registry = ModelRepository()
        super().__init__("kserve.model_server:app", DataPlane(registry),
                         ModelRepositoryExtension(registry), port, grace_period=grace)
        self.create_application()
        self.config.app = RestApp(door, app)
        self.config.host = host
        self.config.access_log = False
        self.config.lifespan = "off"
        self.config.limit_concurrency = CONNECTIONS
        self._server = _Uvicorn(self.config)

    @property
    def port(self) -> int:
        return self._server.servers[0].sockets[0].getsockname()[1]

    async def begin(self) -> asyncio.Task[None]:
        """Listens, and gives the task that ends with the server."""
        task = asyncio.create_task(self._server.serve())
        while not self._server.started and not task.done():
            await asyncio.sleep(0.01)
        if task.done():
            raise OSError(f"no server at {self.config.host}:{self.config.port}")
        return task

    def end(self) -> None:
        """Takes no more connections; requests that were begun are answered."""
        self._server.should_exit = True


class Server:
    """Listens while it loads the models of `repository`: alive at once, ready when all are. Port 0
    takes a free one; none: no server for that protocol. `drain_seconds`: how long it answers on
    after SIGTERM while it says that it is not ready; then it answers what was begun, for at most
    `grace_seconds`."""

    def __init__(self, repository: Repository, door: FrontDoor, host: str = "127.0.0.1",
                 http: int | None = 8080, grpc_port: int | None = 8081,
                 drain_seconds: float = 0, grace_seconds: int = 30):
        self._repository, self._door, self._host = repository, door, host
        self._http, self._grpc = http, grpc_port
        self._drain_seconds, self._grace_seconds = drain_seconds, grace_seconds

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
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        ModelCollector(self._repository)
        rest = rest_task = rpc = None
        front = GrpcFront(self._door)
        ports = {}
        if self._http is not None:
            rest = _Rest(self._door, self._host, self._http, self._grace_seconds)
            rest_task = await rest.begin()
            ports["http"] = rest.port
        if self._grpc is not None:
            rpc, ports["grpc"] = await self._begin_grpc(front)
        log.info("listening", extra={"host": self._host, **ports})
        loading = loop.run_in_executor(None, self._repository.load_all)
        loading.add_done_callback(lambda done: self._loaded(done, stop))
        await stop.wait()
        log.info("stopping")
        self._repository.stopping = True
        await asyncio.sleep(self._drain_seconds)
        if rest:
            rest.end()
        if rpc:
            front.end_streams()
            await rpc.stop(self._grace_seconds)
        if rest_task:
            await rest_task
        await loop.run_in_executor(None, self._repository.close)
        log.info("stopped")

    def _loaded(self, done: asyncio.Future[None], stop: asyncio.Event) -> None:
        error = done.exception()
        if error:
            log.error("the repository cannot be read", extra={"error": str(error)})
            stop.set()
        else:
            log.info("loaded", extra={"ready": self._repository.ready()})

    async def _begin_grpc(self, front: GrpcFront) -> tuple[grpc.aio.Server, int]:
        server = grpc.aio.server(options=[
            ("grpc.max_receive_message_length", self._door.max_bytes),
            ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)],
            compression=grpc.Compression.NoCompression)
        front.add_to(server)
        port = server.add_insecure_port(f"{self._host}:{self._grpc}")
        await server.start()
        return server, port
