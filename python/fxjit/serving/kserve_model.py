"""A model of fxjit as KServe's own server takes it:

    import kserve
    from fxjit.serving.kserve_model import FxjitModel

    kserve.ModelServer().start([FxjitModel("name", "model.pt2")])

KServe's server then decides what of the protocol is there; fxjit-serve has all of it.
"""

from __future__ import annotations

import os
import time
from typing import Any

import orjson
from kserve import InferOutput, InferRequest, InferResponse, Model
from kserve.errors import InferenceError, InvalidInput, ModelNotReady

from . import datatypes
from .account import Account
from .batcher import BatchOptions
from .errors import BadRequest, ServingError
from .load import load_served
from .model_config import ServeOptions
from .places import Place
from .requests import Request
from .served import Served

UNLIMITED = 1 << 62


class FxjitModel(Model):
    """path: a file that fxjit.load takes, or a folder name/ with versions, of which the newest is
    served. options: None for those of fxjit-serve."""

    def __init__(self, name: str, path: str | os.PathLike[str],
                 options: ServeOptions | None = None):
        super().__init__(name)
        self._path = os.fspath(path)
        self._options = options or default_options()
        self._served: Served | None = None

    def load(self) -> bool:
        found = Place(f"{self.name}={self._path}").models()
        if len(found) != 1:
            raise ValueError(f"{self._path}: expected one model, found {len(found)}")
        (sources,) = found.values()
        self._served = load_served(sources()[0], self._options)
        self.ready = True
        return True

    def start(self) -> None:
        if self._served is None:
            self.load()

    def stop(self) -> None:
        super().stop()
        if self._served is not None:
            self._served.close()
            self._served = None

    def get_input_types(self) -> list[dict[str, Any]]:
        return [one.metadata() for one in self._loaded().inputs]

    def get_output_types(self) -> list[dict[str, Any]]:
        return [one.metadata() for one in self._loaded().outputs]

    def _loaded(self) -> Served:
        if self._served is None:
            raise ModelNotReady(self.name)
        return self._served

    async def predict(self, payload: InferRequest, headers: dict[str, str] | None = None,
                      response_headers: dict[str, str] | None = None) -> InferResponse:
        served = self._loaded()
        if not isinstance(payload, InferRequest):
            raise InvalidInput("fxjit answers the Open Inference Protocol (v2) only")
        try:
            begun, times = time.monotonic(), {}
            asked = {one.name: None for one in payload.request_outputs or ()}
            request = Request({one.name: _array(one) for one in payload.inputs}, outputs=asked)
            times["read"] = time.monotonic() - begun
            answer = await served.infer(request, times)
        except BadRequest as error:
            raise InvalidInput(str(error)) from error
        except ServingError as error:
            raise InferenceError(str(error)) from error
        computed = time.monotonic()
        outputs = []
        for name, array in answer.outputs.items():
            outputs.append(InferOutput(name, list(array.shape), datatypes.datatype_of(array)))
            outputs[-1].set_data_from_numpy(array, binary_data=payload.use_binary_outputs)
        response = InferResponse(payload.id or "", self.name, outputs)
        ended = time.monotonic()
        served.metrics.answered({**times, "write": ended - computed, "whole": ended - begun})
        return response


def _array(given: Any) -> Any:
    shape = datatypes.checked_shape(given.name, list(given.shape))
    held = Account(UNLIMITED).open()  # KServe's server has read the body already.
    if given._raw_data is not None:
        return datatypes.from_bytes(given.name, given.datatype, shape, given._raw_data, held)
    data = given.data
    try:
        text = orjson.dumps(data.tolist() if hasattr(data, "tolist") else list(data))
    except TypeError as error:
        raise BadRequest(f"input {given.name}: data: {error}") from None
    return datatypes.from_json(given.name, given.datatype, shape, text, (0, len(text)), held)


def default_options() -> ServeOptions:
    from fxjit._fxjit import available_cpus

    return ServeOptions(BatchOptions(available_cpus()))
