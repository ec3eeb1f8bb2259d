"""Shares the tests out: of FXJIT_SHARDS processes, FXJIT_SHARD runs every so many-th."""

import os

# The interpreter computes convolutions and pooling by plain loops, as in C++'s tests.
os.environ.setdefault("FXJIT_INTERPRETER", "plain")


def pytest_collection_modifyitems(items):
    shards = int(os.environ.get("FXJIT_SHARDS", "1"))
    items[:] = items[int(os.environ.get("FXJIT_SHARD", "0"))::shards]
