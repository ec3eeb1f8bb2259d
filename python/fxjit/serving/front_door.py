"""What both protocols do with a request: find the model, count, time and log it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

import fxjit

from .datatypes import Tensor
from .errors import (
    MOST_TOLD, Cancelled, NotReady, Overloaded, Retired, ServingError, short)
from .metrics import STAGES
from .repository import Repository
from .requests import Answer, Request, new_id
from .served import Served

log = logging.getLogger("fxjit.serving")
NAME, EXTENSIONS = "fxjit", ["model_repository", "model_configuration", "binary_tensor_data",
                          "statistics"]


class FrontDoor:
    """max_bytes: of one body. max_held: of all bodies that are being worked on; more are refused
    as Overloaded, so that memory stays bounded. Of one event loop."""

    def __init__(self, repository: Repository, max_bytes: int = 64 << 20,
                 max_held: int = 512 << 20):
        self.repository, self.max_bytes, self.max_held = repository, max_bytes, max_held
        self._held = self.in_flight = 0

    @property
    def held(self) -> int:
        """Bytes of requests that are being worked on."""
        return self._held

    def hold(self, size: int) -> None:
        if self._held + size > self.max_held:
            raise Overloaded(f"{self._held} bytes of requests are being worked on already")
        self._held += size

    def release(self, size: int) -> None:
        self._held -= size

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
                    read: Callable[[], Request],
                    write: Callable[[Answer, Request], object]) -> object:
        """Reads a request, has it answered and writes the answer. ServingError."""
        begun = time.monotonic()
        request_id = request_id or new_id()
        served: Served | None = None
        times: dict[str, float] = {}
        self.in_flight += 1
        try:
            served = self.repository.find(name, version)
            request = read()
            times["read"] = time.monotonic() - begun
            try:
                answer = await served.infer(request, times)
            except Retired:
                served = self.repository.find(name, version)
                answer = await served.infer(request, times)
            computed = time.monotonic()
            written = write(answer, request)
            times["write"] = time.monotonic() - computed
        except ServingError as error:
            self._failed(served, name, version, request_id, error, begun)
            raise
        except asyncio.CancelledError:
            self._failed(served, name, version, request_id, Cancelled("the client went away"),
                         begun)
            raise
        finally:
            self.in_flight -= 1
        times["whole"] = time.monotonic() - begun
        self._answered(served, request_id, times)
        return written

    def _answered(self, served: Served, request_id: str, times: dict[str, float]) -> None:
        served.metrics.answered(times)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("answered", extra={
                "request": request_id, "model": served.name, "version": served.version,
                "batch": times["batch"],
                **{f"{stage}_ms": round(1e3 * times[stage], 3) for stage in (*STAGES, "whole")}})

    def _failed(self, served: Served | None, name: str, version: str, request_id: str,
                error: ServingError, begun: float) -> None:
        if served:  # Names that clients made up are no labels.
            served.metrics.failed(error.reason, time.monotonic() - begun)
            error.counted = True
        log.warning("refused", extra={"request": request_id, "model": short(name),
                                      "version": short(version), "reason": error.reason,
                                      "error": error.detail[:MOST_TOLD]})


def _type_name(datatype: str) -> str:
    return "STRING" if datatype == "BYTES" else datatype
