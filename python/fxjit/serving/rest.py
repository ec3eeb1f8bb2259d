"""The Open Inference Protocol over REST: an ASGI application, for uvicorn or Ray Serve."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

import orjson

from . import rest_body
from .errors import BadRequest, NotFound, ServingError, TooLarge, Unsupported
from .front_door import FrontDoor
from .metrics import REFUSALS

log = logging.getLogger("fxjit.serving")
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Reply = tuple[int, bytes, list[tuple[bytes, bytes]]]
JSON = (b"content-type", b"application/json")
BINARY = (b"content-type", b"application/octet-stream")
# Of health paths, where the protocol has 200 for true and 4xx for false; Triton answers the same.
NOT_READY = 400


class ClientGone(Exception):
    """Nobody is there to be answered."""


def json_reply(value: Any, status: int = 200) -> Reply:
    return status, orjson.dumps(value), [JSON]


def error_reply(error: ServingError) -> Reply:
    status, body, headers = json_reply({"error": str(error)}, error.http)
    return status, body, [*headers, *error.headers]


def refuse_change(_scope: Scope | None = None) -> None:
    """Where no other rule is given, models are neither loaded nor unloaded by requests."""
    raise Unsupported("models are changed by deploying anew")


class RestApp:
    """Paths below /v2 are answered, others are not found. Bodies that do not arrive within
    `body_seconds` are refused, and loads and unloads for which `allow_change` raises."""

    def __init__(self, door: FrontDoor, body_seconds: float = 30,
                 allow_change: Callable[[Scope], None] = refuse_change):
        self._door, self._body_seconds = door, body_seconds
        self._allow_change = allow_change

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        try:
            status, body, headers = await self._answer(scope, receive)
        except ClientGone:
            return
        except ServingError as error:
            if not error.counted:
                REFUSALS.labels("rest", str(error.http), error.reason).inc()
            status, body, headers = error_reply(error)
        except Exception as error:  # The server's own fault, which must not end it.
            log.exception("a request failed")
            status, body, headers = json_reply({"error": type(error).__name__}, 500)
        headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> Reply:
        raw = scope.get("raw_path") or scope["path"].encode()
        first, *parts = [unquote(part) for part in raw.decode("latin-1").split("/")[1:]]
        method = scope["method"]
        if first != "v2":
            raise NotFound(f"{method} {scope['path']}: there is no such path")
        if method == "GET" and parts == ["models", "stats"]:
            return json_reply(self._door.statistics("", ""))
        if parts[:1] == ["models"] and len(parts) >= 2:
            name, version, rest = parts[1], "", parts[2:]
            if rest[:1] == ["versions"] and len(rest) >= 2:
                version, rest = rest[1], rest[2:]
            return await self._of_model(method, name, version, rest, scope, receive)
        if parts[:1] == ["repository"] and method == "POST":
            return await self._of_repository(parts[1:], scope, receive)
        if method == "GET":
            return self._of_server(parts)
        raise NotFound(f"{method} {scope['path']}: there is no such path")

    def _of_server(self, parts: list[str]) -> Reply:
        repository = self._door.repository
        if parts in ([], [""]):
            return json_reply(self._door.metadata())
        if parts == ["health", "live"]:
            return json_reply({"live": True})
        if parts == ["health", "ready"]:
            ready = repository.ready()
            return json_reply({"ready": ready}, 200 if ready else NOT_READY)
        if parts == ["models"]:
            return json_reply({"models": sorted({one.name for one in repository})})
        raise NotFound(f"/v2/{'/'.join(parts)}: there is no such path")

    async def _of_model(self, method: str, name: str, version: str, rest: list[str],
                        scope: Scope, receive: Receive) -> Reply:
        if method == "POST" and rest == ["infer"]:
            return await self._infer(name, version, scope, receive)
        if method == "GET" and not rest:
            return json_reply(self._door.model_metadata(name, version))
        if method == "GET" and rest == ["ready"]:
            ready = self._door.model_ready(name, version)
            return json_reply({"name": name, "ready": ready}, 200 if ready else NOT_READY)
        if method == "GET" and rest == ["config"]:
            return json_reply(self._door.model_config(name, version))
        if method == "GET" and rest == ["stats"]:
            return json_reply(self._door.statistics(name, version))
        raise NotFound(f"{method} {scope['path']}: there is no such path")

    async def _of_repository(self, parts: list[str], scope: Scope, receive: Receive) -> Reply:
        body = await self._body(scope, receive, 1 << 20)
        if parts == ["index"]:
            wanted = rest_body.json_of(body) if body else {}
            loop = asyncio.get_running_loop()
            return json_reply(await loop.run_in_executor(
                None, self._door.repository.index, wanted.get("ready") is True))
        if len(parts) == 3 and parts[0] == "models" and parts[2] in ("load", "unload"):
            self._allow_change(scope)
            if parts[2] == "load":
                if body and rest_body.json_of(body).get("parameters"):
                    raise BadRequest("parameters of a load are not supported")
                await self._door.load(parts[1])
            else:
                await self._door.unload(parts[1])
            return json_reply({"name": parts[1], parts[2]: True})
        raise NotFound(f"{scope['path']}: there is no such path")

    async def _infer(self, name: str, version: str, scope: Scope, receive: Receive) -> Reply:
        headers = dict(scope["headers"])

        def text(key: bytes) -> str:
            return headers.get(key, b"").decode("latin-1")

        length = headers.get(b"content-length", b"0")
        held = int(length) if length.isdigit() else 0
        if held > self._door.max_bytes:
            raise TooLarge(f"the body has {held} bytes, at most {self._door.max_bytes} are taken")
        self._door.hold(held)
        try:
            body = await self._body(scope, receive, self._door.max_bytes)
            json_length = text(rest_body.LENGTH_HEADER.encode()) or None

            def read() -> Any:
                plain = rest_body.unpacked(body, text(b"content-encoding"), self._door.max_bytes)
                return rest_body.read(plain, json_length)

            made, size = await _unless_gone(self._door.infer(
                name, version, text(b"x-request-id"), read, rest_body.written), receive)
        finally:
            self._door.release(held)
        reply = [JSON] if size is None else [
            BINARY, (rest_body.LENGTH_HEADER.encode(), b"%d" % size)]
        if b"x-request-id" in headers:
            reply.append((b"x-request-id", headers[b"x-request-id"]))
        made, encoding = rest_body.packed(made, text(b"accept-encoding"))
        if encoding:
            reply.append((b"content-encoding", encoding.encode()))
        return 200, made, reply

    async def _body(self, scope: Scope, receive: Receive, limit: int) -> bytes:
        parts, size = [], 0
        try:
            async with asyncio.timeout(self._body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientGone
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > limit:
                        raise TooLarge(f"the body has more than {limit} bytes")
                    if not message.get("more_body"):
                        return parts[0] if len(parts) == 1 else b"".join(parts)
        except TimeoutError:
            raise _Slow(f"the body did not arrive within {self._body_seconds} seconds") from None


async def _live(receive: Receive, send: Send) -> None:
    """Nothing is to be begun or ended with the application."""
    for event in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{event}.complete"})


class _Slow(BadRequest):
    http = 408


async def _unless_gone(work: Awaitable[Any], receive: Receive) -> Any:
    """The result, or ClientGone, with the work cancelled, when the connection ends before."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(receive())
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
            raise ClientGone
        return task.result()
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
