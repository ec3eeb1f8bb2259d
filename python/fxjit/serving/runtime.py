"""The C library's heap and the interpreter, set up for a process that serves."""

from __future__ import annotations

import ctypes
import sys

# Parameters of glibc's mallopt (malloc.h).
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_LARGE = 1 << 16  # gRPC's library keeps what comes in blocks of this size.
# For which a thread may keep the interpreter's lock from others. The event loop asks for it at each
# event, so Python's own 5 ms add up while models' threads are busy.
_SWITCH_SECONDS = 0.001


def set_up() -> None:
    sys.setswitchinterval(_SWITCH_SECONDS)
    _give_back_large_blocks()


def _give_back_large_blocks() -> None:
    """From now on large blocks are pages of their own, which go back when they are freed.
    Otherwise glibc raises that size to the largest block freed so far, up to 32 MB, and keeps
    what bodies took in the heaps of its threads. Does nothing with other C libraries."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
        mallopt(_M_ARENA_MAX, 2)
