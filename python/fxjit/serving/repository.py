"""All models of a server, by name and version. They are loaded and unloaded while the server
runs."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import fxjit

from .errors import LoadFailed, NotFound, NotReady, short
from .model_config import ServeOptions
from .places import Place, Source, Stamp, stamp_of
from .redaction import without_paths
from .served import Served

log = logging.getLogger("fxjit.serving")
Loader = Callable[[Source, ServeOptions], Served]
LOADING, UNLOADED = "loading", "unloaded"
UNREADABLE = "the repository cannot be read"
STATES = ("ready", LOADING, "failed", UNLOADED)


@dataclass
class _Entry:
    """What is known of a model's name: the versions that answer, and for the others why they do
    not, as text without paths; a reason without a version concerns the whole model. `tried` has the
    files of each version as they were when it was last loaded, with or without success."""

    served: dict[str, Served] = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)
    tried: dict[str, Stamp] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=lambda: {"": LOADING})
    lock: threading.Lock = field(default_factory=threading.Lock)  # Of load and unload.

    def why(self) -> str:
        return "; ".join(f"version {version}: {why}" if version else why
                         for version, why in self.reasons.items())

    def state(self) -> str:
        if self.served:
            return "ready"
        why = self.reasons.get("")
        return why if why in (LOADING, UNLOADED) else "failed"


class Repository:
    """Thread-safe. `find` takes no lock; loads and unloads of one model wait for each other. Raises
    fxjit.UserError if a place does not exist, or if two models have one name."""

    def __init__(self, places: list[str], options: ServeOptions, loader: Loader,
                 roots: tuple[str, ...] = ()):
        self._places = [Place(text, roots) for text in places]
        self._options, self._loader = options, loader
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()
        self.stopping = False
        if not self._known():
            log.warning("there is no model", extra={"places": places})

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

    def _entry(self, name: str) -> _Entry:
        with self._lock:
            return self._entries.setdefault(name, _Entry())

    def load_all(self) -> None:
        """Loads all models that are there. Logs the versions that cannot be loaded."""
        known = self._known()
        for name in known:
            self._entry(name)  # Before the first is loaded: all are asked for.
        for name in known:
            if self.stopping:
                return
            with contextlib.suppress(LoadFailed):  # It was logged.
                self.load(name)

    def load(self, name: str) -> None:
        """Loads the versions of a model that are new or whose files have changed, and drops those
        that are gone. Until then the old versions answer. Raises NotFound or LoadFailed."""
        try:
            sources = self._known().get(name)
        except (fxjit.UserError, OSError) as error:
            log.error(UNREADABLE, extra={"error": str(error)})
            raise LoadFailed(f"{UNREADABLE}: {without_paths(error)}") from None
        if sources is None:
            self._forget(name)
            raise NotFound(f"there is no model {short(name)}")
        entry = self._entry(name)
        with entry.lock:
            self._load_versions(entry, name, sources, again=True)
            if entry.reasons:
                raise LoadFailed(f"model {short(name)}: {entry.why()}")

    def _forget(self, name: str) -> None:
        """Lets go of a model whose files are gone."""
        entry = self._entries.get(name)
        if entry is not None:
            with entry.lock:
                for version in list(entry.served):
                    self._retire(entry, version)
            with self._lock:
                self._entries.pop(name, None)

    def poll(self, settled: Callable[[Source], bool], names: set[str] | None = None) -> None:
        """Does for these models, or for all that were not unloaded, what load() does. New files are
        taken once `settled` is true for them. Files that could not be loaded are tried again when
        they have changed."""
        known = self._known()
        if names is None:
            for name in self._entries.keys() - known.keys():
                self._forget(name)
            names = {name for name in known if self._entry(name).state() != UNLOADED}
        for name in names & known.keys():
            entry = self._entry(name)
            with entry.lock:
                self._load_versions(entry, name, known[name], False, settled)

    def _load_versions(self, entry: _Entry, name: str, sources: Callable[[], list[Source]],
                       again: bool, settled: Callable[[Source], bool] = lambda one: True) -> None:
        """Loads the newest versions that can be loaded, as many as model.json asks for."""
        try:
            found = sources()
        except (fxjit.UserError, OSError) as error:
            self._note_failure(entry, name, "", error)
            return
        if "" in entry.reasons:
            entry.reasons[""] = LOADING
        wanted, kept, seen = found[0].config.versions or len(found), set(), set()
        for source in found:
            if self.stopping:
                return
            if len(kept) == wanted:
                break
            seen.add(source.version)
            tried = entry.tried.get(source.version) == source.stamp
            if not settled(source):
                seen.add("")  # Still loading, if it was.
            elif (again or not tried) and self._load_version(entry, source):
                entry.reasons.pop(source.version, None)
            if source.version in entry.served:
                kept.add(source.version)
        for version in entry.served.keys() - kept:
            self._retire(entry, version)
        for version in entry.reasons.keys() - seen:
            del entry.reasons[version]

    def _load_version(self, entry: _Entry, source: Source) -> bool:
        """Loads one version and returns whether it answers with its files as they are now."""
        if entry.stamps.get(source.version) == source.stamp and source.version in entry.served:
            return True
        entry.tried[source.version] = source.stamp
        try:
            if source.wrong:
                raise fxjit.UserError(source.wrong)
            made = self._loader(source, self._options)
            if stamp_of(source.files) != source.stamp:
                made.close()
                raise fxjit.UserError(f"{source.path}: changed while it was loaded")
        except Exception as error:  # One model's fault is not the others'.
            self._note_failure(entry, source.name, source.version, error, source)
            return False
        old = entry.served.get(source.version)
        entry.served[source.version] = made
        entry.stamps[source.version] = source.stamp
        log.info("a model is ready", extra={"model": source.name, "version": source.version,
                                            "file": os.fspath(source.path)})
        if old:
            old.close()
        return True

    def _note_failure(self, entry: _Entry, name: str, version: str, error: Exception,
                      source: Source | None = None) -> None:
        log.error("a model cannot be loaded", extra={
            "model": name, "version": version, "error": f"{type(error).__name__}: {error}",
            "answers": sorted(entry.served, key=int)})
        folders = (source.path.parent, source.config_folder) if source else ()
        entry.reasons[version] = f"{type(error).__name__}: {without_paths(error, *folders)}"

    def _retire(self, entry: _Entry, version: str) -> None:
        gone = entry.served.pop(version)
        entry.stamps.pop(version)
        gone.close()
        gone.metrics.remove()
        log.info("a model is unloaded", extra={"model": gone.name, "version": version})

    def lose(self, served: Served, why: str) -> None:
        """Says that a version can no longer answer. Its requests are refused until it is loaded
        again."""
        entry = self._entries.get(served.name)
        if entry is None:
            return
        with entry.lock:
            if entry.served.get(served.version) is served:
                log.error("a model is lost", extra={"model": served.name, "error": why,
                                                    "version": served.version})
                entry.reasons[served.version] = why
                self._retire(entry, served.version)

    def unload(self, name: str) -> None:
        """Drops all versions of a model once they have answered what waits. Raises NotFound."""
        entry = self._entries.get(name)
        if entry is None:
            raise NotFound(f"there is no model {short(name)}")
        with entry.lock:
            entry.reasons = {"": UNLOADED}  # Before: whoever asks meanwhile is told so.
            for version in list(entry.served):
                self._retire(entry, version)

    def find(self, name: str, version: str = "") -> Served:
        """The version of a model, the newest one for "". Raises NotFound or NotReady."""
        entry = self._entries.get(name)
        if entry is None:
            raise NotFound(f"there is no model {short(name)}")
        served = entry.served
        found = served.get(version or max(served, key=int, default=""))
        if found is not None:
            return found
        if not version or version in entry.reasons or "" in entry.reasons:
            raise NotReady(f"model {short(name)} is not ready: {entry.why()}")
        raise NotFound(f"model {short(name)} has no version {short(version)}")

    def asked(self, name: str, version: str) -> list[Served]:
        """The versions that a request for metadata means: one, all versions of a model that answer
        or, without a name, those of all models. Raises NotFound or NotReady."""
        if not name:
            return sorted(self, key=lambda one: (one.name, int(one.version)))
        if version:
            return [self.find(name, version)]
        self.find(name)
        return [self.find(name, one) for one in self.versions(name)]

    def versions(self, name: str) -> list[str]:
        entry = self._entries.get(name)
        return sorted(entry.served, key=int) if entry else []

    def states(self) -> dict[str, str]:
        """One of STATES for each model that was asked for."""
        return {name: entry.state() for name, entry in list(self._entries.items())}

    def failed(self) -> list[tuple[str, str]]:
        """The models and versions that could not be loaded, or that were lost since."""
        return [(name, version) for name, entry in list(self._entries.items())
                for version, why in list(entry.reasons.items())
                if version or why not in (LOADING, UNLOADED)]

    def ready(self) -> bool:
        """Whether at least one model answers, and every model that was not unloaded answers with
        some version."""
        states = set(self.states().values())
        return not self.stopping and "ready" in states and states <= {"ready", UNLOADED}

    def index(self, ready_only: bool = False) -> list[dict[str, str]]:
        """The index of Triton's extension: each known version, its state and the reason. A version
        whose new files could not be loaded still answers with the old ones, and has a reason."""
        rows = []
        try:
            known = self._known()
        except (fxjit.UserError, OSError) as error:  # What is loaded is told all the same.
            log.error(UNREADABLE, extra={"error": str(error)})
            known = {}
        for name in sorted({*known, *self._entries}):
            entry = self._entries.get(name) or _Entry(reasons={"": "not loaded"})
            rows += [{"name": name, "version": version, "state": "READY",
                      "reason": entry.reasons.get(version, "")}
                     for version in sorted(entry.served, key=int)]
            if not ready_only:
                rows += [{"name": name, "version": version, "state": "UNAVAILABLE",
                          "reason": why} for version, why in entry.reasons.items()
                         if version not in entry.served]
        return rows

    def close(self) -> None:
        for served in self:
            served.close()
