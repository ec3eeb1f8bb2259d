"""Where the files of models are: the arguments of fxjit-serve, looked at on the disk.

A model is a file, or a folder name/version/file as Triton's and KServe's repositories have it,
with model.json and warmup.json in name/ or, warmup.json alone, in name/version/. Files and links
stay inside the folder that was named, unless an option names other roots.
"""

from __future__ import annotations

import logging
import pathlib
from collections.abc import Callable
from dataclasses import dataclass

import fxjit

from .model_config import FILE, WARMUP, ModelConfig, read_config

log = logging.getLogger("fxjit.serving")
IGNORED = {FILE, WARMUP, "config.pbtxt"}
BESIDE = (".py", ".safetensors", ".txt")  # Endings of files that are no model.
Stamp = tuple[object, ...]


@dataclass(frozen=True)
class Source:
    """Where one version of a model is. `folders`: those that may hold its warmup.json, the
    nearest first; `files`: all that it is made of; `stamp` changes with them. `wrong`: why it
    cannot be loaded, where the folder tells that much."""

    name: str
    version: str
    path: pathlib.Path
    config: ModelConfig
    config_folder: pathlib.Path
    folders: tuple[pathlib.Path, ...] = ()
    stamp: Stamp = ()
    files: tuple[pathlib.Path, ...] = ()
    wrong: str = ""


def stamp_of(paths: tuple[pathlib.Path, ...]) -> Stamp:
    """Changes with these files; those that are not there are left out."""
    stamps: list[object] = []
    for path in paths:
        if path.is_file():
            about = path.stat()
            stamps.append((str(path), about.st_ino, about.st_size, about.st_mtime_ns))
    return tuple(stamps)


class Roots:
    """The folders that files of models may be in, behind all links."""

    def __init__(self, *folders: pathlib.Path):
        self._folders = folders
        self._told: set[tuple[str, pathlib.Path]] = set()

    def check(self, path: pathlib.Path, what: str) -> None:
        """fxjit.UserError where the path leads out of the folders: clients are told of `what` it
        is, the log where it leads, once."""
        real = path.resolve()
        if any(real.is_relative_to(folder) for folder in self._folders):
            return
        if (what, path) not in self._told:
            self._told.add((what, path))
            log.error("a file leads out of its repository",
                      extra={"what": what, "file": str(path), "target": str(real)})
        raise fxjit.UserError(f"{what} leads out of the repository: --root names other folders "
                              "that files may be in")


def _versions_of(folder: pathlib.Path) -> list[str]:
    names = [path.name for path in folder.iterdir()
             if path.is_dir() and path.name.isdecimal() and path.name.isascii()]
    return sorted(names, key=int, reverse=True)


def _model_file(folder: pathlib.Path, config: ModelConfig) -> pathlib.Path:
    if config.file is not None:
        return folder / config.file
    files = [path for path in sorted(folder.iterdir()) if path.is_file()
             and path.name not in IGNORED and path.suffix not in BESIDE]
    if len(files) != 1:
        raise fxjit.UserError(f"{folder}: expected one file of a model, got "
                              f"{', '.join(path.name for path in files) or 'none'}: name it in "
                              f"{FILE}")
    return files[0]


def _source(folder: pathlib.Path, version: str, config: ModelConfig, roots: Roots) -> Source:
    inside = folder / version
    path, wrong, files = inside, "", (inside,)
    try:
        roots.check(inside, "the folder of the version")
        path = _model_file(inside, config)
        beside = {what: folder / name for what, name in (
            ("weights", config.weights), ("front", config.front)) if name}
        checked = {"file": path, FILE: folder / FILE, WARMUP: folder / WARMUP, **beside}
        read = (*checked.values(), inside / WARMUP)
        if config.options.get("cache_folder"):
            checked["cache_folder"] = pathlib.Path(config.options["cache_folder"])
        for what, file in checked.items():
            roots.check(file, what)
        roots.check(inside / WARMUP, WARMUP)
        files = (*read, *(one for one in sorted(inside.iterdir()) if one not in read))
    except (fxjit.UserError, OSError) as error:
        wrong = str(error)
    return Source(folder.name, version, path, config, folder, (inside, folder),
                  stamp_of(files), files, wrong)


def sources_of_folder(folder: pathlib.Path, roots: Roots) -> list[Source]:
    """The versions of name/, newest first. fxjit.UserError where there is none."""
    roots.check(folder, "the folder of the model")
    roots.check(folder / FILE, FILE)
    config = read_config(folder)
    sources = [_source(folder, version, config, roots) for version in _versions_of(folder)]
    if not sources:
        raise fxjit.UserError(f"{folder}: no folder of a version, such as {folder.name}/1")
    return sources


def _is_model(folder: pathlib.Path) -> bool:
    """What a file system or a tool puts there has no versions, or is not to be read."""
    try:
        return (folder / FILE).exists() or bool(_versions_of(folder))
    except PermissionError:
        return folder.name != "lost+found"


class Place:
    """An argument of fxjit-serve: a file ("name=model.pt2" names it), a folder of one model, or
    a repository. roots: folders beside it that its files may be in."""

    def __init__(self, text: str, roots: tuple[str, ...] = ()):
        name, _, rest = text.partition("=")
        named = bool(rest) and "/" not in name
        self._path = pathlib.Path(rest if named else text)
        self._name = name if named else self._path.name.split(".")[0]
        self._skipped: set[str] = set()
        if not self._path.exists():
            raise fxjit.UserError(f"{self._path}: there is no such file or folder")
        self._roots = Roots(self._path.resolve(), *(pathlib.Path(one).resolve()
                                                    for one in roots))

    def models(self) -> dict[str, Callable[[], list[Source]]]:
        """Names, with what lists the sources of each, newest first; looks at the disk."""
        if self._path.is_file():
            return {self._name: self._file}
        if _versions_of(self._path):
            return {self._path.name: lambda: sources_of_folder(self._path, self._roots)}
        return {folder.name: lambda folder=folder: sources_of_folder(folder, self._roots)
                for folder in sorted(self._path.iterdir())
                if folder.is_dir() and not folder.name.startswith(".") and self._taken(folder)}

    def _file(self) -> list[Source]:
        files = (self._path,)
        return [Source(self._name, "1", self._path, ModelConfig(), self._path.parent, (),
                       stamp_of(files), files)]

    def _taken(self, folder: pathlib.Path) -> bool:
        if _is_model(folder):
            self._skipped.discard(folder.name)
            return True
        if folder.name not in self._skipped:
            self._skipped.add(folder.name)
            log.warning("a folder that is no model is skipped", extra={"folder": str(folder)})
        return False
