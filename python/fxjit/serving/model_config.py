"""model.json: how a model of a repository is served."""

from __future__ import annotations

import json
import pathlib
from dataclasses import dataclass, field
from typing import Any

import fxjit

from .batch_plan import Padding
from .batcher import BatchOptions
from .datatypes import NUMPY_OF, Tensor

FILE = "model.json"
WARMUP = "warmup.json"


@dataclass(frozen=True)
class ServeOptions:
    """What fxjit-serve was started with, for all models that do not say otherwise.

    threads: of one call; 0: all that the process may use. front_code: whether a model.json may
        name a Python file that stands in front of the model. copied_bytes: files up to this
        size are copied into memory when they are loaded, larger ones stay mapped.
    """

    batch: BatchOptions
    threads: int = 0
    front_code: bool = False
    copied_bytes: int = 16 << 20


@dataclass(frozen=True)
class ModelConfig:
    """The fields of model.json; docs/serving.md says what each means."""

    file: str | None = None
    weights: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    inputs: tuple[Tensor, ...] | None = None
    outputs: tuple[Tensor, ...] | None = None
    batching: bool | None = None
    pad: Padding | None = None
    front: str | None = None
    versions: int | None = None
    instances: int | None = None
    max_batch: int | None = None
    batch_delay_ms: float | None = None
    queue: int | None = None

    def batch_options(self, common: BatchOptions) -> BatchOptions:
        def chosen(own: Any, other: Any) -> Any:
            return other if own is None else own

        delay = None if self.batch_delay_ms is None else self.batch_delay_ms / 1000
        return BatchOptions(chosen(self.instances, common.instances),
                            chosen(self.max_batch, common.max_batch),
                            chosen(delay, common.delay), chosen(self.queue, common.queue))


def _wrong(path: pathlib.Path, what: str) -> fxjit.UserError:
    return fxjit.UserError(f"{path}: {what}")


def _json(path: pathlib.Path, kind: type) -> Any:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _wrong(path, str(error)) from None
    if not isinstance(read, kind):
        raise _wrong(path, f"expected a {'list' if kind is list else 'JSON object'}")
    return read


def _tensors(path: pathlib.Path, name: str, entries: Any) -> tuple[Tensor, ...]:
    made = []
    for entry in entries if isinstance(entries, list) else [None]:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or (
                entry.get("datatype") not in NUMPY_OF) or not isinstance(entry.get("shape"), list):
            raise _wrong(path, f"{name}: expected objects with name, datatype and shape")
        made.append(Tensor(entry["name"], entry["datatype"], tuple(entry["shape"])))
    return tuple(made)


KINDS: dict[str, tuple[type, ...]] = {
    "file": (str,), "weights": (str,), "options": (dict,), "inputs": (list,), "outputs": (list,),
    "batching": (bool,), "pad": (dict,), "front": (str,), "versions": (int,),
    "instances": (int,), "max_batch": (int,), "batch_delay_ms": (int, float), "queue": (int,)}


def read_config(folder: pathlib.Path) -> ModelConfig:
    """model.json in `folder`, or the defaults where there is none. fxjit.UserError."""
    path = folder / FILE
    if not path.exists():
        return ModelConfig()
    fields = _json(path, dict)
    for name, value in fields.items():
        if name not in KINDS:
            raise _wrong(path, f"unknown field {name}; there are {', '.join(KINDS)}")
        if not isinstance(value, KINDS[name]) or (
                isinstance(value, bool) and bool not in KINDS[name]):
            raise _wrong(path, f"{name}: expected a {KINDS[name][-1].__name__}")
        if isinstance(value, (int, float)) and name != "batching" and (
                value < (0 if name in ("batch_delay_ms", "queue") else 1)):
            raise _wrong(path, f"{name}: {value} is too small")
    for name in ("inputs", "outputs"):
        if name in fields:
            fields[name] = _tensors(path, name, fields[name])
    if "weights" in fields.get("options", {}):
        raise _wrong(path, "options: weights are a field of their own")
    if ("inputs" in fields) != ("outputs" in fields):
        raise _wrong(path, "inputs and outputs are stated together or not at all")
    if "pad" in fields:
        try:
            fields["pad"] = Padding(**fields["pad"])
        except TypeError as error:
            raise _wrong(path, f"pad: {error}") from None
    return ModelConfig(**fields)


def read_warmup(folders: list[pathlib.Path]) -> list[dict[str, tuple[int, ...]]] | None:
    """Sizes of the inputs, by name, of each call to compile for: warmup.json of the first folder
    that has one. None where none has."""
    for folder in folders:
        path = folder / WARMUP
        if path.exists():
            calls = _json(path, list)
            for call in calls:
                if not isinstance(call, dict) or not all(
                        isinstance(sizes, list) and all(
                            isinstance(size, int) and size >= 0 for size in sizes)
                        for sizes in call.values()):
                    raise _wrong(path, "expected a list of {input: [sizes]}")
            return [{name: tuple(sizes) for name, sizes in call.items()} for call in calls]
    return None
