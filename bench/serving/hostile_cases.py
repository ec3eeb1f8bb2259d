"""The kinds of hostile clients that examine.py tries. Each takes the server, and gives what was
wrong with its answers."""

import contextlib
import gzip
import http.client
import json
import random
import resource
import signal
import threading
import time

from hostile import UnfinishedMessage, connected, head_of, unfinished_chunks
from serving_server import serving

MB = 1 << 20
INFER = "/v2/models/perceptron/infer"
SERVICE = "inference.GRPCInferenceService"
REFUSALS = (400, 404, 408, 413, 503)
SECONDS = 5  # Of cases that last as long as they are let.


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()
    finally:
        connection.close()


def at_once(functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def refused(server, body, headers=None):
    """What was wrong with the refusal of a body."""
    try:
        status, _, _ = ask(server.http, "POST", INFER, body, headers)
    except (ConnectionError, http.client.HTTPException):
        return []  # It was refused before all of it was sent.
    return [] if status in REFUSALS else [f"status {status}"]


def body_of(data, shape=(1, 8), datatype="FP32"):
    return (f'{{"inputs": [{{"name": "x", "shape": {list(shape)}, "datatype": "{datatype}", '
            f'"data": {data}}}]}}').encode()


def texts_among_numbers(server):
    texts = json.dumps(["x" * 100_000] + [""] * 20_000)
    return [fault for _ in range(20) for fault in refused(server, body_of(texts, [20_001]))]


def bomb(piece):
    def case(server):
        packed = gzip.compress(body_of(f"[{piece * (60 * MB // len(piece))}0]"), 6)
        return [fault for _ in range(5)
                for fault in refused(server, packed, {"Content-Encoding": "gzip"})]

    return case


def bombs_at_once(server):
    packed = gzip.compress(body_of(f"[{'[],' * (20 * MB)}0]"), 6)
    at_once([lambda: refused(server, packed, {"Content-Encoding": "gzip"})] * 20)


def large_numbers(server):
    """Right in form: 40 MB of numbers for a shape that the model does not take."""
    count = 4 * MB
    body = body_of("[" + ",".join(["0.1234567"] * count) + "]", [count])
    return [fault for _ in range(5) for fault in refused(server, body)]


def mutated(server):
    source, whole = random.Random(7), body_of(json.dumps([0.5] * 8))
    faults = []
    for _ in range(2000):
        body = bytearray(whole)
        for _ in range(source.randint(1, 4)):
            place = source.randrange(len(body))
            body[place:place + source.randint(0, 2)] = source.randbytes(source.randint(0, 2))
        status, _, _ = ask(server.http, "POST", INFER, bytes(body))
        if status not in (200, *REFUSALS):
            faults.append(f"status {status} for {bytes(body)!r}")
    return faults


def unfinished_bodies(server):
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(unfinished_chunks(server.http, 60 * MB))
        time.sleep(1)


def unfinished_messages(count, method):
    def case(server):
        sent = [UnfinishedMessage(server.grpc, 60 * MB, f"/{SERVICE}/{method}") for _ in range(count)]
        at_once([one.send for one in sent])
        time.sleep(1)
        for one in sent:
            one.close()

    return case


def all_unfinished(server):
    """Bodies, messages and streams beside each other: one account has them all."""
    at_once([lambda: unfinished_bodies(server),
             lambda: unfinished_messages(10, "ModelInfer")(server),
             lambda: unfinished_messages(10, "ModelStreamInfer")(server)])


def refused_in_a_row(server):
    body = body_of("[" + "1," * (20 * MB - 100) + "x]")
    return [fault for _ in range(40) for fault in refused(server, body)]


def declared_and_one_byte(server):
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            one = stack.enter_context(connected(server.http))
            one.sendall(head_of(Content_Length=60 * MB) + b"{")
        time.sleep(SECONDS)


def idle_connections(protocol):
    def case(server):
        """The metrics stay there as health does."""
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        faults = []
        with contextlib.ExitStack() as stack:
            for count in range(4100):
                with contextlib.suppress(ConnectionError):
                    stack.enter_context(connected(getattr(server, protocol)))
                if count % 500 == 0:
                    status, _, _ = ask(server.admin, "GET", "/metrics")
                    faults += [] if status == 200 else [f"metrics: {status}"]
            time.sleep(SECONDS)
        return faults

    return case


def requests_ahead(count, pause):
    """Clients that send so many requests at a time, and read none of the answers."""
    body = body_of(str([0.5] * 512), (64, 8))
    requests = count * (head_of(Content_Length=len(body)) + body)

    def case(server):
        def ask_on():
            with connected(server.http) as one:
                one.settimeout(1)
                end = time.monotonic() + SECONDS
                with contextlib.suppress(OSError):
                    while time.monotonic() < end:
                        one.sendall(requests)
                        time.sleep(pause)
                time.sleep(max(0, end - time.monotonic()))

        at_once([ask_on] * 20)

    return case


def slow_headers(server):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(connected(server.http)) for _ in range(200)]
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for one in sockets:
                with contextlib.suppress(OSError):
                    one.send(b"G")
            time.sleep(0.5)


def framing(server):
    """Requests that are none, of which each is to be answered by 4xx or by the connection's end."""
    faults = []
    for text in (b"no HTTP\r\n\r\n", b"\0" * 1000, b"GET / HTTP/9.9\r\n\r\n",
                 head_of(Content_Length="9" * 400), head_of(Content_Length=-1),
                 head_of(Content_Length=5, Transfer_Encoding="chunked"),
                 head_of(Transfer_Encoding="chunked") + b"zz\r\n",
                 head_of(Connection="Upgrade", Upgrade="websocket"),
                 head_of(X="y" * 100_000), b"GET /" + b"a" * 100_000):
        with connected(server.http) as one:
            with contextlib.suppress(ConnectionError):
                one.sendall(text)
            try:
                reply = one.recv(4096)
            except ConnectionError:
                continue
            if reply and reply[9:10] != b"4":
                faults.append(f"{reply[:40]!r} for {text[:40]!r}")
    return faults


def flood(server):
    """Wrong requests as fast as they go, from eight threads."""
    end = time.monotonic() + SECONDS
    faults = []

    def ask_on():
        while time.monotonic() < end:
            faults.extend(refused(server, b"{"))

    at_once([ask_on] * 8)
    lines = [line for line in list(server.lines) if line["event"] == "refused"]
    if len(lines) > 20 * (SECONDS + 2):
        faults.append(f"{len(lines)} lines of the log")
    return faults


def changes_of_files(server):
    """A second version comes, is damaged and goes, by files that are renamed into place, and each
    time the model is loaded anew. Honest clients ask that model meanwhile."""
    folder = server.folder / "perceptron"
    right = (folder / "1" / "perceptron.pt2").read_bytes()
    end, faults = time.monotonic() + SECONDS, []
    while time.monotonic() < end:
        for data, expected in ((right, 200), (right[:1000], 400), (None, 200)):
            if data is None:
                (folder / "2" / "perceptron.pt2").unlink()
                (folder / "2").rmdir()
            else:
                (server.folder.parent / "made.pt2").write_bytes(data)
                (folder / "2").mkdir(exist_ok=True)
                (server.folder.parent / "made.pt2").rename(folder / "2" / "perceptron.pt2")
            status, answer = server.change("perceptron")
            if status != expected:
                faults.append(f"a load: {status} {answer}")
    return faults


def stops(folder, stack):
    """SIGTERM while clients have begun and do not end: it ends soon after the grace of 2 s."""
    server = stack.enter_context(serving(folder, "--grace-seconds", "2"))
    for _ in range(4):
        one = stack.enter_context(connected(server.http))
        one.sendall(head_of(Content_Length=1000) + b"{")
    messages = [UnfinishedMessage(server.grpc, 1000) for _ in range(4)]
    time.sleep(0.5)
    begun = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait(60)
    seconds = time.monotonic() - begun
    for message in messages:
        message.close()
    failed = code != 0 or seconds > 8
    print(f"{'stops':32} code {code} after {seconds:.1f} s  {'late' if failed else ''}")
    return failed


CASES = {
    "nothing": lambda server: time.sleep(SECONDS),
    "texts among numbers": texts_among_numbers,
    "gzip of lists": bomb("[],"), "gzip of texts": bomb('"",'), "gzip of numbers": bomb("0,"),
    "gzip of objects": bomb("{},"), "20 bombs at once": bombs_at_once,
    "40 MB of numbers": large_numbers, "mutated bodies": mutated,
    "20 unfinished bodies": unfinished_bodies,
    "10 unfinished messages": unfinished_messages(10, "ModelInfer"),
    "70 unfinished streams": unfinished_messages(70, "ModelStreamInfer"),
    "bodies, messages and streams": all_unfinished, "answers not taken": requests_ahead(1, 0.02),
    "100 requests at a time": requests_ahead(100, 0),
    "40 refused bodies": refused_in_a_row, "declared, one byte sent": declared_and_one_byte,
    "4100 idle of REST": idle_connections("http"), "4100 idle of gRPC": idle_connections("grpc"),
    "slow headers": slow_headers,
    "framing": framing, "a flood of wrong requests": flood,
    "changes of files": changes_of_files}
