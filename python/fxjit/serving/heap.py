"""The C library's heap, set up for a process that holds large bodies for a short time."""

from __future__ import annotations

import ctypes
import sys

# Parameters of glibc's mallopt (malloc.h).
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_LARGE = 1 << 16


def give_back_large_blocks() -> None:
    """From now on blocks of 1 MB and more are pages of their own, which go back when they are
    freed. Otherwise glibc raises that size to the largest block freed so far, up to 32 MB, and
    keeps what bodies took in the heaps of its threads. Does nothing with other C libraries."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
        mallopt(_M_ARENA_MAX, 2)
