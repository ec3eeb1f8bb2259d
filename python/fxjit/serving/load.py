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
from .model_config import ModelConfig, ServeOptions, read_warmup
from .repository import Source
from .served import Served, example_arrays

log = logging.getLogger("fxjit.serving")
TOLERANCE = 1e-4


def open_engine(source: Source, options: ServeOptions) -> Engine:
    config = source.config
    given = {"threads": options.threads, **config.options}
    if config.weights:
        given["weights"] = str(source.config_folder / config.weights)
    signature = (config.inputs, config.outputs) if config.inputs is not None else None
    return FxjitEngine(source.path, given, signature)


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


def rows_are_alone(engine: Engine) -> bool:
    """Whether two rows in one call give what each gives on its own, tried with random numbers."""
    symbol, sizes = row_symbol(engine.inputs), engine.example()
    if symbol is None or sizes is None:
        return False
    if not all(symbol in one.sizes for one in engine.outputs):
        return False
    random = np.random.default_rng(0)
    shapes = {one.name: (2, *sizes[one.name][1:]) for one in engine.inputs}
    if any(symbol in one.sizes[1:] for one in engine.inputs):
        return False
    both = [_random(random, one, shapes[one.name]) for one in engine.inputs]
    halves = [[array[row:row + 1] for array in both] for row in range(2)]
    try:
        plan = BatchPlan(engine.inputs, engine.outputs, batched=True)
        together = plan.parts(engine.run(both), [plan.symbols_of(half) for half in halves])
        alone = [engine.run(half) for half in halves]
    except (ValueError, ServingError):  # Not for these sizes.
        return False
    return all(_near(got, wanted) for parts, single in zip(together, alone, strict=True)
               for got, wanted in zip(parts, single, strict=True))


def plan_of(engine: Engine, config: ModelConfig, name: str) -> BatchPlan:
    batched = rows_are_alone(engine) if config.batching is None else config.batching
    if batched and row_symbol(engine.inputs) is None:
        raise fxjit.UserError(f"{name}: batching: the inputs have no first dim of one symbol")
    log.info("requests share calls" if batched else "each request has a call of its own",
             extra={"model": name})
    try:
        return BatchPlan(engine.inputs, engine.outputs, batched, config.pad)
    except ValueError as error:
        raise fxjit.UserError(f"{name}: {error}") from None


def make_served(source: Source, options: ServeOptions, engine: Engine) -> Served:
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
                    config.batch_options(options.batch), front)
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
    elif example is not None:
        try:
            served.warm_up([example])
        except ServingError as error:  # The example may be a guess; warmup.json knows better.
            log.warning("no shape is compiled before the first request",
                        extra={"model": served.name, "error": str(error)})


def load_served(source: Source, options: ServeOptions) -> Served:
    return make_served(source, options, open_engine(source, options))
