"""Why a request is refused, with the code of each protocol."""

from __future__ import annotations

MOST_SHOWN = 100  # Characters of a client's text in a message.
MOST_TOLD = 1000  # Of a message.
RETRY = ((b"retry-after", b"1"),)  # Seconds.


def short(text: str) -> str:
    """A client's text as messages give it back."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


class ServingError(Exception):
    """What a client is told: `http` is the status of REST with `headers`, `grpc` the name of the
    StatusCode, `reason` the label in the metrics. `detail` is for the log: what clients must not
    see, such as paths; the same as they see where it is left out. `counted`: whether the metrics
    of a model have it, rather than those of the server."""

    http, grpc, reason = 500, "INTERNAL", "internal"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    counted = False

    def __init__(self, text: str, detail: str = ""):
        super().__init__(text[:MOST_TOLD])
        self.detail = detail or text


class BadRequest(ServingError):
    """The request is wrong, whenever it comes."""

    http, grpc, reason = 400, "INVALID_ARGUMENT", "bad_request"


class TooLarge(BadRequest):
    """More bytes than the server takes."""

    http, grpc, reason = 413, "RESOURCE_EXHAUSTED", "too_large"


class LongHeaders(TooLarge):
    """More bytes of headers than the server takes."""

    http = 431


class Slow(BadRequest):
    """The headers or the body did not come in time."""

    http, grpc, reason = 408, "DEADLINE_EXCEEDED", "slow"


class WrongMethod(ServingError):
    """The path is there, for others of HTTP's methods."""

    http, grpc, reason = 405, "UNIMPLEMENTED", "wrong_method"

    def __init__(self, allowed: str):
        super().__init__(f"the path takes {allowed} only")
        self.allowed = allowed


class NotFound(ServingError):
    """No model, version or path of this name."""

    http, grpc, reason = 404, "NOT_FOUND", "not_found"


class Unauthorized(ServingError):
    """No token of this server came with it."""

    http, grpc, reason = 401, "UNAUTHENTICATED", "unauthorized"
    headers = ((b"www-authenticate", b"Bearer"),)


class Forbidden(ServingError):
    """What this server, or this port of it, does for nobody, or not for a page of another site."""

    http, grpc, reason = 403, "PERMISSION_DENIED", "forbidden"


class Unsupported(ServingError):
    """A part of the protocol that this server lacks."""

    http, grpc, reason = 501, "UNIMPLEMENTED", "unsupported"


class NotReady(ServingError):
    """The model is loading, unloaded or could not be loaded, or the server stops."""

    http, grpc, reason = 503, "UNAVAILABLE", "not_ready"
    headers = RETRY


class LoadFailed(NotReady):
    """A model was asked to load and some version of it could not be."""

    http, grpc, reason = 400, "FAILED_PRECONDITION", "load_failed"
    headers = ()


class Retired(NotReady):
    """Another took the place of this version while the request came: it is asked instead."""


class Overloaded(ServingError):
    """The queue is full: the same request may be right later."""

    http, grpc, reason = 503, "RESOURCE_EXHAUSTED", "overloaded"
    headers = RETRY


class Expired(ServingError):
    """Its time was over before the work began."""

    http, grpc, reason = 504, "DEADLINE_EXCEEDED", "expired"


class Cancelled(ServingError):
    """The client went away before the work began."""

    http, grpc, reason = 499, "CANCELLED", "cancelled"


class ModelFailed(ServingError):
    """The model raised an error that is no fault of the request."""

    reason = "model"
