"""uvicorn as the server uses it: listening, and ending when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import uvicorn


class _Uvicorn(uvicorn.Server):
    """Leaves signals to Server."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class HttpListener:
    def __init__(self, config: uvicorn.Config):
        self._config, self._server = config, _Uvicorn(config)

    @property
    def port(self) -> int:
        return self._server.servers[0].sockets[0].getsockname()[1]

    async def begin(self) -> asyncio.Task[None]:
        """Listens, and gives the task that ends with the server."""
        task = asyncio.create_task(self._server.serve())
        while not self._server.started and not task.done():
            await asyncio.sleep(0.01)
        if task.done():
            raise OSError(f"no server at {self._config.host}:{self._config.port}")
        return task

    def end(self) -> None:
        """Takes no more connections; requests that were begun are answered."""
        self._server.should_exit = True

    def abort(self) -> None:
        """Lets go of the connections that are left."""
        self._server.force_exit = True
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()
