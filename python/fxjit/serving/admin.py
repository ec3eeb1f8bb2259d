"""The admin port of fxjit-serve, `--admin [HOST:]PORT`: a REST server of its own beside the one
that clients use, so that connections which take up that one's limits do not take this one away.

It answers health, the index and what is known of the models by the paths of the protocol
(/v2/health/live, /v2/repository/index, ...), the metrics (/metrics, which the clients' port then
has no more), and, with --repository-changes, loading and unloading. It computes nothing: requests
to infer are refused. The address is 127.0.0.1 unless one is given; TLS and tokens are those of the
other ports.

`CONNECTIONS` of its connections may be open, beside those of the other ports; bounds.py takes
descriptors for both.
"""

from __future__ import annotations

from typing import Any

from .errors import NotFound
from .pages import Pages, refuse
from .rest import RestApp

CONNECTIONS = 64


class AdminApp:
    """An ASGI application: `app` without the requests that compute."""

    def __init__(self, app: RestApp):
        self._app = Pages(app)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].endswith("/infer"):
            await refuse(NotFound("models are asked on the other port"), send)
            return
        await self._app(scope, receive, send)


def address_of(text: str) -> tuple[str, int]:
    """Host and port of "8082", "0.0.0.0:8082" or "[::1]:8082". ValueError."""
    host, _, port = text.rpartition(":")
    number = int(port)
    if not 0 <= number <= 65535:
        raise ValueError(f"expected a port up to 65535, got {port}")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", number
