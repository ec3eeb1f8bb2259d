"""What bounds the clients of fxjit-serve; docs/serving.md says what each option means."""

from __future__ import annotations

import resource
from dataclasses import dataclass

DESCRIPTORS_KEPT = 256  # For files, threads and the admin port.
GRPC_CALLS = 1024  # Of all methods at a time.


@dataclass(frozen=True)
class Bounds:
    """Times in seconds; connections of each protocol, in all and of one address."""

    header_seconds: float = 10
    idle_seconds: float = 75
    body_seconds: float = 30
    connections: int = 1024
    of_address: int = 1024


def raise_descriptors(bounds: Bounds) -> str:
    """Takes the descriptors that the connections of both protocols need, where the system lets this
    process have them. What to log where there are fewer, or ""."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * bounds.connections + DESCRIPTORS_KEPT
    if resource.RLIM_INFINITY in (soft, most) or needed <= soft:
        return ""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(needed, most), most))
    if needed <= most:
        return ""
    return f"{most} descriptors are allowed, {needed} are needed for all connections"
