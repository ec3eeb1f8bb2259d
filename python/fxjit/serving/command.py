"""fxjit-serve: models behind the Open Inference Protocol."""

from __future__ import annotations

import argparse
import logging
import sys

import fxjit
from fxjit._fxjit import available_cpus

from . import logs
from .batcher import BatchOptions
from .model_config import ServeOptions

EPILOG = """MODEL_OR_FOLDER is a file that fxjit.load takes (name=model.pt2 gives it a name), a
folder with the versions of one model (name/1/model.pt2), or a folder of such folders."""


def _number(least: float, kind: type):
    def read(text: str):
        value = kind(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"expected at least {least}, got {text}")
        return value

    read.__name__ = kind.__name__
    return read


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="fxjit-serve", description=__doc__, epilog=EPILOG)
    add = made.add_argument
    add("models", nargs="+", metavar="MODEL_OR_FOLDER")
    add("--host", default="127.0.0.1", help="address to listen at (%(default)s)")
    add("--http", type=_number(-1, int), default=8080, metavar="PORT",
        help="of REST (%(default)s); 0: a free one; -1: none")
    add("--grpc", type=_number(-1, int), default=8081, metavar="PORT",
        help="of gRPC (%(default)s); 0: a free one; -1: none")
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
    add("--admin", type=_number(-1, int), default=-1, metavar="PORT",
        help="of REST, too, with connections of its own, for health and metrics; 0: a free one; "
        "-1: none (%(default)s)")
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


def batch_options(given: argparse.Namespace) -> BatchOptions:
    return BatchOptions(given.instances or available_cpus(), given.max_batch,
                        given.batch_delay_ms / 1000, given.queue)


def main(arguments: list[str] | None = None) -> int:
    made = parser()
    given = made.parse_args(arguments)
    if given.max_held_mb < given.max_body_mb:
        made.error(f"--max-held-mb {given.max_held_mb}: expected at least --max-body-mb, "
                   f"{given.max_body_mb}")
    logs.set_up(given.log)
    try:
        from .server import Server
    except ImportError as error:
        print(f"fxjit-serve: {error}: pip install fxjit[serve]", file=sys.stderr)
        return 1
    from .bounds import Bounds
    from .front_door import FrontDoor
    from .load import load_served
    from .repository import Repository

    options = ServeOptions(batch_options(given), given.threads, given.front_code)
    try:
        repository = Repository(given.models, options, load_served)
    except fxjit.UserError as error:
        print(f"fxjit-serve: {error}", file=sys.stderr)
        return 1
    door = FrontDoor(repository, given.max_body_mb << 20, given.max_held_mb << 20)
    server = Server(repository, door, given.host, None if given.http < 0 else given.http,
                    None if given.grpc < 0 else given.grpc, given.drain_seconds,
                    given.grace_seconds, None if given.admin < 0 else given.admin,
                    Bounds(given.header_seconds, given.idle_seconds, given.body_seconds,
                           given.max_connections, given.max_connections_of_address))
    try:
        server.run()
    except OSError as error:
        logging.getLogger("fxjit.serving").error(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
