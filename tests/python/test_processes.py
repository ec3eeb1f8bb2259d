"""Processes: forks, signals, and memory over many calls."""

import gc
import os
import signal
import subprocess
import sys
import time

import fxjit
import numpy as np
import pytest
from cases import case_of, close, path_of


def in_child(work):
    """Runs work() in a fork and passes its exception on as a failure."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert status == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children_load_and_call():
    inputs, answers = case_of("resnet")
    parents = fxjit.load(path_of("resnet"), threads=2)
    close(parents(inputs["x"]), answers[0])

    def work():
        close(parents(inputs["x"]), answers[0])
        close(fxjit.load(path_of("resnet"), threads=2)(inputs["x"]), answers[0])

    for _ in range(3):
        in_child(work)
    close(parents(inputs["x"]), answers[0])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children_run_what_torch_compile_made():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
    layer = torch.nn.Linear(16, 16).eval()
    fast = torch.compile(layer, backend="fxjit")
    x = torch.randn(4, 16)
    with torch.no_grad():
        expected = fast(x)

    def work():
        torch.set_num_threads(1)
        with torch.no_grad():
            torch.testing.assert_close(fast(x), expected)

    in_child(work)


def resident_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))


def test_calls_give_back_what_they_take():
    inputs, _ = case_of("resnet")
    x = inputs["x"]
    model = fxjit.load(path_of("resnet"), threads=1)
    bad = x.astype(np.float64)

    def call():
        model(x)
        try:
            model(bad)
        except RuntimeError:
            return
        pytest.fail("float64 was taken")

    for _ in range(1000):
        call()
    gc.collect()
    count, references = len(gc.get_objects()), sys.getrefcount(x)
    before = resident_kib()
    for _ in range(5000):
        call()
    gc.collect()
    assert resident_kib() < before + 4096
    assert sys.getrefcount(x) == references
    assert len(gc.get_objects()) < count + 500


def test_models_give_back_what_they_take():
    inputs, _ = case_of("resnet")

    def use():
        fxjit.load(path_of("resnet"), threads=1)(inputs["x"])

    for _ in range(20):
        use()
    before, files = resident_kib(), len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        use()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= files
    assert resident_kib() < before + 8192


INTERRUPTED = """
import signal, sys, numpy as np, fxjit
signal.signal(signal.SIGINT, signal.default_int_handler)
model = fxjit.load(sys.argv[1], cache_folder="")
print("ready", flush=True)
try:
    while True:
        model(np.zeros((1, 3, 64, 64), np.float32))
except KeyboardInterrupt:
    print("interrupted", flush=True)
model(np.zeros((1, 3, 64, 64), np.float32))
print("goes on")
"""


# Shells have processes in the background ignore Ctrl-C, which their children inherit.
WHILE_COMPILING = """
import os, signal, sys, threading, numpy as np, fxjit
signal.signal(signal.SIGINT, signal.default_int_handler)
model = fxjit.load(sys.argv[1], cache_folder="")
x = np.zeros((1, 3, 64, 64), np.float32)
threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        fxjit.load(sys.argv[1], cache_folder="")(x)
except KeyboardInterrupt:
    print("interrupted", model(x).shape)
"""


def test_interrupts_while_compiling():
    done = subprocess.run([sys.executable, "-B", "-c", WHILE_COMPILING, str(path_of("resnet"))],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "interrupted (1, 10)\n", done.stderr


def test_interrupts_reach_python():
    running = subprocess.Popen([sys.executable, "-B", "-c", INTERRUPTED, str(path_of("resnet"))],
                               stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert out.splitlines() == ["interrupted", "goes on"]
    assert running.returncode == 0
