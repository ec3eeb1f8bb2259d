"""What Triton's extension tells of a version of a model: counts, and nanoseconds since it was
loaded."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from typing import Any

# Triton's names of what we time.
STAGES = {"queue": "queue", "compute_input": "read", "compute_infer": "compute",
          "compute_output": "write", "success": "whole"}
KINDS = ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output",
         "cache_hit", "cache_miss")  # There is no cache of answers: those stay 0.
PARTS = ("compute_input", "compute_infer", "compute_output")


class _Duration:
    """How often something happened, and how long that took in total."""

    def __init__(self) -> None:
        self.count, self.ns = 0, 0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.ns += round(seconds * 1e9)

    def told(self) -> dict[str, int]:
        return {"count": self.count, "ns": self.ns}


class Statistics:
    """Thread-safe."""

    def __init__(self, model: str, version: str):
        self._model, self._version = model, version
        self._lock = threading.Lock()
        self._last = self._rows = self._calls = 0
        self._kinds: dict[str, _Duration] = {kind: _Duration() for kind in KINDS}
        self._batches: dict[int, dict[str, _Duration]] = defaultdict(
            lambda: {part: _Duration() for part in PARTS})

    def answered(self, times: dict[str, float]) -> None:
        with self._lock:
            self._last = time.time_ns() // 1_000_000
            for kind, stage in STAGES.items():
                self._kinds[kind].add(times[stage])

    def failed(self, seconds: float) -> None:
        with self._lock:
            self._kinds["fail"].add(seconds)

    def called(self, rows: int, seconds: tuple[float, float, float]) -> None:
        """A call of the model with this many rows; seconds of each of PARTS."""
        with self._lock:
            self._rows += rows
            self._calls += 1
            for part, spent in zip(PARTS, seconds, strict=True):
                self._batches[rows][part].add(spent)

    def told(self) -> dict[str, Any]:
        """An element of Triton's model_stats."""
        with self._lock:
            return {"name": self._model, "version": self._version, "last_inference": self._last,
                    "inference_count": self._rows, "execution_count": self._calls,
                    "inference_stats": {kind: one.told() for kind, one in self._kinds.items()},
                    "batch_stats": [
                        {"batch_size": rows,
                         **{part: one.told() for part, one in self._batches[rows].items()}}
                        for rows in sorted(self._batches)]}
