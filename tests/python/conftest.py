"""What all tests share: of FXJIT_SHARDS processes, FXJIT_SHARD runs every so many-th, and Dynamo
does not time its guards."""

import importlib.util
import os

import pytest

# The interpreter computes convolutions and pooling by plain loops, as in C++'s tests.
os.environ.setdefault("FXJIT_INTERPRETER", "plain")


def pytest_collection_modifyitems(items):
    shards = int(os.environ.get("FXJIT_SHARDS", "1"))
    items[:] = items[int(os.environ.get("FXJIT_SHARD", "0"))::shards]


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
