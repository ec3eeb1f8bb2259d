"""What both protocols do with a request: they find its model, count it, time it and log it here."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import fxjit

from .account import Account
from .datatypes import Tensor
from .errors import MOST_TOLD, Cancelled, NotReady, Retired, ServingError, short
from .metrics import STAGES
from .repository import Repository
from .requests import Answer, Request, new_id
from .served import Served

log = logging.getLogger("fxjit.serving")
NAME, EXTENSIONS = "fxjit", ["model_repository", "model_configuration", "binary_tensor_data",
                          "statistics"]


class _Asked:
    """A request, and the version of a model that answers it, once that is found."""

    def __init__(self, name: str, version: str, request_id: str):
        self.name, self.version, self.id = name, version, request_id
        self.served: Served | None = None
        self.begun = time.monotonic()
        self.arrived = False  # Whether its body is there, and the model is asked.


class FrontDoor:
    """Used by one event loop. max_bytes: the largest body. max_held: the limit of the account of
    all requests, in bytes."""

    def __init__(self, repository: Repository, max_bytes: int = 64 << 20,
                 max_held: int = 512 << 20):
        self.repository, self.max_bytes = repository, max_bytes
        self.account = Account(max_held)
        self._open: set[asyncio.Task[Any]] = set()  # Those in infer().
        self._ended = False

    @property
    def held(self) -> int:
        """The bytes that requests hold now."""
        return self.account.held

    @property
    def in_flight(self) -> int:
        """The number of requests to models that are being answered now."""
        return len(self._open)

    def end(self) -> None:
        """Answers NotReady to all open requests and to all that come later."""
        self._ended = True
        for task in list(self._open):
            task.cancel()

    def metadata(self) -> dict[str, object]:
        return {"name": NAME, "version": fxjit.__version__, "extensions": EXTENSIONS}

    def model_metadata(self, name: str, version: str) -> dict[str, object]:
        found = self.repository.find(name, version)
        return found.metadata([version] if version else self.repository.versions(name))

    def model_config(self, name: str, version: str) -> dict[str, object]:
        """Of Triton's extension. Where requests share calls, dims are without the rows."""
        found = self.repository.find(name, version)
        rows = found.max_batch and all(
            one.shape[:1] == [-1] for one in (*found.inputs, *found.outputs))

        def told(tensors: tuple[Tensor, ...]) -> list[dict[str, object]]:
            return [{"name": one.name, "data_type": f"TYPE_{_type_name(one.datatype)}",
                     "dims": one.shape[1:] if rows else one.shape} for one in tensors]

        config: dict[str, object] = {
            "name": name, "platform": "fxjit", "backend": "fxjit",
            "max_batch_size": found.max_batch if rows else 0,
            "input": told(found.inputs), "output": told(found.outputs),
            "instance_group": [{"name": name, "kind": "KIND_CPU",
                                "count": found.options.instances}]}
        if rows:
            config["dynamic_batching"] = {
                "max_queue_delay_microseconds": round(found.options.delay * 1e6)}
        return config

    def statistics(self, name: str, version: str) -> dict[str, object]:
        """Of Triton's extension: of one version, of all of a model, or of all models."""
        found = self.repository.asked(name, version)
        return {"model_stats": [one.metrics.statistics.told() for one in found]}

    def model_ready(self, name: str, version: str) -> bool:
        """NotFound where there is no such model."""
        try:
            self.repository.find(name, version)
        except NotReady:
            return False
        return not self.repository.stopping

    async def load(self, name: str) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.repository.load, name)

    async def unload(self, name: str) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.repository.unload, name)

    async def infer(self, name: str, version: str, request_id: str,
                    read: Callable[[], Awaitable[Request]],
                    write: Callable[[Answer, Request], Awaitable[Any]],
                    arrive: Callable[[], Awaitable[None]] | None = None) -> Any:
        """Receives a request, reads it, has the model answer it and writes the answer. If there is
        no such model, the body is not received. Raises ServingError."""
        request_id = request_id or new_id()
        asked = _Asked(name, version, request_id)
        task = asyncio.current_task()
        self._open.add(task)
        try:
            if self._ended:
                raise NotReady("the server stops")
            return await self._infer(asked, read, write, arrive)
        except ServingError as error:
            self._failed(asked, error)
            raise
        except asyncio.CancelledError:
            if not self._ended:
                self._failed(asked, Cancelled("the client went away"))
                raise
            task.uncancel()
            stopped = NotReady("the server stops")
            self._failed(asked, stopped)
            raise stopped from None
        finally:
            self._open.discard(task)

    async def _infer(self, asked: _Asked, read: Any, write: Any, arrive: Any) -> Any:
        times: dict[str, float] = {}
        asked.served = self.repository.find(asked.name, asked.version)
        if arrive:
            await arrive()
        asked.arrived = True
        asked.begun = begun = time.monotonic()
        request = await read()
        times["read"] = time.monotonic() - begun
        try:
            answer = await asked.served.infer(request, times)
        except Retired:
            asked.served = self.repository.find(asked.name, asked.version)
            answer = await asked.served.infer(request, times)
        computed = time.monotonic()
        written = await write(answer, request)
        times["write"] = time.monotonic() - computed
        times["whole"] = time.monotonic() - begun
        self._answered(asked, times)
        return written

    def _answered(self, asked: _Asked, times: dict[str, float]) -> None:
        served = asked.served
        served.metrics.answered(times)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("answered", extra={
                "request": asked.id, "model": served.name, "version": served.version,
                "batch": times["batch"],
                **{f"{stage}_ms": round(1e3 * times[stage], 3) for stage in (*STAGES, "whole")}})

    def _failed(self, asked: _Asked, error: ServingError) -> None:
        if asked.served and asked.arrived:  # Names that clients made up are no labels.
            asked.served.metrics.failed(error.reason, time.monotonic() - asked.begun)
            error.counted = True
        log.warning("refused", extra={"request": asked.id, "model": short(asked.name),
                                      "version": short(asked.version), "reason": error.reason,
                                      "error": error.detail[:MOST_TOLD]})


def _type_name(datatype: str) -> str:
    return "STRING" if datatype == "BYTES" else datatype
