"""The account of bytes, and what bounds messages and lines of the log, without a server."""

import asyncio
import importlib.util
import json
import logging
import zlib

import numpy as np
import pytest

for needed in ("orjson", "prometheus_client"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit.serving is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
from fxjit.serving.account import Account  # noqa: E402
from fxjit.serving.errors import BadRequest, NotReady, Overloaded, TooLarge  # noqa: E402
from fxjit.serving.grpc_receipts import Receipts  # noqa: E402
from fxjit.serving.grpc_streams import Room  # noqa: E402
from fxjit.serving.log_limits import OfOneKind, Shapes, line_of  # noqa: E402
from fxjit.serving.rest_body import unpacked  # noqa: E402


def test_the_account_refuses_what_goes_beyond_it():
    account = Account(150)
    one, other = account.open(), account.open()
    one.grow(100)
    with pytest.raises(Overloaded):
        other.grow(51)
    with pytest.raises(TooLarge):
        one.grow(51)
    one.share()  # A thread works on it still.
    one.close()
    assert account.held == 100
    one.close()
    other.grow(150)
    other.shrink(50)
    assert account.held == 100


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_bodies_are_unpacked_piece_by_piece(size):
    for whole in (bytes(size), np.random.default_rng(0).bytes(size)):
        packed = bytearray(zlib.compress(whole, 1))
        held = Account(8 << 20).open()
        held.grow(len(packed))
        assert unpacked(packed, "deflate", 4 << 20, held) == whole and held.size == size
        for wrong in (packed + b"x", packed[:-1]):
            with pytest.raises(BadRequest):
                unpacked(wrong, "deflate", 4 << 20, Account(16 << 20).open())
    with pytest.raises(TooLarge):
        unpacked(bytearray(zlib.compress(bytes(5 << 20))), "deflate", 4 << 20, held)


def test_the_oldest_message_makes_room_for_others():
    async def ask():
        account = Account(120)
        receipts = Receipts(account, largest=50, seconds=3600)
        never = asyncio.Event()
        first = asyncio.ensure_future(receipts.receive(never.wait))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(receipts.receive(lambda: asyncio.sleep(0, b"message")))
        assert await second == b"message"
        with pytest.raises(Overloaded):
            await first
        last = asyncio.ensure_future(receipts.receive(never.wait))
        await asyncio.sleep(0)
        receipts.end()
        with pytest.raises(NotReady):
            await last

    asyncio.run(ask())


def test_a_message_that_does_not_come_at_once_counts_as_the_largest():
    async def ask():
        account = Account(240)
        receipts = Receipts(account, largest=50, seconds=3600)
        never = asyncio.Event()
        first = asyncio.ensure_future(receipts.receive(never.wait))
        while not account.held:
            await asyncio.sleep(0.01)
        assert account.held == 50
        other = account.open()
        other.grow(190)
        assert await receipts.receive(lambda: asyncio.sleep(0, b"message")) == b"message"
        other.close()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert account.held == 0
        other = account.open()
        other.grow(200)
        with pytest.raises(Overloaded):
            await receipts.receive(never.wait)
        assert account.held == 200

    asyncio.run(ask())


def test_streams_count_as_the_largest_message():
    account = Account(400)
    room = Room(account, largest=50)
    held = [room.enter(), room.enter()]
    assert account.held == 100
    with pytest.raises(Overloaded, match="at most 2 streams"):
        room.enter()
    room.leave(held.pop())
    other = account.open()
    other.grow(350)
    with pytest.raises(Overloaded):
        room.enter()
    other.close()
    room.leave(room.enter())
    assert account.held == 50
    assert Room(Account(40), largest=40).enter().size == 10  # One, of which not all is counted.


def test_lines_are_cut_and_warnings_counted():
    for fields in ({"error": "x" * 10**6}, {f"field{n}": "\n" * 1000 for n in range(50)},
                   {"request": "\0" * 10**6, "reason": "bad"}):
        line = line_of({"time": "now", "level": "warning", "event": "refused", **fields})
        assert len(line) <= 1024 and json.loads(line)["event"] == "refused"
    assert "the end" in line_of({"event": "failed", "traceback": "x" * 10**5 + "the end"})
    limit = OfOneKind()
    records = [logging.LogRecord("a", logging.WARNING, "", 0, "refused", None, None)
               for _ in range(1000)]
    passed = [record for record in records if limit.filter(record)]
    assert 10 <= len(passed) <= 30
    error = logging.LogRecord("a", logging.ERROR, "", 0, "refused", None, None)
    assert limit.filter(error)


@pytest.mark.parametrize("level, kept", [("INFO", False), ("DEBUG", True)])
def test_new_shapes_are_for_debugging(level, kept):
    logger = logging.getLogger("fxjit.of_this_test")
    logger.setLevel(level)
    for text, passes in (("[compile] a new shape", kept), ("[other] a line", True)):
        record = logging.LogRecord(logger.name, logging.INFO, "", 0, text, None, None)
        assert Shapes().filter(record) == passes
