"""The Open Inference Protocol over REST: an ASGI application, for uvicorn or Ray Serve."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import orjson

from . import rest_body
from .account import Held
from .body_threads import AT_ONCE, BodyThreads
from .errors import (BadRequest, NotFound, ServingError, TooLarge, Unsupported, WrongMethod,
                     short)
from .front_door import FrontDoor
from .metrics import count_refusal
from .requests import Answer, Request
from .rest_io import ClientGone, Headers, Receive, Scope, Send, read_body, send_all, watched

log = logging.getLogger("fxjit.serving")
Reply = tuple[int, list[Any], Headers]
JSON = (b"content-type", b"application/json")
BINARY = (b"content-type", b"application/octet-stream")
# Of health paths, where the protocol has 200 for true and 4xx for false; Triton answers the same.
NOT_READY = 400
SMALL = 1 << 20  # Bytes of a body beside those of tensors.
PLAIN = re.compile(rb"[\t\x20-\x7e]*")


def json_reply(value: Any, status: int = 200) -> Reply:
    return status, [orjson.dumps(value)], [JSON]


def error_reply(error: ServingError) -> Reply:
    status, body, headers = json_reply({"error": str(error)}, error.http)
    if isinstance(error, WrongMethod):
        headers.append((b"allow", error.allowed.encode()))
    return status, body, [*headers, *error.headers]


def refuse_change(_scope: Scope | None = None) -> None:
    """Where no other rule is given, models are neither loaded nor unloaded by requests."""
    raise Unsupported("models are changed by deploying anew")


class RestApp:
    """Paths below /v2 are answered, others are not found. Bodies that do not arrive within
    `body_seconds` are refused, answers that are not taken in that time are given up, and loads and
    unloads are refused for which `allow_change` raises."""

    def __init__(self, door: FrontDoor, body_seconds: float = 30,
                 allow_change: Callable[[Scope], None] = refuse_change):
        self._door, self._body_seconds = door, body_seconds
        self._allow_change = allow_change
        self._threads = BodyThreads()
        self._paths = self._make_paths()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        held = self._door.account.open()
        try:
            status, body, headers = await self._answer(scope, receive, held)
            await send_all(scope, send, status, headers, body, self._body_seconds)
        except ClientGone:
            return
        finally:
            held.close()

    async def _answer(self, scope: Scope, receive: Receive, held: Held) -> Reply:
        """The reply, also where it is a refusal."""
        try:
            with watched() as watch:
                return await self._found(scope, receive, held, watch)
        except ServingError as error:
            count_refusal("rest", error)
            return error_reply(error)
        except ClientGone:
            raise
        except Exception as error:  # The server's own fault, which must not end it.
            log.exception("a request failed")
            return json_reply({"error": type(error).__name__}, 500)

    async def _found(self, scope: Scope, receive: Receive, held: Held, watch: Any) -> Reply:
        raw = scope.get("raw_path") or scope["path"].encode()
        first, *parts = [unquote(part) for part in raw.decode("latin-1").split("/")[1:]]
        name = version = ""
        if parts[:1] == ["models"] and len(parts) >= 2 and parts[1:] != ["stats"]:
            name, parts = parts[1], ["models", "NAME", *parts[2:]]
            if parts[2:3] == ["versions"] and len(parts) >= 4 and parts[3]:
                version, parts = parts[3], [*parts[:2], *parts[4:]]
        elif parts[:2] == ["repository", "models"] and len(parts) == 4:
            name, parts = parts[2], ["repository", "models", "NAME", parts[3]]
        found = self._paths.get("/".join(parts)) if first == "v2" else None
        if found is None:
            raise NotFound(f"{short(scope['path'])}: there is no such path")
        method, answer = found
        if scope["method"] != method and (scope["method"], method) != ("HEAD", "GET"):
            raise WrongMethod("GET, HEAD" if method == "GET" else method)
        if method == "GET":
            return answer(name, version)
        if answer == self._infer:
            return await self._infer(name, version, scope, receive, held, watch)
        if answer in (self._load, self._unload):
            self._allow_change(scope)
        body = await read_body(receive, SMALL, self._body_seconds, held)
        return await answer(name, bytes(body))

    def _make_paths(self) -> dict[str, tuple[str, Callable[..., Any]]]:
        """Below /v2: the method that each takes, and what answers it."""
        door = self._door
        return {
            "": ("GET", lambda *_: json_reply(door.metadata())),
            "health/live": ("GET", lambda *_: json_reply({"live": True})),
            "health/ready": ("GET", lambda *_: self._ready()),
            "models": ("GET", lambda *_: json_reply(
                {"models": sorted({one.name for one in door.repository})})),
            "models/stats": ("GET", lambda *_: json_reply(door.statistics("", ""))),
            "models/NAME": ("GET", lambda *asked: json_reply(door.model_metadata(*asked))),
            "models/NAME/ready": ("GET", self._model_ready),
            "models/NAME/config": ("GET", lambda *asked: json_reply(door.model_config(*asked))),
            "models/NAME/stats": ("GET", lambda *asked: json_reply(door.statistics(*asked))),
            "models/NAME/infer": ("POST", self._infer),
            "repository/index": ("POST", self._index),
            "repository/models/NAME/load": ("POST", self._load),
            "repository/models/NAME/unload": ("POST", self._unload)}

    def _ready(self) -> Reply:
        ready = self._door.repository.ready()
        return json_reply({"ready": ready}, 200 if ready else NOT_READY)

    def _model_ready(self, name: str, version: str) -> Reply:
        ready = self._door.model_ready(name, version)
        return json_reply({"name": name, "ready": ready}, 200 if ready else NOT_READY)

    async def _index(self, _name: str, body: bytes) -> Reply:
        wanted = rest_body.json_of(body) if body else {}
        return json_reply(await asyncio.get_running_loop().run_in_executor(
            None, self._door.repository.index, wanted.get("ready") is True))

    async def _load(self, name: str, body: bytes) -> Reply:
        if body and rest_body.json_of(body).get("parameters"):
            raise BadRequest("parameters of a load are not supported")
        await self._door.load(name)
        return json_reply({"name": name, "load": True})

    async def _unload(self, name: str, _body: bytes) -> Reply:
        await self._door.unload(name)
        return json_reply({"name": name, "unload": True})

    async def _infer(self, name: str, version: str, scope: Scope, receive: Receive, held: Held,
                     watch: Callable[[Receive], None]) -> Reply:
        headers = dict(scope["headers"])

        def text(key: str) -> str:
            return headers.get(key.encode(), b"").decode("latin-1")

        body = bytearray()
        json_length = text(rest_body.LENGTH_HEADER) or None
        encoding = ""

        async def arrive() -> None:
            nonlocal body, encoding
            encoding = rest_body.encoding_of(text("content-encoding"))
            declared, most = text("content-length"), self._door.max_bytes
            if declared and int(declared) > most:
                raise TooLarge(f"the body has {declared} bytes, at most {most} are taken")
            body = await read_body(receive, most, self._body_seconds, held)
            watch(receive)

        async def read() -> Request:
            nonlocal body
            if encoding:  # Not at once: what a few bytes unpack to may be large.
                body = await self._threads.run(
                    held, max(len(body), AT_ONCE + 1), rest_body.unpacked, body, encoding,
                    self._door.max_bytes, held)
            return await self._threads.run(held, len(body), rest_body.read, body, json_length,
                                           held)

        async def write(answer: Answer, request: Request) -> tuple[list[Any], int | None, str]:
            size = sum(array.nbytes for array in answer.outputs.values())
            return await self._threads.run(held, size, write_and_pack, answer, request)

        def write_and_pack(answer: Answer, request: Request) -> tuple[list[Any], int | None, str]:
            parts, length = rest_body.written(answer, request, held)
            accepted = rest_body.encoding_for(text("accept-encoding"))
            return rest_body.packed(parts, accepted) if accepted else parts, length, accepted

        parts, length, packing = await self._door.infer(
            name, version, text("x-request-id"), read, write, arrive)
        reply = [JSON] if length is None else [
            BINARY, (rest_body.LENGTH_HEADER.encode(), b"%d" % length)]
        given = headers.get(b"x-request-id")
        if given is not None and PLAIN.fullmatch(given):
            reply.append((b"x-request-id", given))
        if packing:
            reply.append((b"content-encoding", packing.encode()))
        return 200, parts, reply


async def _live(receive: Receive, send: Send) -> None:
    """Nothing is to be begun or ended with the application."""
    for event in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{event}.complete"})
