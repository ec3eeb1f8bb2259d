"""Options of fxjit-serve from the environment and from a file, as arguments of its command line.

What stands on the command line goes before the environment (FXJIT_SERVE_MAX_BATCH=8), and that
before the file of --config, in TOML (max-batch = 8, max_batch = 8).
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from typing import Any

import fxjit

log = logging.getLogger("fxjit.serving")
PREFIX = "FXJIT_SERVE_"
MODELS = "models"
# What Kubernetes sets in all pods where a service is named fxjit-serve, or fxjit-serve-admin.
_OF_KUBERNETES = re.compile(r"(.*_)?(SERVICE_(HOST|PORT.*)|PORT(_.*)?)")
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


class _Actions:
    """The options of a parser by the names that other sources have for them."""

    def __init__(self, parser: argparse.ArgumentParser):
        self._by_name = {action.dest: action for action in parser._actions
                         if action.option_strings and action.dest not in ("help", "version")}

    def arguments(self, source: str, name: str, value: Any) -> list[str]:
        """The same on a command line. fxjit.UserError for what is no option or value."""
        action = self._by_name.get(name)
        if action is None:
            raise fxjit.UserError(f"{source}: there is no option {name}")
        option = action.option_strings[0]
        if action.nargs == 0:
            return [option] if _truth(source, value) else []
        values = value if isinstance(value, list) else [value]
        return [f"{option}={_text(source, one)}" for one in values]

    def is_repeated(self, name: str) -> bool:
        return isinstance(self._by_name.get(name), argparse._AppendAction)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name


def _truth(source: str, value: Any) -> bool:
    text = str(value).lower()
    if text not in (*_TRUE, *_FALSE):
        raise fxjit.UserError(f"{source}: expected true or false, got {value}")
    return text in _TRUE


def _text(source: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise fxjit.UserError(f"{source}: expected a text or a number, got {value!r}")
    return str(value)


def _of_environment(actions: _Actions,
                    environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    arguments: list[str] = []
    models = shlex.split(environment.get(f"{PREFIX}MODELS", ""))
    for key, text in sorted(environment.items()):
        name = key.removeprefix(PREFIX).lower()
        if not key.startswith(PREFIX) or name in (MODELS, "config"):
            continue
        if name in actions:
            value = shlex.split(text) if actions.is_repeated(name) else text
            arguments += actions.arguments(key, name, value)
        elif not _OF_KUBERNETES.fullmatch(name.upper()):
            raise fxjit.UserError(f"{key}: there is no option --{name.replace('_', '-')}")
    return arguments, models


def _of_file(actions: _Actions, path: str) -> tuple[list[str], list[str]]:
    try:
        with open(path, "rb") as file:
            fields = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise fxjit.UserError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    models = fields.pop(MODELS, [])
    models = [models] if isinstance(models, str) else models
    if not isinstance(models, list) or not all(isinstance(one, str) for one in models):
        raise fxjit.UserError(f"{path}: models: expected a list of texts")
    arguments: list[str] = []
    for key, value in fields.items():
        arguments += actions.arguments(f"{path}: {key}", key.replace("-", "_"), value)
    return arguments, models


def _config_of(given: list[str], environment: Mapping[str, str]) -> str | None:
    only = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    only.add_argument("--config", default=environment.get(f"{PREFIX}CONFIG"))
    return only.parse_known_args(given)[0].config


def with_other_sources(parser: argparse.ArgumentParser, given: list[str],
                       environment: Mapping[str, str] | None = None) -> list[str]:
    """The command line with what the other sources say before it, where the last one counts;
    `models` of the first source that has some. fxjit.UserError names the source."""
    environment = os.environ if environment is None else environment
    actions = _Actions(parser)
    path = _config_of(given, environment)
    from_file, models = _of_file(actions, path) if path else ([], [])
    from_environment, nearer = _of_environment(actions, environment)
    options = [*from_file, *from_environment]
    parsed = parser.parse_known_args([*options, *given])[0]
    return [*options, *given, *([] if parsed.models else nearer or models)]
