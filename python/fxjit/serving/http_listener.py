"""uvicorn as the server uses it: listening, and ending when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn


class _Uvicorn(uvicorn.Server):
    """Leaves signals to Server."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class HttpListener:
    """At a socket that is bound."""

    def __init__(self, config: uvicorn.Config, at: socket.socket):
        self._socket, self._server = at, _Uvicorn(config)
        self.port = at.getsockname()[1]

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

    def abort(self) -> None:
        """Lets go of the connections that are left."""
        self._server.force_exit = True
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()
