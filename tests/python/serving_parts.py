"""What tests of fxjit.serving's parts have in common: an engine without a model."""

import threading

import numpy as np

from fxjit.serving import Tensor
from fxjit.serving.batch_plan import BatchPlan
from fxjit.serving.batcher import BatchOptions
from fxjit.serving.errors import BadRequest
from fxjit.serving.served import Served

ROWS = (Tensor("x", "FP32", ("rows", "places")),)


class Doubling:
    """Gives twice its input, when `gate` is open; refuses rows that begin with a NaN."""

    inputs = ROWS
    outputs = (Tensor("y", "FP32", ("rows", "places")),)

    def __init__(self):
        self.gate, self.calls = threading.Event(), []
        self.gate.set()

    def example(self):
        return {"x": (2, 3)}

    def run(self, arrays):
        self.calls.append(arrays[0].shape)
        assert self.gate.wait(30)
        if arrays[0].size and np.isnan(arrays[0]).any():
            raise BadRequest("NaN")
        return [arrays[0] * 2]

    def compiled_size(self):
        return 0, 0


def rows_of(*numbers, places=3):
    return np.repeat(np.array(numbers, np.float32)[:, None], places, 1)


def served_by(engine, **options):
    plan = BatchPlan(engine.inputs, engine.outputs, True)
    return Served("m", "1", engine, plan, BatchOptions(**{"instances": 1, **options}))
