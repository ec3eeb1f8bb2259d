"""fxjit-serve: models behind the Open Inference Protocol."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import fxjit
from fxjit._fxjit import available_cpus

from . import logs
from .batcher import BatchOptions
from .heap import give_back_large_blocks
from .model_config import ServeOptions
from .option_sources import with_other_sources

EPILOG = """Each option may be given as a variable of the environment, FXJIT_SERVE_MAX_BATCH=8, or
in the file of --config, max-batch = 8; MODEL_OR_FOLDER as FXJIT_SERVE_MODELS or models = [...].

Without TLS and tokens, at an address that is not a loopback one: only behind a proxy.

MODEL_OR_FOLDER is a file that fxjit.load takes (name=model.pt2 gives it a name), a
folder with the versions of one model (name/1/model.pt2), or a folder of such folders."""


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


def parser() -> argparse.ArgumentParser:
    made = _Parser(prog="fxjit-serve", description=__doc__, epilog=EPILOG,
                   formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    add = made.add_argument
    add("models", nargs="*", metavar="MODEL_OR_FOLDER")
    add("--config", metavar="FILE", help="options in TOML")
    add("--host", default="127.0.0.1", help="address to listen at (%(default)s)")
    add("--http", type=_port, default=8080, metavar="PORT",
        help="of REST (%(default)s); 0: a free one; -1: none")
    add("--grpc", type=_port, default=8081, metavar="PORT",
        help="of gRPC (%(default)s); 0: a free one; -1: none")
    _add_access(add)
    add("--threads", type=_number(0, int), default=0, metavar="N",
        help="of one call (all CPUs that the process may use)")
    add("--instances", type=_number(1, int), metavar="N",
        help="calls of a model at a time (the CPUs that the process may use)")
    add("--max-batch", type=_number(1, int), default=32, metavar="N",
        help="rows of one call (%(default)s)")
    add("--batch-delay-ms", type=_number(0, float), default=2, metavar="MS",
        help="most that a request waits for others to share its call (%(default)s)")
    add("--queue", type=_number(0, int), default=256, metavar="N",
        help="most requests that wait for a model; others are refused (%(default)s)")
    add("--max-body-mb", type=_number(1, int), default=64, metavar="MB",
        help="largest request (%(default)s)")
    add("--max-held-mb", type=_number(1, int), default=512, metavar="MB",
        help="bytes of all requests at a time; others are refused (%(default)s)")
    add("--drain-seconds", type=_number(0, float), default=0, metavar="S",
        help="time after SIGTERM in which it answers but is not ready (%(default)s)")
    add("--grace-seconds", type=_number(0, float), default=30, metavar="S",
        help="time for what was begun before it stops; what is not done is refused (%(default)s)")
    add("--header-seconds", type=_number(0.1, float), default=10, metavar="S",
        help="for the headers of a request (%(default)s)")
    add("--idle-seconds", type=_number(1, float), default=75, metavar="S",
        help="for which a connection may be idle (%(default)s)")
    add("--body-seconds", type=_number(0.1, float), default=30, metavar="S",
        help="for a body or message to come, or an answer to be taken (%(default)s)")
    add("--max-connections", type=_number(1, int), default=1024, metavar="N",
        help="of each protocol; others are refused (%(default)s)")
    add("--max-connections-of-address", type=_number(1, int), default=1024, metavar="N",
        help="of REST, from one address; others are refused (%(default)s)")
    add("--front-code", action="store_true",
        help="run the Python files that a model.json names as its front")
    add("--log", default="info", choices=["debug", "info", "warning", "error"],
        help="debug: a line for each request (%(default)s)")
    add("--version", action="version", version=fxjit.version_text())
    return made


def _add_access(add: Callable[..., Any]) -> None:
    add("--admin", type=_admin, metavar="[HOST:]PORT",
        help="a port of its own for health, metrics and changes of the models (none; HOST: "
             "127.0.0.1)")
    add("--admin-name", action="append", default=[], metavar="NAME",
        help="what the admin port may be called, beside addresses and localhost")
    add("--repository-changes", action="store_true",
        help="models may be loaded and unloaded, on the admin port or with a token")
    add("--poll-seconds", type=_number(0, float), default=0, metavar="S",
        help="how often the folders are looked at for models that are new, changed or gone "
             "(0: never)")
    add("--root", action="append", default=[], metavar="FOLDER",
        help="files and links of a repository may lead there")
    add("--copy-mb", type=_number(0, int), default=16, metavar="MB",
        help="models' files up to this are copied into memory, larger ones mapped (%(default)s)")
    add("--tls-cert", metavar="FILE", help="certificate of the server, with its chain, in PEM")
    add("--tls-key", metavar="FILE", help="its key")
    add("--token-file", metavar="FILE",
        help="a token a line: requests but those for health need one, authorization: Bearer")


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


def main(arguments: list[str] | None = None) -> int:
    try:
        return serve(arguments_of(arguments))
    except ImportError as error:
        print(f"fxjit-serve: {error}: pip install fxjit[serve]", file=sys.stderr)
    except (fxjit.UserError, OSError) as error:
        print(f"fxjit-serve: {error}", file=sys.stderr)
    return 1


def serve(given: argparse.Namespace) -> int:
    """Until it is told to end. fxjit.UserError and OSError where it cannot start."""
    logs.set_up(given.log)
    give_back_large_blocks()
    from .access import Access, Tokens
    from .bounds import Bounds
    from .front_door import FrontDoor
    from .listening import Tls
    from .load import load_served
    from .repository import Repository
    from .server import Server

    access = Access(Tokens(given.token_file) if given.token_file else None,
                    given.repository_changes, tuple(given.admin_name))
    tls = Tls(given.tls_cert, given.tls_key) if given.tls_cert else None
    options = ServeOptions(batch_options(given), given.threads, given.front_code,
                           given.copy_mb << 20)
    repository = Repository(given.models, options, load_served, tuple(given.root))
    door = FrontDoor(repository, given.max_body_mb << 20, given.max_held_mb << 20)
    server = Server(repository, door, given.host, None if given.http < 0 else given.http,
                    None if given.grpc < 0 else given.grpc, given.drain_seconds,
                    given.grace_seconds,
                    Bounds(given.header_seconds, given.idle_seconds, given.body_seconds,
                           given.max_connections, given.max_connections_of_address),
                    admin_at=given.admin, access=access, tls=tls,
                    poll_seconds=given.poll_seconds)
    server.run()
    return int(server.failed)


if __name__ == "__main__":
    sys.exit(main())
