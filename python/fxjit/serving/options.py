"""The options of fxjit-serve."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import fxjit
from fxjit._fxjit import available_cpus

from .batcher import BatchOptions
from .option_sources import with_other_sources

EPILOG = """MODEL_OR_FOLDER is a file that fxjit.load takes (name=model.pt2 gives it a name), a
folder with the versions of one model (1/model.pt2, 2/model.pt2), or a folder of such folders.

What the command line leaves out may stand in the environment (FXJIT_SERVE_MAX_BATCH=8,
FXJIT_SERVE_MODELS="a b"), and what that leaves out in the file of --config (max-batch = 8,
models = ["a", "b"]).

Where the server can be reached from other machines without TLS and tokens: only behind a proxy."""


def _number(least: float, kind: type):
    def read(text: str):
        value = kind(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"expected at least {least}, got {text}")
        return value

    read.__name__ = kind.__name__
    return read


def _port(text: str) -> int:
    value = int(text)
    if not -1 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"expected a port up to 65535, got {text}")
    return value


def _admin(text: str) -> tuple[str, int]:
    from .admin import address_of

    try:
        return address_of(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected [HOST:]PORT, got {text}") from None


class _Parser(argparse.ArgumentParser):
    """Whose errors are one line."""

    def error(self, message: str):
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(1)


def _add_models(add: Callable[..., Any]) -> None:
    add("--poll-seconds", type=_number(0, float), default=0, metavar="S",
        help="look for models that are new, changed or gone every S seconds (0: never)")
    add("--root", action="append", default=[], metavar="FOLDER",
        help="a folder to which files and links of a repository may lead, beside the repository")
    add("--copy-mb", type=_number(0, int), default=16, metavar="MB",
        help="largest file that is copied into memory; larger ones are mapped (%(default)s)")
    add("--front-code", action="store_true",
        help="run the Python files that a model.json names as its front")


def _add_ports(add: Callable[..., Any]) -> None:
    add("--host", default="127.0.0.1", help="address to listen at (%(default)s)")
    add("--http", type=_port, default=8080, metavar="PORT",
        help="port of REST (%(default)s); 0: a free one; -1: none")
    add("--grpc", type=_port, default=8081, metavar="PORT",
        help="port of gRPC (%(default)s); 0: a free one; -1: none")
    add("--admin", type=_admin, metavar="[HOST:]PORT",
        help="another port, for health, metrics and changes of models (none; HOST: 127.0.0.1)")


def _add_access(add: Callable[..., Any]) -> None:
    add("--repository-changes", action="store_true",
        help="let models be loaded and unloaded, on the admin port or with a token")
    add("--token-file", metavar="FILE",
        help="tokens, one a line: all requests but those for health then need one")
    add("--tls-cert", metavar="FILE", help="certificate of the server, with its chain, in PEM")
    add("--tls-key", metavar="FILE", help="key of the certificate")
    add("--admin-name", action="append", default=[], metavar="NAME",
        help="a name by which the admin port is reached, beside addresses and localhost")


def _add_calls(add: Callable[..., Any]) -> None:
    add("--threads", type=_number(0, int), default=0, metavar="N",
        help="threads of one call (0: as many as there are CPUs for the process)")
    add("--instances", type=_number(1, int), metavar="N",
        help="calls of a model at a time (as many as there are CPUs for the process)")
    add("--max-batch", type=_number(1, int), default=32, metavar="N",
        help="most rows of a call that requests share (%(default)s)")
    add("--batch-delay-ms", type=_number(0, float), default=2, metavar="MS",
        help="longest that a request waits for others to share its call (%(default)s)")
    add("--queue", type=_number(0, int), default=256, metavar="N",
        help="most requests that wait for a model; more are refused (%(default)s)")


def _add_bounds(add: Callable[..., Any]) -> None:
    add("--max-body-mb", type=_number(1, int), default=64, metavar="MB",
        help="largest request (%(default)s)")
    add("--max-held-mb", type=_number(1, int), default=512, metavar="MB",
        help="most bytes of all requests that are worked on; more are refused (%(default)s)")
    add("--header-seconds", type=_number(0.1, float), default=10, metavar="S",
        help="longest that the headers of a request take to come (%(default)s)")
    add("--body-seconds", type=_number(0.1, float), default=30, metavar="S",
        help="longest that a body or message takes to come, or an answer to be taken "
             "(%(default)s)")
    add("--idle-seconds", type=_number(1, float), default=75, metavar="S",
        help="longest that a connection is idle (%(default)s)")
    add("--max-connections", type=_number(1, int), default=1024, metavar="N",
        help="most connections of REST, and of gRPC; more are refused (%(default)s)")
    add("--max-connections-of-address", type=_number(1, int), default=1024, metavar="N",
        help="most connections of REST from one address (%(default)s)")


def _add_end(add: Callable[..., Any]) -> None:
    add("--drain-seconds", type=_number(0, float), default=0, metavar="S",
        help="time after SIGTERM in which it still answers, but is not ready (%(default)s)")
    add("--grace-seconds", type=_number(0, float), default=30, metavar="S",
        help="time after that for what was begun; what is not done then is refused (%(default)s)")


GROUPS = (("models", _add_models), ("ports", _add_ports), ("who may do what", _add_access),
          ("calls", _add_calls), ("bounds", _add_bounds), ("the end", _add_end))


def parser() -> argparse.ArgumentParser:
    made = _Parser(prog="fxjit-serve", description="Models behind the Open Inference Protocol.",
                   usage="%(prog)s [OPTIONS] MODEL_OR_FOLDER...", epilog=EPILOG,
                   formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    made.add_argument("models", nargs="*", metavar="MODEL_OR_FOLDER", help="what to serve")
    made.add_argument("--config", metavar="FILE", help="a file with options, in TOML")
    made.add_argument("--log", default="info", choices=["debug", "info", "warning", "error"],
                      help="least level that is logged; debug has a line for each request "
                           "(%(default)s)")
    made.add_argument("--version", action="version", version=fxjit.version_text())
    for title, add_to in GROUPS:
        add_to(made.add_argument_group(title).add_argument)
    return made


def batch_options(given: argparse.Namespace) -> BatchOptions:
    return BatchOptions(given.instances or available_cpus(), given.max_batch,
                        given.batch_delay_ms / 1000, given.queue)


def arguments_of(given: list[str] | None = None) -> argparse.Namespace:
    """Of the command line, the environment and --config. fxjit.UserError."""
    made = parser()
    whole = with_other_sources(made, sys.argv[1:] if given is None else given)
    found = made.parse_args(whole)
    if not found.models:
        made.error("expected MODEL_OR_FOLDER")
    if bool(found.tls_cert) != bool(found.tls_key):
        made.error("--tls-cert and --tls-key are given together")
    if found.http < 0 and found.grpc < 0:
        made.error("--http -1 and --grpc -1: nothing to listen at")
    if found.max_held_mb < found.max_body_mb:
        made.error(f"--max-held-mb {found.max_held_mb}: expected at least --max-body-mb, "
                   f"{found.max_body_mb}")
    return found
