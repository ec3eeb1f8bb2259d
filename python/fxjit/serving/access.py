"""Who may do what: tokens, and who may load and unload models.

Without tokens everybody who reaches a port may ask the models. With them every request but
those for health carries one, `authorization: Bearer TOKEN`, in either protocol. Models are loaded
and unloaded where the server was started for it, and then on the admin port or by a token.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import os
import pathlib
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import fxjit

from .errors import Forbidden, ServingError, Unauthorized

log = logging.getLogger("fxjit.serving")
Scope = dict[str, Any]
OFF = "loading and unloading is off: --repository-changes of the server turns it on"
ELSEWHERE = "models are loaded and unloaded on the admin port, or by a request with a token"


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


class Tokens:
    """The lines of a file, which is read anew when it has changed. fxjit.UserError where it cannot
    be read, or has no token, when it is opened; later that is logged and the old ones hold."""

    def __init__(self, path: str | os.PathLike[str]):
        self._path = pathlib.Path(path)
        self._stamp: object = None
        self._wrong = ""  # What was logged of a file that cannot be read.
        self._digests: list[bytes] = []
        try:
            self._read(self._stamp_now())
        except (OSError, ValueError) as error:
            raise fxjit.UserError(f"{path}: {error}") from None

    def _stamp_now(self) -> object:
        about = self._path.stat()
        return about.st_ino, about.st_size, about.st_mtime_ns

    def _read(self, stamp: object) -> None:
        self._stamp = stamp
        lines = self._path.read_text(encoding="utf-8").splitlines()
        digests = [_digest(line.strip()) for line in lines if line.strip()]
        if not digests:
            raise ValueError("expected a token on a line of its own")
        self._digests = digests

    def _refresh(self) -> None:
        try:
            stamp = self._stamp_now()
            if stamp != self._stamp:
                self._read(stamp)
                self._wrong = ""
                log.info("tokens were read anew", extra={"count": len(self._digests)})
        except (OSError, ValueError) as error:
            if str(error) != self._wrong:
                self._wrong = str(error)
                log.error("the tokens cannot be read: the old ones hold",
                          extra={"file": str(self._path), "error": self._wrong})

    def holds(self, token: str) -> bool:
        """In a time that does not tell how much of the token is right."""
        self._refresh()
        given, found = _digest(token), False
        for digest in self._digests:
            found |= hmac.compare_digest(given, digest)
        return found


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _host_of(text: str) -> str:
    """The name or address of a Host header, without its port."""
    return (urlsplit(f"//{text}").hostname or "").rstrip(".")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Access:
    """tokens: None where requests need none. changes: whether models may be loaded and unloaded.
    names: what the admin port may be called in a Host header, beside addresses and localhost."""

    def __init__(self, tokens: Tokens | None = None, changes: bool = False,
                 names: tuple[str, ...] = ()):
        self.tokens, self.changes = tokens, changes
        self._names = {"localhost", *(name.lower() for name in names)}

    def check_token(self, authorization: str) -> None:
        """Unauthorized, unless this header's value holds a token or none are needed."""
        if self.tokens is None:
            return
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not self.tokens.holds(token.strip()):
            raise Unauthorized("expected authorization: Bearer with a token of this server")

    def check_change(self) -> None:
        """Forbidden, unless a request that may have needed a token may change the models."""
        if not self.changes:
            raise Forbidden(OFF)
        if self.tokens is None:
            raise Forbidden(ELSEWHERE)

    def check_admin_change(self, scope: Scope) -> None:
        """The same on the admin port. A browser that was led here names another host, by which it
        found this address, or the origin of the page that sent it: Forbidden."""
        if not self.changes:
            raise Forbidden(OFF)
        headers = _texts(scope)
        host = _host_of(headers.get("host", ""))
        if not _is_address(host) and host not in self._names:
            raise Forbidden("the Host of the request is no address, nor a name that "
                            "--admin-name of the server states")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers["host"]:
            raise Forbidden("the Origin of the request is another site")


def _texts(scope: Scope) -> Mapping[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


class TokenGate:
    """An ASGI application that asks for a token before `inner` does, but for health."""

    OPEN = (b"/v2/health/live", b"/v2/health/ready")

    def __init__(self, inner: Callable[..., Any], access: Access,
                 refuse: Callable[[ServingError, Any], Any]):
        self._inner, self._access, self._refuse = inner, access, refuse

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        path = scope.get("raw_path") or scope["path"].encode()
        if scope["type"] == "http" and path not in self.OPEN:
            try:
                self._access.check_token(_texts(scope).get("authorization", ""))
            except Unauthorized as error:
                await self._refuse(error, send)
                return
        await self._inner(scope, receive, send)
