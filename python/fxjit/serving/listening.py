"""Sockets to listen at, and what protects them."""

from __future__ import annotations

import logging
import pathlib
import socket
import ssl

import fxjit
import grpc

log = logging.getLogger("fxjit.serving")


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one. OSError names host and port."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM,
                                   flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        both = host == "::" and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, backlog=2048,
                                    dualstack_ipv6=both)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OSError(f"cannot listen at {shown_address(host, port)}: {reason}") from None


def shown_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def grpc_address(host: str, port: int) -> str:
    """As gRPC takes it, when `bound` can listen there. OSError: gRPC would write a page."""
    with bound(host, port) as probe:
        return shown_address(host, port or probe.getsockname()[1])


class Tls:
    """A certificate with its chain, and its key, in files that are read anew when they have
    changed. fxjit.UserError where they cannot be used at the start."""

    def __init__(self, certificate: str, key: str):
        self.certificate, self.key = certificate, key
        self._stamp = self._stamp_now()
        self._contexts: list[ssl.SSLContext] = []
        self._check()

    def _stamp_now(self) -> object:
        try:
            return [(about.st_ino, about.st_size, about.st_mtime_ns) for about in
                    (pathlib.Path(one).stat() for one in (self.certificate, self.key))]
        except OSError as error:
            raise fxjit.UserError(f"{error.filename}: {error.strerror}") from None

    def _check(self) -> None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            raise fxjit.UserError(f"{self.certificate} and {self.key} are no certificate with "
                                  f"its key: {error}") from None

    def keep(self, context: ssl.SSLContext) -> None:
        """Takes a context whose certificate follows the files."""
        self._contexts.append(context)

    def _grpc_configuration(self) -> grpc.ServerCertificateConfiguration:
        pair = pathlib.Path(self.key).read_bytes(), pathlib.Path(self.certificate).read_bytes()
        return grpc.ssl_server_certificate_configuration([pair])

    def credentials(self) -> grpc.ServerCredentials:
        """For gRPC, which asks for every connection whether the certificate is another."""
        last: list[object] = [self._stamp]

        def changed() -> grpc.ServerCertificateConfiguration | None:
            if last[0] == self._stamp:
                return None
            last[0] = self._stamp
            return self._grpc_configuration()

        return grpc.dynamic_ssl_server_credentials(self._grpc_configuration(), changed, False)

    def refresh(self) -> None:
        """Takes files that have changed; wrong ones are logged, and the old ones hold."""
        try:
            stamp = self._stamp_now()
            if stamp == self._stamp:
                return
            self._check()
            for context in self._contexts:
                context.load_cert_chain(self.certificate, self.key)
            self._stamp = stamp
            log.info("the certificate was read anew")
        except fxjit.UserError as error:
            log.error("the new certificate cannot be used", extra={"error": str(error)})
