"""uvicorn's connections with limits: on their number, on the bytes and the time of headers, on idle
connections, and on requests that arrive before earlier ones are answered. uvicorn itself limits
idle connections only, and llhttp, its parser, limits nothing."""

from __future__ import annotations

import asyncio
import collections
import logging
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from .errors import BadRequest, LongHeaders, Overloaded, ServingError, Slow, TooLarge
from .metrics import count_refusal
from .rest import error_reply
from .rest_io import ABORT

log = logging.getLogger("fxjit.serving")
HEADER_BYTES = 1 << 16
MOST_WAITING = 16  # Requests of a connection behind the one that is answered.
WAITING_BYTES = 1 << 16  # Of their bodies.
LINGER_SECONDS = 5  # For the rest of a body that was answered before its end.


@dataclass
class Limits:
    """connections: the most connections in all, and the most of one address. header_seconds: the
    time from the first byte of a request, or from the opening of the connection, to the end of the
    headers."""

    connections: int = 1024
    of_address: int = 1024
    header_seconds: float = 10
    addresses: collections.Counter[str] = field(default_factory=collections.Counter)

    @property
    def open(self) -> int:
        return self.addresses.total()

    def enter(self, address: str) -> str:
        """Counts one more connection and returns ""; if there may be no more, returns the reason
        instead."""
        if self.open >= self.connections:
            return f"{self.connections} connections are open already"
        if self.addresses[address] >= self.of_address:
            return f"{self.of_address} connections of this address are open already"
        self.addresses[address] += 1
        return ""

    def leave(self, address: str) -> None:
        self.addresses[address] -= 1
        if not self.addresses[address]:
            del self.addresses[address]


class _Flow(FlowControl):
    """Reads nothing more while requests wait: uvicorn's own reads on when one asks for its body."""

    def __init__(self, transport: asyncio.Transport, waiting: collections.deque[Any]):
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if not self._waiting:
            super().resume_reading()


class BoundedProtocol(HttpToolsProtocol):
    """One connection. `limits` is set by bounded_protocol()."""

    limits: Limits

    def __init__(self, *given: Any, **named: Any):
        super().__init__(*given, **named)
        self._address: str | None = None  # Under which it is counted.
        self._timer: asyncio.TimerHandle | None = None
        self._header_bytes = self._waiting_bytes = 0
        self._in_body = self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.flow = _Flow(transport, self.pipeline)
        address = self.client[0] if self.client else ""
        why = self.limits.enter(address)
        if why:
            log.warning("a connection is refused", extra={"reason": "connections", "error": why})
            self._refuse(Overloaded(why))
            return
        self._address = address
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._address is not None:
            self.limits.leave(self._address)
            self._address = None
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if not self._in_body:
            if self._timer is None:
                self._await_headers()
            self._header_bytes += len(data)
            if self._header_bytes > HEADER_BYTES + len(data):
                self._refuse(LongHeaders(f"headers of more than {HEADER_BYTES} bytes"))
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: self.transport.abort}

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # Trailers mean nothing here.
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._refused:
            return
        self._stop_timer()
        self._header_bytes = 0
        self._in_body = True
        if self._get_upgrade() == b"websocket":
            self._refuse(BadRequest("WebSockets are not spoken here"))
            return
        super().on_headers_complete()
        self._bound_waiting(0)

    def on_body(self, body: bytes) -> None:
        if self._refused:
            return
        super().on_body(body)
        self._bound_waiting(len(body))

    def _bound_waiting(self, size: int) -> None:
        """Ends the connection where more waits than may. There is no answer to that: the one that
        is being given comes first."""
        self._waiting_bytes = self._waiting_bytes + size if self.pipeline else 0
        if len(self.pipeline) <= MOST_WAITING and self._waiting_bytes <= WAITING_BYTES:
            return
        self._refused = True
        count_refusal("rest", TooLarge(""))
        log.warning("a connection is refused", extra={
            "reason": "pipeline", "error": f"more than {MOST_WAITING} requests or "
            f"{WAITING_BYTES} bytes wait behind the one that is answered"})
        self.transport.abort()

    def on_message_complete(self) -> None:
        self._in_body = False
        if self._refused:
            return
        super().on_message_complete()
        if self.cycle.response_complete:  # It was answered before its end: that is here now.
            self._stop_timer()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def on_response_complete(self) -> None:
        unread = self.cycle.more_body and not self.transport.is_closing()
        super().on_response_complete()
        if unread:
            self._unset_keepalive_if_required()
            self._stop_timer()
            self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        self._refuse(BadRequest(msg))

    def _unsupported_upgrade_warning(self) -> None:
        """Upgrades other than WebSockets are left out, as HTTP allows."""

    def _await_headers(self) -> None:
        self._timer = self.loop.call_later(self.limits.header_seconds, self._too_slow)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        if self._header_bytes:
            self._refuse(Slow(f"no headers within {self.limits.header_seconds:g} seconds"))
        else:
            self.transport.abort()

    def _refuse(self, error: ServingError) -> None:
        self._refused = True
        self._stop_timer()
        if self.transport.is_closing():
            return
        count_refusal("rest", error)
        status, parts, headers = error_reply(error)
        body = b"".join(parts)
        self.transport.write(b"".join([
            STATUS_LINE[status], *(b"%s: %s\r\n" % header for header in headers),
            b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body), body]))
        self.transport.close()


def bounded_protocol(limits: Limits) -> type[BoundedProtocol]:
    return type("Protocol", (BoundedProtocol,), {"limits": limits})
