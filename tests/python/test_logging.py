"""Messages of the library as those of Python's logger "fxjit"."""

import os
import subprocess
import sys

import pytest
from cases import path_of

START = """
import logging, sys, threading
import numpy as np
class Kept(logging.Handler):
    def emit(self, record):
        if record.levelno >= logging.WARNING:
            print(record.name, record.levelname, record.getMessage(), flush=True)
logging.getLogger().addHandler(Kept())
import fxjit
model = fxjit.load(sys.argv[1])
x = np.zeros((1, 3, 64, 64), np.float32)
"""
EXPECTED = "fxjit WARNING FXJIT_BACKEND=steam: expected interpreter or jit; ignored"


def run(program, **environment):
    done = subprocess.run([sys.executable, "-B", "-c", START + program, str(path_of("resnet"))],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "FXJIT_BACKEND": "steam", **environment})
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("program", [
    "model(x)",
    "worker = threading.Thread(target=model, args=(x,)); worker.start(); worker.join()",
], ids=["the main thread", "another thread"])
def test_warnings_reach_the_logger(program):
    done = run(program + "\nprint('end')")
    assert done.stdout.splitlines() == [EXPECTED, "end"]
    assert not done.stderr


def test_warnings_reach_the_logger_while_code_without_builtins_runs():
    """Such as the constructors of named tuples."""
    done = run("""
import itertools
busy = eval("lambda many: [None for one in many if one]", {"__builtins__": {}})
worker = threading.Thread(target=model, args=(x,))
worker.start()
busy(itertools.repeat(0, 20_000_000))
worker.join()
print("end")
""")
    assert done.stdout.splitlines() == [EXPECTED, "end"]
    assert not done.stderr


def test_handlers_that_throw_do_not_end_calls():
    done = run("""
class Broken(logging.Filter):
    def filter(self, record):
        raise LookupError("no such record")
logging.getLogger("fxjit").setLevel(logging.INFO)
logging.getLogger("fxjit").addFilter(Broken())
print(model(x).shape)
""")
    assert done.stdout.splitlines() == [EXPECTED, "(1, 10)"]
    assert "no such record" in done.stderr


def test_debug_output_is_printed():
    done = run("model(x)", FXJIT_DEBUG="1")
    assert EXPECTED not in done.stdout
    assert "fxjit warning: FXJIT_BACKEND=steam" in done.stderr
