"""One version of a model that is asked, without a server: answers of shared calls, deadlines, clients
that go away."""

import asyncio
import importlib.util
import time

import numpy as np
import pytest
from cases import case_of, close, path_of

for needed in ("orjson", "prometheus_client"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit.serving is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
from fxjit.serving.batch_plan import BatchPlan, Padding  # noqa: E402
from fxjit.serving.batcher import BatchOptions  # noqa: E402
from fxjit.serving.engine import FxjitEngine  # noqa: E402
from fxjit.serving.errors import Expired  # noqa: E402
from fxjit.serving.front_door import FrontDoor  # noqa: E402
from fxjit.serving.requests import Request  # noqa: E402
from fxjit.serving.rest import RestApp  # noqa: E402
from fxjit.serving.served import Served  # noqa: E402
from serving_parts import Doubling, rows_of, served_by  # noqa: E402


def parts_of(engine, requests):
    """Each request's outputs when all share a call, and when each has its own."""
    plan = BatchPlan(engine.inputs, engine.outputs, True)
    symbols = [plan.symbols_of(one) for one in requests]
    return plan.parts(engine.run(plan.joined(requests)), symbols), [
        engine.run(one) for one in requests]


@pytest.mark.parametrize("strict", [False, True])
def test_rows_of_a_call_are_those_of_single_requests(strict):
    engine = FxjitEngine(path_of("bert"), {"strict_sums": strict})
    inputs, answers = case_of("bert")
    random = np.random.default_rng(3)
    requests = [[random.integers(1, 50, (rows, 7)), np.ones((rows, 7), np.int64)]
                for rows in (1, 3, 1, 2)]
    requests.append([inputs["input_ids"], inputs["attention_mask"]])
    together, alone = parts_of(engine, requests)
    for one, other in zip(together, alone, strict=True):
        for got, wanted in zip(one, other, strict=True):
            if strict:
                np.testing.assert_array_equal(got, wanted)
            close(got, wanted, 1e-5)
    for got, answer in zip(together[-1], answers, strict=True):
        close(got, answer)


@pytest.mark.parametrize("strict", [False, True])
def test_padded_requests_of_mixed_lengths_are_those_of_single_requests(strict):
    """Asked all at once and one after the other; what nothing was padded for is the bound."""
    engine = FxjitEngine(path_of("bert"), {"strict_sums": strict})
    plan = BatchPlan(engine.inputs, engine.outputs, True,
                     Padding({"input_ids": 0, "attention_mask": 0}, multiple=8))
    served = Served("bert", "1", engine, plan, BatchOptions(instances=1, delay=0.05))
    random = np.random.default_rng(4)
    requests = [
        Request({"input_ids": random.integers(1, 50, (rows, length)),
                 "attention_mask": np.ones((rows, length), np.int64)})
        for rows, length in [(1, 3), (2, 8), (1, 5), (3, 7), (1, 9), (1, 12), (2, 16), (1, 1)]]

    async def ask():
        times = [{} for _ in requests]
        together = await asyncio.gather(*map(served.infer, requests, times))
        assert max(one["batch"] for one in times) > 1
        return together, [await served.infer(one, {}) for one in requests]

    together, alone = asyncio.run(ask())
    served.close()
    for request, got, single in zip(requests, together, alone, strict=True):
        plain = engine.run([request.inputs[one.name] for one in engine.inputs])
        for name, wanted in zip(got.outputs, plain, strict=True):
            if strict:
                np.testing.assert_array_equal(got.outputs[name], single.outputs[name])
            close(got.outputs[name], single.outputs[name], 1e-5)
            close(got.outputs[name], wanted, 1e-5)


def test_a_deadline_ends_the_wait_though_all_are_busy():
    engine = Doubling()
    served = served_by(engine)

    async def ask():
        engine.gate.clear()
        first = asyncio.ensure_future(served.infer(Request({"x": rows_of(1)}), {}))
        while not engine.calls:
            await asyncio.sleep(0.001)
        with pytest.raises(Expired):
            await served.infer(Request({"x": rows_of(2)}, deadline=time.monotonic() + 0.02), {})
        gone = asyncio.ensure_future(served.infer(Request({"x": rows_of(3)}), {}))
        await asyncio.sleep(0.01)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        engine.gate.set()
        return await first

    answer = asyncio.run(ask())
    served.close()
    np.testing.assert_array_equal(answer.outputs["y"], rows_of(2))
    assert engine.calls == [(1, 3)]


class Fixed:
    """A repository of one model."""

    stopping = False

    def __init__(self, served):
        self._served = served

    def find(self, name, version=""):
        return self._served


def test_a_client_that_goes_away_is_not_computed():
    engine = Doubling()
    served = served_by(engine)
    door = FrontDoor(Fixed(served))
    body = (b'{"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32","data":[1,2,3]}]}')

    async def ask():
        engine.gate.clear()
        first = asyncio.ensure_future(served.infer(Request({"x": rows_of(1)}), {}))
        while not engine.calls:
            await asyncio.sleep(0.001)
        messages = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]
        sent = []

        async def receive():
            if len(messages) == 1:
                await asyncio.sleep(0.02)
            return messages.pop(0)

        async def send(message):
            sent.append(message)

        await RestApp(door)({"type": "http", "method": "POST", "path": "/v2/models/m/infer",
                             "headers": []}, receive, send)
        engine.gate.set()
        await first
        return sent

    assert asyncio.run(ask()) == []
    served.close()
    assert engine.calls == [(1, 3)]
