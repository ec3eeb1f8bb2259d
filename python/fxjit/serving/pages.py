"""What a port shows beside the protocol: the metrics, in Prometheus's text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prometheus_client.exposition import choose_encoder

from .errors import ServingError, WrongMethod
from .metrics import SHOWN, count_refusal
from .rest import Reply, error_reply

METRICS = "/metrics"


async def send_reply(reply: Reply, send: Any) -> None:
    status, parts, headers = reply
    body = b"".join(parts)
    await send({"type": "http.response.start", "status": status,
                "headers": [*headers, (b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def refuse(error: ServingError, send: Any) -> None:
    """Answers an HTTP request by why it is refused, and counts it."""
    count_refusal("rest", error)
    await send_reply(error_reply(error), send)


class Pages:
    """An ASGI application: /metrics, and all other paths by `inner`."""

    def __init__(self, inner: Callable[..., Any]):
        self._inner = inner

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != METRICS:
            await self._inner(scope, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            await refuse(WrongMethod("GET, HEAD"), send)
        else:
            accepted = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
            encoder, content_type = choose_encoder(accepted)
            await send_reply(
                (200, [encoder(SHOWN)], [(b"content-type", content_type.encode())]), send)
