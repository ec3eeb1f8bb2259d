"""What is asked of the server and its models when Prometheus comes, rather than counted before."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

import fxjit

from .front_door import FrontDoor
from .metrics import LABELS, SHOWN
from .repository import STATES, Repository


class ModelCollector(Collector):
    """Of each version of a model that answers, and of those that do not."""

    def __init__(self, repository: Repository):
        self._repository = repository
        SHOWN.register(self)

    def collect(self) -> Iterable[Metric]:
        queue = GaugeMetricFamily("fxjit_queue", "Requests that wait", labels=LABELS)
        programs = GaugeMetricFamily("fxjit_programs", "Compiled programs", labels=LABELS)
        size = GaugeMetricFamily("fxjit_program_bytes", "Bytes of compiled programs, without "
                                 "weights", labels=LABELS)
        for one in list(self._repository):
            labels = (one.name, one.version)
            count, total = one.engine.compiled_size()
            queue.add_metric(labels, one.waiting)
            programs.add_metric(labels, count)
            size.add_metric(labels, total)
        return queue, programs, size, *self._states()

    def _states(self) -> Iterable[Metric]:
        models = GaugeMetricFamily("fxjit_models", "Models by state: ready where a version "
                                   "answers", labels=("state",))
        failed = GaugeMetricFamily("fxjit_version_failed", "1 for a version that could not be "
                                   "loaded, or was lost since; no version: the whole model",
                                   labels=LABELS)
        counts = Counter(self._repository.states().values())
        for state in STATES:
            models.add_metric((state,), counts[state])
        for name, version in self._repository.failed():
            failed.add_metric((name, version), 1)
        return models, failed

    def describe(self) -> Iterable[Metric]:
        return ()


class ServerCollector(Collector):
    """Of the server. `connections` counts those of each of its ports by name; gRPC tells none."""

    def __init__(self, door: FrontDoor, connections: dict[str, Callable[[], int]]):
        self._door, self._connections = door, connections
        SHOWN.register(self)

    def collect(self) -> Iterable[Metric]:
        built = GaugeMetricFamily("fxjit_build_info", "1, with what is running",
                                  labels=("version", "python"))
        built.add_metric((fxjit.__version__, platform.python_version()), 1)
        open_now = GaugeMetricFamily("fxjit_connections", "Open connections", labels=("port",))
        for port, count in self._connections.items():
            open_now.add_metric((port,), count())
        return (built, open_now,
                GaugeMetricFamily("fxjit_held_bytes", "Bytes of requests that are being worked "
                                  "on", self._door.held),
                GaugeMetricFamily("fxjit_requests_in_flight", "Requests to models that are being "
                                  "worked on", self._door.in_flight))

    def describe(self) -> Iterable[Metric]:
        return ()
