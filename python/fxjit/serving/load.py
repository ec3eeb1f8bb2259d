"""From the files of a model to one that answers."""

from __future__ import annotations

import logging

import numpy as np

import fxjit

from .batch_plan import BatchPlan, row_symbol
from .datatypes import NUMPY_OF, Tensor
from .engine import Engine, FxjitEngine
from .errors import ServingError
from .front import load_front
from .held_files import HeldFiles
from .model_config import ModelConfig, ServeOptions, read_warmup
from .places import Source
from .served import Served

log = logging.getLogger("fxjit.serving")
TOLERANCE = 1e-4


def open_engine(source: Source, options: ServeOptions,
                files: HeldFiles | None = None) -> Engine:
    config = source.config
    given = {"threads": options.threads, **config.options}
    if config.weights:
        given["weights"] = str(source.config_folder / config.weights)
    signature = (config.inputs, config.outputs) if config.inputs is not None else None
    return FxjitEngine(source.path, given, signature, files)


def _random(random: np.random.Generator, tensor: Tensor, shape: tuple[int, ...]) -> np.ndarray:
    dtype = NUMPY_OF[tensor.datatype]
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    whole = random.integers(0, 2, shape).astype(dtype)  # Places of any table.
    whole[..., :1] = 1
    return whole


def _near(got: np.ndarray, wanted: np.ndarray) -> bool:
    if got.shape != wanted.shape:
        return False
    if got.dtype.kind != "f":
        return bool((got == wanted).all())
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=1e-6)
    return bool(np.allclose(got, wanted, rtol=0, atol=TOLERANCE * largest, equal_nan=True))


def why_not_alone(engine: Engine) -> str:
    """Why the rows of one call may influence each other, because of the sizes or because of random
    numbers; empty if each row gives what it gives alone."""
    symbol, sizes = row_symbol(engine.inputs), engine.example()
    if symbol is None:
        return "the inputs have no first size in common that may change"
    if sizes is None:
        return "no sizes of a call are known to try it with"
    for one in engine.outputs:
        if symbol not in one.sizes:
            return f"output {one.name} has no size {symbol}"
    for one in engine.inputs:
        if symbol in one.sizes[1:]:
            return f"input {one.name} has the size {symbol} twice"
    return _why_not_near(engine, sizes)


def _why_not_near(engine: Engine, sizes: dict[str, tuple[int, ...]]) -> str:
    random = np.random.default_rng(0)
    shapes = {one.name: (2, *sizes[one.name][1:]) for one in engine.inputs}
    both = [_random(random, one, shapes[one.name]) for one in engine.inputs]
    halves = [[array[row:row + 1] for array in both] for row in range(2)]
    try:
        plan = BatchPlan(engine.inputs, engine.outputs, batched=True)
        together = plan.parts(engine.run(both), [plan.symbols_of(half) for half in halves])
        alone = [engine.run(half) for half in halves]
    except (ValueError, ServingError) as error:  # Not for these sizes.
        return f"a call of two rows, or of one, failed: {error}"
    for parts, single in zip(together, alone, strict=True):
        for tensor, got, wanted in zip(engine.outputs, parts, single, strict=True):
            if not _near(got, wanted):
                return f"output {tensor.name} of a row depends on the other rows of its call"
    return ""


def rows_are_alone(engine: Engine) -> bool:
    """Whether each of two rows in one call gives what it gives alone."""
    return not why_not_alone(engine)


def plan_of(engine: Engine, config: ModelConfig, name: str) -> BatchPlan:
    why = "" if config.batching else "model.json says so"
    if config.batching is None:
        why = why_not_alone(engine)
    if not why and row_symbol(engine.inputs) is None:
        raise fxjit.UserError(f"{name}: batching: the inputs have no first dim of one symbol")
    if why:
        log.info("each request has a call of its own", extra={"model": name, "reason": why})
    else:
        log.info("requests share calls", extra={"model": name})
    try:
        return BatchPlan(engine.inputs, engine.outputs, not why, config.pad)
    except ValueError as error:
        raise fxjit.UserError(f"{name}: {error}") from None


def make_served(source: Source, options: ServeOptions, engine: Engine,
                files: HeldFiles | None = None) -> Served:
    """A version that has compiled the shapes of its warm-up file, or of its example."""
    config = source.config
    plan = plan_of(engine, config, source.name)
    front = None
    if config.front:
        if not options.front_code:
            raise fxjit.UserError(f"{source.name}: its model.json names code, {config.front}: "
                                  "start the server with --front-code to run it")
        front = load_front(source.config_folder / config.front)
    served = Served(source.name, source.version, engine, plan,
                    config.batch_options(options.batch), front, files)
    try:
        _warm_up(served, read_warmup(list(source.folders)))
    except BaseException:
        served.close()
        raise
    return served


def _warm_up(served: Served, calls: list[dict[str, tuple[int, ...]]] | None) -> None:
    example = served.engine.example()
    if calls is not None:
        served.warm_up(calls)
        return
    why = "the sizes of its inputs are computed from each other: state some in warmup.json"
    if example is not None:
        try:
            served.warm_up([example])
            return
        except ServingError as error:  # The example may be a guess; warmup.json knows better.
            why = str(error)
    log.warning("no shape is compiled before the first request",
                extra={"model": served.name, "version": served.version, "reason": why})


def load_served(source: Source, options: ServeOptions) -> Served:
    files = HeldFiles(options.copied_bytes)
    try:
        for path in source.files:
            if path.is_file():
                files.hold(path)
        return make_served(source, options, open_engine(source, options, files), files)
    except BaseException:
        files.close()
        raise
