"""The files of a loaded model as the server holds them, so that a file which is written over harms
nobody and is noticed.

Small files are copied into memory when they are opened: what happens to them later changes no
answer. Large ones stay mapped, because a copy would keep what the mapping gives back; their
descriptors are held, and `changes` tells when size or time are no longer those of the beginning.
One that was cut off reads as zeros (`lost`), where SIGBUS would end the process. Files that are
exchanged by renaming are other files: the descriptor has the old one, which does not change.
"""

from __future__ import annotations

import fcntl
import os
import pathlib
import threading
from dataclasses import dataclass

import fxjit
from fxjit._fxjit import lost_files

Facts = tuple[int, int]
# In an ONNX file, the name of the entry that tells where a tensor's file is.
BESIDE_ONNX = b"location"
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL


def _facts(descriptor: int) -> Facts:
    about = os.fstat(descriptor)
    return about.st_size, about.st_mtime_ns


def _copy(descriptor: int, size: int, name: str) -> int:
    """A descriptor of a file in memory that nobody can change."""
    made = os.memfd_create(name[:200], os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    at = 0
    while at < size:
        sent = os.sendfile(made, descriptor, at, size - at)
        if sent == 0:
            break
        at += sent
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, SEALS)
    return made


@dataclass
class _Held:
    path: pathlib.Path
    descriptor: int
    facts: Facts
    copy: int | None = None  # The descriptor of the copy, as long as somebody may open it.
    copied: bool = False
    told: bool = False  # Whether `changes` has told of it.

    def version(self) -> tuple[int, int, int, int]:
        """As `lost_files` tells it."""
        about = os.fstat(self.descriptor)
        return about.st_dev, about.st_ino, *self.facts


class HeldFiles:
    """The files of one version of a model. copied_bytes: the size up to which a file is copied.
    `changes`, `lost` and `close` may be called by several threads."""

    def __init__(self, copied_bytes: int):
        self._copied_bytes = copied_bytes
        self._lock = threading.Lock()
        self._held: dict[pathlib.Path, _Held] = {}

    def hold(self, path: pathlib.Path) -> None:
        """Notes a file that the model may map by its own name. OSError."""
        if path not in self._held:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            self._held[path] = _Held(path, descriptor, _facts(descriptor))

    def opened(self, path: pathlib.Path) -> str:
        """The path by which the model opens this file, valid until `opening_done`: that of its copy
        or its own. Raises OSError, and fxjit.UserError if the file changes while it is copied."""
        self.hold(path)
        held = self._held[path]
        size = held.facts[0]
        if size == 0 or size > self._copied_bytes:
            return os.fspath(path)
        held.copy = _copy(held.descriptor, size, path.name)
        if _facts(held.descriptor) != held.facts or os.fstat(held.copy).st_size != size:
            raise fxjit.UserError(f"{path}: changed while it was read")
        if path.suffix == ".onnx" and BESIDE_ONNX in _bytes_of(held.copy, size):
            self._close_copy(held)
            return os.fspath(path)
        held.copied = True
        return f"/proc/self/fd/{held.copy}"

    @staticmethod
    def _close_copy(held: _Held) -> None:
        if held.copy is not None:
            os.close(held.copy)
            held.copy = None

    def opening_done(self) -> None:
        """Gives back the descriptors of copies, which the model has opened."""
        for held in self._held.values():
            self._close_copy(held)

    def changes(self) -> tuple[list[pathlib.Path], list[pathlib.Path]]:
        """The files that were written since they were opened and since the last call of this
        method, in two lists: those that were copied, and those that the model reads."""
        copied: list[pathlib.Path] = []
        mapped: list[pathlib.Path] = []
        with self._lock:
            for held in self._held.values():
                if not held.told and _facts(held.descriptor) != held.facts:
                    held.told = True
                    (copied if held.copied else mapped).append(held.path)
        return copied, mapped

    def lost(self) -> bool:
        """Whether what the model reads was cut off, so that its answers are worthless."""
        lost = lost_files()
        if not lost:
            return False
        with self._lock:
            return any(held.version() in lost for held in self._held.values() if not held.copied)

    def close(self) -> None:
        self.opening_done()
        with self._lock:
            for held in self._held.values():
                os.close(held.descriptor)
            self._held.clear()


def _bytes_of(descriptor: int, size: int) -> bytes:
    return os.pread(descriptor, size, 0)
