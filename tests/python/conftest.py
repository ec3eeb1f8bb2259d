"""What all tests share: of FXJIT_SHARDS processes, FXJIT_SHARD runs every so many-th, the collector
runs seldom, and Dynamo does not time its guards."""

import gc
import importlib.util
import os

import pytest

# The interpreter computes convolutions and pooling by plain loops, as in C++'s tests.
os.environ.setdefault("FXJIT_INTERPRETER", "plain")

# PyTorch is imported and traces by millions of small objects: hundreds are no reason to collect.
gc.set_threshold(20_000, 20, 20)


def pytest_collection_modifyitems(items):
    shards = int(os.environ.get("FXJIT_SHARDS", "1"))
    items[:] = items[int(os.environ.get("FXJIT_SHARD", "0"))::shards]


def pytest_collection_finish():
    """Modules live as long as the process: the collector need not go through what they hold."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def guards_are_not_timed():
    """Dynamo times the guards of each compilation behind a flush of the caches, tens of
    milliseconds long, and shows the figure in its log alone."""
    with pytest.MonkeyPatch.context() as patch:
        if importlib.util.find_spec("torch"):
            import torch._dynamo.guards  # noqa: F401

            patch.setattr("torch._dynamo.guards.profile_guard_manager", lambda *args: 0.0,
                          raising=False)
        yield
