"""Clients of fxjit-serve that do not keep to the rules: they begin and do not end."""

import contextlib
import pathlib
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE, ACK = 0, 1, 4, 6, 8, 1
END_HEADERS = 4


def memory(pid, field="VmHWM"):
    """Bytes that the process has resident, at most so far (VmHWM) or now (VmRSS)."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(text.split(f"{field}:")[1].split()[0])


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def ended(one, seconds=30):
    """What the server sends until it ends the connection."""
    one.settimeout(seconds)
    data = b""
    with contextlib.suppress(ConnectionError):
        while part := one.recv(4096):
            data += part
    return data


def head_of(model="perceptron", **headers):
    """The head of a request to infer; underscores of names are hyphens."""
    lines = [f"POST /v2/models/{model}/infer HTTP/1.1", "Host: a"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def unfinished_chunks(port, size, piece=1 << 20):
    """The socket of a chunked body of so many bytes without its end, or until it is refused."""
    one = connected(port)
    try:
        one.sendall(head_of(Transfer_Encoding="chunked"))
        part = b"%x\r\n" % piece + b" " * piece + b"\r\n"
        for _ in range(size // piece):
            one.sendall(part)
    except ConnectionError:
        pass
    return one


def _frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(
        ">I", stream) + payload


def _literal(name, value):
    """A header as HPACK writes it without its tables; texts of less than 127 bytes."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


class UnfinishedMessage:
    """A call of gRPC that declares a message of `size` bytes and sends `sent` of them."""

    def __init__(self, port, size, method="/inference.GRPCInferenceService/ModelInfer"):
        self._socket = connected(port)
        self._window = {0: 65535, 1: 65535}
        headers = [(":method", "POST"), (":scheme", "http"), (":authority", "a"),
                   (":path", method),
                   ("te", "trailers"), ("content-type", "application/grpc")]
        self._socket.sendall(PREFACE + _frame(SETTINGS, 0, 0, b"") + _frame(
            HEADERS, END_HEADERS, 1, b"".join(_literal(*one) for one in headers)))
        # The last byte never comes.
        self._left = memoryview(struct.pack(">BI", 0, size) + bytes(size - 1))
        self.ended = False

    def send(self, seconds=5):
        """All but the last byte, as the server has room for it; waits so long for room."""
        self._socket.settimeout(seconds)
        try:
            while self._left and not self.ended:
                room = min(self._window.values(), default=0)
                if room <= 0:
                    self._read()
                    continue
                part = self._left[:min(room, 16384)]
                self._left = self._left[len(part):]
                for stream in self._window:
                    self._window[stream] -= len(part)
                self._socket.sendall(_frame(DATA, 0, 1, part))
        except (ConnectionError, TimeoutError):
            pass

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionResetError
            data += part
        return data

    def _read(self):
        head = self._exactly(9)
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        stream = int.from_bytes(head[5:9], "big") & 0x7FFFFFFF
        payload = self._exactly(length)
        if kind == WINDOW_UPDATE and stream in self._window:
            self._window[stream] += int.from_bytes(payload, "big")
        elif kind == SETTINGS and not flags & ACK:
            for at in range(0, length, 6):
                setting, value = struct.unpack(">HI", payload[at:at + 6])
                if setting == 4:
                    self._window[1] += value - 65535
            self._socket.sendall(_frame(SETTINGS, ACK, 0, b""))
        elif kind == PING and not flags & ACK:
            self._socket.sendall(_frame(PING, ACK, 0, payload))
        elif stream == 1 and kind not in (WINDOW_UPDATE,):
            self.ended = True  # A status or a reset: it was refused.

    def close(self):
        self._socket.close()
