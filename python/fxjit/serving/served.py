"""One version of a model, ready to be asked."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .batch_plan import BatchPlan
from .batcher import Batcher, BatchOptions, Job, Seconds
from .datatypes import NUMPY_OF, Tensor
from .engine import Engine
from .errors import BadRequest, Expired, ModelFailed, Retired, ServingError
from .front import Front
from .held_files import HeldFiles
from .metrics import ModelMetrics
from .redaction import without_paths
from .requests import Answer, Request

log = logging.getLogger("fxjit.serving")
SHAPES_KEPT = 4096


class _Asked(Job):
    """A job that a coroutine waits for."""

    def __init__(self, arrays: list[np.ndarray], deadline: float | None, priority: int):
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[None] = self.loop.create_future()
        super().__init__(arrays, deadline, _report, priority)

    def end(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


def _report(jobs: list[Job]) -> None:
    def end() -> None:
        for job in jobs:
            job.end()

    jobs[0].loop.call_soon_threadsafe(end)


def example_arrays(tensors: tuple[Tensor, ...], sizes: dict[str, tuple[int, ...]],
                   make: Callable[..., Any] = np.ones) -> list[np.ndarray]:
    """One array for each tensor."""
    return [make(sizes[one.name], NUMPY_OF[one.datatype]) for one in tensors]


class Served:
    """Answers requests for one version of a model. `infer` must be called in one event loop;
    everything else is thread-safe. engine: what computes. plan: which requests share a call. front:
    what is put before the model, such as turning text into tokens. files: the files that the engine
    reads, closed with this object."""

    def __init__(self, name: str, version: str, engine: Engine, plan: BatchPlan,
                 options: BatchOptions, front: Front | None = None,
                 files: HeldFiles | None = None):
        self.name, self.version, self.engine, self.front = name, version, engine, front
        self.files = files
        self.inputs = front.inputs if front else engine.inputs
        self.outputs = front.outputs if front else engine.outputs
        self.metrics = ModelMetrics(name, version)
        self._plan = plan
        self._shapes: set[Any] = set()
        self._batcher = Batcher(engine, plan, options, self._note_call)
        self._front_threads = ThreadPoolExecutor(
            1, thread_name_prefix="fxjit-front") if front else None
        self._open = 0  # Requests that are being answered.
        self._retired = False
        self._changed = threading.Condition()

    @property
    def waiting(self) -> int:
        return len(self._batcher)

    @property
    def max_batch(self) -> int:
        """The most rows of a call; 0 if requests do not share calls."""
        options = self._batcher.options
        return self._plan.most_rows(options.max_batch) if self._plan.rows is not None else 0

    @property
    def options(self) -> BatchOptions:
        return self._batcher.options

    def metadata(self, versions: list[str]) -> dict[str, Any]:
        return {"name": self.name, "versions": versions, "platform": "fxjit",
                "inputs": [one.metadata() for one in self.inputs],
                "outputs": [one.metadata() for one in self.outputs]}

    def warm_up(self, calls: list[dict[str, tuple[int, ...]]]) -> None:
        """Compiles the model for these sizes of the engine's inputs. Raises BadRequest if they do
        not fit."""
        for sizes in calls:
            if sizes.keys() != {one.name for one in self.engine.inputs}:
                raise BadRequest(f"warm-up: expected sizes of "
                                 f"{', '.join(one.name for one in self.engine.inputs)}")
            arrays = example_arrays(self.engine.inputs, sizes)
            self._plan.symbols_of(arrays)
            joined = self._plan.joined([arrays])
            self.engine.run(joined)
            self.metrics.shapes_came(self._note_shapes(joined))

    def close(self) -> None:
        """Refuses new requests, waits until all earlier ones are answered, and ends the threads."""
        with self._changed:
            self._retired = True
            self._changed.wait_for(lambda: self._open == 0)
        self._batcher.close()
        if self._front_threads:
            self._front_threads.shutdown()
        if self.files:
            self.files.close()

    def _note_call(self, arrays: list[np.ndarray], seconds: Seconds) -> None:
        rows = arrays[0].shape[0] if self._plan.rows is not None else 1
        self.metrics.called(rows, self._note_shapes(arrays), seconds)

    def _note_shapes(self, arrays: list[np.ndarray]) -> bool:
        """Whether there was a call of these shapes before."""
        shapes = tuple(array.shape for array in arrays)
        known = shapes in self._shapes
        if not known:
            if len(self._shapes) >= SHAPES_KEPT:
                self._shapes.clear()
            self._shapes.add(shapes)
        return known

    async def infer(self, request: Request, times: dict[str, float]) -> Answer:
        """Answers a request. Adds the seconds of the stages `queue` and `compute` to `times`.
        Raises ServingError, and Retired if this version was closed before."""
        with self._changed:
            if self._retired:
                raise Retired("the model is being unloaded")
            self._open += 1
        try:
            return await self._infer(request, times)
        finally:
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    async def _infer(self, request: Request, times: dict[str, float]) -> Answer:
        request.check_names(self.inputs, self.outputs)
        given = request.inputs
        if self.front:
            given = await self._through_front(self.front.before, given)
        job = _Asked([given[one.name] for one in self.engine.inputs], request.deadline,
                     request.priority)
        await self._computed(job)
        times["queue"], times["compute"] = job.begun - job.queued, job.ended - job.begun
        times["batch"] = job.batch
        outputs = {one.name: array for one, array in zip(self.engine.outputs, job.results)}
        if self.front:
            outputs = await self._through_front(self.front.after, outputs)
        if request.outputs:
            outputs = {name: outputs[name] for name in request.outputs}
        return Answer(self.name, self.version, request.id, outputs)

    async def _through_front(self, function: Callable[..., Any], tensors: Any) -> Any:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._front_threads, function, tensors)
        except ServingError:
            raise
        except Exception as error:  # The code is the user's.
            log.exception("the front of %s failed", self.name)
            text = f"{type(error).__name__}: {error}"
            raise ModelFailed(without_paths(text), text) from error

    async def _computed(self, job: _Asked) -> None:
        if job.deadline is not None and job.deadline <= time.monotonic():
            raise Expired("its time was over when it came")
        self._batcher.submit(job)
        timer = None
        if job.deadline is not None:
            timer = job.loop.call_later(job.deadline - time.monotonic(), self._expire, job)
        try:
            await job.future
        except asyncio.CancelledError:
            self._batcher.cancel(job)
            raise
        finally:
            if timer:
                timer.cancel()
        if job.error:
            raise job.error

    def _expire(self, job: _Asked) -> None:
        if self._batcher.cancel(job):
            job.error = Expired("its time was over before its turn came")
            job.end()
