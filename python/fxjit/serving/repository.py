"""Models by name and version: where their files are, loaded and unloaded at run time.

A model is a file, or a folder name/version/file as Triton's and KServe's repositories have it,
with model.json and warmup.json in name/ or, warmup.json alone, in name/version/.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pathlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import fxjit

from .errors import NotFound, NotReady
from .model_config import FILE, WARMUP, ModelConfig, ServeOptions, read_config
from .served import Served

log = logging.getLogger("fxjit.serving")
IGNORED = {FILE, WARMUP, "config.pbtxt"}


@dataclass(frozen=True)
class Source:
    """Where one version of a model is. `folders`: those that may hold its warmup.json, the
    nearest first; `stamp` changes with the files."""

    name: str
    version: str
    path: pathlib.Path
    config: ModelConfig
    config_folder: pathlib.Path
    folders: tuple[pathlib.Path, ...] = ()
    stamp: tuple[object, ...] = ()


Loader = Callable[[Source, ServeOptions], Served]


@dataclass
class _Entry:
    """What is known of a name: versions that answer, and why others do not."""

    served: dict[str, Served] = field(default_factory=dict)
    stamps: dict[str, tuple[object, ...]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)  # Of load and unload.

    def why(self) -> str:
        return "; ".join(f"version {version}: {why}" if version else why
                         for version, why in self.reasons.items())


def _stamp(*paths: pathlib.Path) -> tuple[object, ...]:
    stamps: list[object] = []
    for path in paths:
        if path.is_file():
            about = path.stat()
            stamps.append((str(path), about.st_ino, about.st_size, about.st_mtime_ns))
    return tuple(stamps)


def _newest_first(versions: list[str]) -> list[str]:
    return sorted(versions, key=int, reverse=True)


def _model_file(folder: pathlib.Path, config: ModelConfig) -> pathlib.Path:
    if config.file is not None:
        return folder / config.file
    files = [path for path in sorted(folder.iterdir()) if path.is_file()
             and path.name not in IGNORED and path.suffix not in (".py", ".safetensors", ".txt")]
    if len(files) != 1:
        raise fxjit.UserError(f"{folder}: expected one file of a model, got "
                              f"{', '.join(path.name for path in files) or 'none'}: name it in "
                              f"{FILE}")
    return files[0]


def _versions_of(folder: pathlib.Path) -> list[str]:
    return _newest_first([path.name for path in folder.iterdir()
                          if path.is_dir() and path.name.isdecimal() and path.name.isascii()])


def sources_of_folder(folder: pathlib.Path) -> list[Source]:
    """The versions of name/, newest first, as many as model.json asks for."""
    config = read_config(folder)
    sources = []
    for version in _versions_of(folder)[:config.versions]:
        inside = folder / version
        path = _model_file(inside, config)
        sources.append(Source(
            folder.name, version, path, config, folder, (inside, folder),
            _stamp(path, folder / FILE, folder / WARMUP, inside / WARMUP,
                   *([folder / config.weights] if config.weights else []),
                   *([folder / config.front] if config.front else []))))
    if not sources:
        raise fxjit.UserError(f"{folder}: no folder of a version, such as {folder.name}/1")
    return sources


class Place:
    """An argument of fxjit-serve: a file ("name=model.pt2" names it), a folder of one model, or
    a repository."""

    def __init__(self, text: str):
        name, _, rest = text.partition("=")
        named = bool(rest) and "/" not in name
        self._path = pathlib.Path(rest if named else text)
        self._name = name if named else self._path.name.split(".")[0]
        if not self._path.exists():
            raise fxjit.UserError(f"{self._path}: there is no such file or folder")

    def models(self) -> dict[str, Callable[[], list[Source]]]:
        """Names, with what lists the sources of each; looks at the disk."""
        if self._path.is_file():
            source = Source(self._name, "1", self._path, ModelConfig(), self._path.parent,
                            (), _stamp(self._path))
            return {self._name: lambda: [source]}
        if _versions_of(self._path):
            return {self._path.name: lambda: sources_of_folder(self._path)}
        return {folder.name: lambda folder=folder: sources_of_folder(folder)
                for folder in sorted(self._path.iterdir())
                if folder.is_dir() and not folder.name.startswith(".")}


class Repository:
    """Thread-safe. `find` takes no lock, load and unload of one model wait for each other."""

    def __init__(self, places: list[str], options: ServeOptions, loader: Loader):
        self._places = [Place(text) for text in places]
        self._options, self._loader = options, loader
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()
        self.stopping = False

    def __iter__(self) -> Iterator[Served]:
        for entry in list(self._entries.values()):
            yield from list(entry.served.values())

    def _known(self) -> dict[str, Callable[[], list[Source]]]:
        known: dict[str, Callable[[], list[Source]]] = {}
        for place in self._places:
            for name, sources in place.models().items():
                if name in known:
                    raise fxjit.UserError(f"two models are named {name}")
                known[name] = sources
        return known

    def load_all(self) -> None:
        """Loads what is there. A model that cannot be loaded is logged and is not ready."""
        known = self._known()
        with self._lock:
            for name in known:
                self._entries.setdefault(name, _Entry(reasons={"": "loading"}))
        for name in known:
            if self.stopping:
                return
            with contextlib.suppress(NotReady):  # It was logged.
                self.load(name)

    def load(self, name: str) -> None:
        """Loads new versions and those whose files have changed, and lets go of those that are
        gone. Requests are answered by the old ones meanwhile. NotFound, NotReady."""
        sources = self._known().get(name)
        if sources is None:
            raise NotFound(f"there is no model {name}")
        with self._lock:
            entry = self._entries.setdefault(name, _Entry(reasons={"": "loading"}))
        with entry.lock:
            entry.reasons = self._load_versions(entry, name, sources)
            if entry.reasons:
                raise NotReady(f"model {name}: {entry.why()}")

    def _load_versions(self, entry: _Entry, name: str,
                       sources: Callable[[], list[Source]]) -> dict[str, str]:
        """Why versions could not be loaded."""
        try:
            found = sources()
        except (fxjit.UserError, OSError) as error:
            log.error("a model cannot be loaded", extra={"model": name, "error": str(error)})
            return {"": str(error)}
        reasons = {}
        for source in found:
            if self.stopping:
                return {"": "the server stops"}
            try:
                self._load_version(entry, source)
            except Exception as error:  # One model's fault is not the others'.
                reasons[source.version] = f"{type(error).__name__}: {error}"
                log.error("a model cannot be loaded", extra={
                    "model": name, "version": source.version, "error": str(error)})
        for version in entry.served.keys() - {source.version for source in found}:
            self._retire(entry, version)
        return reasons

    def _load_version(self, entry: _Entry, source: Source) -> None:
        if entry.stamps.get(source.version) == source.stamp:
            return
        made = self._loader(source, self._options)
        old = entry.served.get(source.version)
        entry.served[source.version] = made
        entry.stamps[source.version] = source.stamp
        log.info("a model is ready", extra={"model": source.name, "version": source.version,
                                            "file": os.fspath(source.path)})
        if old:
            old.close()

    def _retire(self, entry: _Entry, version: str) -> None:
        gone = entry.served.pop(version)
        entry.stamps.pop(version)
        gone.close()
        gone.metrics.remove()
        log.info("a model is unloaded", extra={"model": gone.name, "version": version})

    def unload(self, name: str) -> None:
        """Lets go of all versions when they have answered what waits. NotFound."""
        entry = self._entries.get(name)
        if entry is None:
            raise NotFound(f"there is no model {name}")
        with entry.lock:
            entry.reasons = {"": "unloaded"}  # Before: whoever asks meanwhile is told so.
            for version in list(entry.served):
                self._retire(entry, version)

    def find(self, name: str, version: str = "") -> Served:
        """The version, the newest for "". NotFound, NotReady."""
        entry = self._entries.get(name)
        if entry is None:
            raise NotFound(f"there is no model {name}")
        served = entry.served
        found = served.get(version or max(served, key=int, default=""))
        if found is not None:
            return found
        if not version or version in entry.reasons or "" in entry.reasons:
            raise NotReady(f"model {name} is not ready: {entry.why()}")
        raise NotFound(f"model {name} has no version {version}")

    def asked(self, name: str, version: str) -> list[Served]:
        """One version, all versions that answer, or, of no name, those of all models. NotFound,
        NotReady."""
        if not name:
            return sorted(self, key=lambda one: (one.name, int(one.version)))
        if version:
            return [self.find(name, version)]
        self.find(name)
        return [self.find(name, one) for one in self.versions(name)]

    def versions(self, name: str) -> list[str]:
        entry = self._entries.get(name)
        return sorted(entry.served, key=int) if entry else []

    def ready(self) -> bool:
        """Whether every model of the repository answers that was not unloaded."""
        return not self.stopping and bool(self._entries) and all(
            not entry.reasons or entry.reasons.get("") == "unloaded"
            for entry in list(self._entries.values())) and any(True for _ in self)

    def index(self, ready_only: bool = False) -> list[dict[str, str]]:
        """Of Triton's extension: each version that is known, its state and why."""
        rows = []
        for name in sorted({*self._known(), *self._entries}):
            entry = self._entries.get(name, _Entry())
            rows += [{"name": name, "version": version, "state": "READY", "reason": ""}
                     for version in sorted(entry.served, key=int)]
            if not ready_only:
                reasons = entry.reasons or ({} if entry.served else {"": "not loaded"})
                rows += [{"name": name, "version": version, "state": "UNAVAILABLE",
                          "reason": why} for version, why in reasons.items()]
        return rows

    def close(self) -> None:
        for served in self:
            served.close()
