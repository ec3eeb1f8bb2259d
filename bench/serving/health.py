"""How late a server says that it is alive: health.py PORT

Prints a line when it is answered first, and asks until its input ends. Then it prints the seconds of
all answers and what was wrong with others, in JSON. It is a process of its own, so that nothing that its caller does makes an answer late.
"""

import http.client
import json
import select
import sys
import time

SECONDS_BETWEEN = 0.05


def ask(port):
    """The status. OSError where there is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/v2/health/live")
        reply = connection.getresponse()
        reply.read()
        return reply.status
    finally:
        connection.close()


def main():
    port, seconds, wrong = int(sys.argv[1]), [], []
    print(ask(port), flush=True)
    while not select.select([sys.stdin], [], [], SECONDS_BETWEEN)[0]:
        begun = time.monotonic()
        try:
            status = ask(port)
        except (OSError, http.client.HTTPException) as error:
            wrong.append(f"{type(error).__name__}: {error}")
            continue
        seconds.append(time.monotonic() - begun)
        if status != 200:
            wrong.append(f"status {status}")
    print(json.dumps({"seconds": seconds, "wrong": wrong}))


if __name__ == "__main__":
    main()
