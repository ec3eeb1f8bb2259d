"""fxjit-serve: models behind the Open Inference Protocol."""

from __future__ import annotations

import argparse
import sys

import fxjit

from . import logs, runtime
from .model_config import ServeOptions
from .options import arguments_of, batch_options


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
    runtime.set_up()
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
