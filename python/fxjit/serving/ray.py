"""Models on the machines of a Ray cluster, behind the same protocol:

    from ray import serve
    from fxjit.serving.ray import application

    serve.run(application("models", replicas=2))

`models` is what fxjit-serve takes, and must be there on each node. From the command line:
`serve run fxjit.serving.ray:build models=/models replicas=2`; in a file of `serve deploy`,
import_path is fxjit.serving.ray:build and args are those of application(). With KServe installed on
the nodes (fxjit[serve]), gRPC is answered where grpc_options names GRPC_SERVICE.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import grpc
from ray import serve

import fxjit
from fxjit._fxjit import guard_mapped_files

from .batcher import BatchOptions
from .errors import NotReady, ServingError
from .front_door import FrontDoor
from .load import load_served
from .model_config import ServeOptions
from .repository import Repository
from .rest import RestApp, refuse_change

log = logging.getLogger("fxjit.serving")
GRPC_SERVICE = "fxjit.serving.ray.add_grpc_service"
GRPC_METHODS = ("ServerLive", "ServerReady", "ServerMetadata", "ModelReady", "ModelMetadata",
                "ModelInfer", "ModelConfig", "ModelStatistics")


def add_grpc_service(servicer: Any, server: Any) -> None:
    """What Ray's proxies call for grpc_servicer_functions. Messages reach the replicas as bytes:
    KServe's cannot be pickled."""
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "inference.GRPCInferenceService", {
            name: grpc.unary_unary_rpc_method_handler(getattr(servicer, name))
            for name in GRPC_METHODS}),))


class _Context:
    """What the methods of gRPC ask of a call; Ray keeps deadlines to itself."""

    def __init__(self, metadata: Any):
        self._metadata = metadata

    def time_remaining(self) -> None:
        return None

    def invocation_metadata(self) -> Any:
        return self._metadata


def _grpc_method(name: str) -> Any:
    """The method of a replica that answers a method of the service."""
    async def call(self: FxjitReplica, request: bytes, grpc_context: Any) -> Any:
        try:
            return await self.answer_grpc(name, request, grpc_context)
        except ServingError as error:
            grpc_context.set_code(grpc.StatusCode[error.grpc])
            grpc_context.set_details(str(error))
            raise

    call.__name__ = name
    return call


@serve.ingress()
class FxjitReplica:
    """One process with all models of `models`. It begins when all of them are ready, and is
    replaced when one of them ceases to be. Models are changed by deploying anew, not one replica
    at a time."""

    def __init__(self, models: list[str], cpus: int, front_code: bool, batch: dict[str, Any]):
        guard_mapped_files()
        options = ServeOptions(BatchOptions(**{"instances": cpus, **batch}), cpus, front_code)
        self._repository = Repository(models, options, load_served)
        self._repository.load_all()
        self.check_health()
        self._door = FrontDoor(self._repository)
        self._grpc: Any = None  # Made at the first call: without KServe there is none.

    def __serve_build_asgi_app__(self) -> RestApp:
        return RestApp(self._door)

    async def answer_grpc(self, name: str, data: bytes, context: Any) -> Any:
        from .grpc_front import GrpcFront
        if self._grpc is None:
            self._grpc = GrpcFront(self._door, refuse_change)
        return await self._grpc.answer(name, data, _Context(context.invocation_metadata()))

    ServerLive = _grpc_method("ServerLive")
    ServerReady = _grpc_method("ServerReady")
    ServerMetadata = _grpc_method("ServerMetadata")
    ModelReady = _grpc_method("ModelReady")
    ModelMetadata = _grpc_method("ModelMetadata")
    ModelInfer = _grpc_method("ModelInfer")
    ModelConfig = _grpc_method("ModelConfig")
    ModelStatistics = _grpc_method("ModelStatistics")

    def check_health(self) -> None:
        if not self._repository.ready():
            raise NotReady("; ".join(
                f"{row['name']}: {row['reason']}" for row in self._repository.index()
                if row["state"] != "READY") or "no model is there")

    async def __del__(self) -> None:
        repository = getattr(self, "_repository", None)
        if repository is not None:
            await asyncio.get_running_loop().run_in_executor(None, repository.close)


def application(models: str | list[str], *, replicas: int | None = None, cpus: int = 1,
                autoscaling: dict[str, Any] | None = None, front_code: bool = False,
                batch: dict[str, Any] | None = None, version: str | None = None,
                **options: Any) -> serve.Application:
    """An application for serve.run.

    models: files and folders as fxjit-serve takes them.
    replicas: processes; or autoscaling: Ray's autoscaling_config, such as
        {"min_replicas": 1, "max_replicas": 8}.
    cpus: of a replica, which makes as many calls at a time. A file is mapped once for all replicas
        of a node; what is packed of it each replica has for itself, so few replicas with many CPUs
        need less memory than many with few.
    batch: max_batch, delay (seconds) and queue, as BatchOptions has them.
    version: another one makes Ray replace the replicas, one after the other, though nothing else
        has changed.
    options: others of serve.deployment.
    """
    if replicas is not None and autoscaling is not None:
        raise fxjit.UserError("replicas and autoscaling exclude each other")
    given = dict(
        num_replicas=replicas, autoscaling_config=autoscaling, version=version,
        ray_actor_options={"num_cpus": cpus}, max_ongoing_requests=256,
        graceful_shutdown_wait_loop_s=0.5)
    known = {name: value for name, value in {**given, **options}.items() if value is not None}
    places = [models] if isinstance(models, str) else list(models)
    deployment = serve.deployment(FxjitReplica, name="fxjit", **known)
    return deployment.bind(places, cpus, front_code, batch or {})


def build(args: dict[str, Any]) -> serve.Application:
    """application() for `serve run` and `serve deploy`, whose arguments may all be texts."""
    numbers = {name: int(args[name]) for name in ("replicas", "cpus") if name in args}
    return application(**{**args, **numbers})
