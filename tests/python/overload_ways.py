"""Every ATen overload of the op table by all ways of Python, beside PyTorch's eager functions.

    python tests/python/overload_ways.py [REGEX] [--wide] [--ways W,W] [--layouts L,L]

A call is in order where results and what it writes have eager mode's numbers, types, sizes and
strides. Calls go in groups, those of a group that fails go one by one. Prints what is wrong, what
is refused and what stays with PyTorch; exit code 1 where anything is wrong.
"""

import argparse
import contextlib
import logging
import os
import re
import sys
import tempfile
import warnings

import fxjit
import torch
from overload_calls import LAYOUTS, MISREAD, UNDETERMINED, calls_of, names
from torch import nn
from torch.utils import _pytree as pytree

GROUP = 24
BOUNDS = {torch.float32: 2e-5, torch.complex64: 2e-5, torch.float64: 1e-9,
          torch.complex128: 1e-9, torch.bfloat16: 2e-2, torch.float16: 3e-3}


def module_of(calls):
    """Calls one after the other, each with tensors of its own."""
    graph = torch.fx.Graph()
    given = [[graph.placeholder(f"x{i}_{j}") for j in range(len(call.tensors))]
             for i, call in enumerate(calls)]
    graph.output(tuple(call.in_graph(graph, nodes)
                       for call, nodes in zip(calls, given, strict=True)))
    return torch.fx.GraphModule(nn.Module(), graph).eval()


def by_torch(group, args):
    torch._dynamo.reset()
    return torch.compile(group, backend="fxjit", dynamic=False, fullgraph=True)


def by_export(group, args):
    return fxjit.compile(group, args)


def by_file(group, args):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "group.pt2")
        torch.export.save(torch.export.export(group, args), path)
        return fxjit.load(path)


WAYS = {"torch.compile": by_torch, "fxjit.compile": by_export, ".pt2": by_file}


def laid(tensor):
    """Strides of the dims that have several elements, where there are elements."""
    return [s for s, n in zip(tensor.stride(), tensor.shape) if n > 1] if tensor.numel() else []


def difference(ours, theirs, exact):
    """What is different of two leaves; "" where nothing is."""
    if not isinstance(theirs, torch.Tensor):
        same = ours == theirs or (ours != ours and theirs != theirs)
        close = isinstance(theirs, float) and abs(ours - theirs) <= 1e-5 * abs(theirs)
        return "" if same or close else f"{ours} for {theirs}"
    if not isinstance(ours, torch.Tensor):
        return f"a {type(ours).__name__} for a tensor"
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return f"{ours.dtype} {tuple(ours.shape)} for {theirs.dtype} {tuple(theirs.shape)}"
    if laid(ours) != laid(theirs):
        return f"strides {ours.stride()} for {theirs.stride()}"
    if not exact:
        return ""
    bound = BOUNDS.get(theirs.dtype, 0)
    try:
        torch.testing.assert_close(ours.resolve_conj(), theirs.resolve_conj(), rtol=bound,
                                   atol=bound, equal_nan=True)
    except AssertionError as error:
        return " ".join(str(error).split())[:200]
    return ""


def differences(call, got, expected):
    ours, theirs = pytree.tree_leaves(got), pytree.tree_leaves(expected)
    if len(ours) != len(theirs):
        return f"{len(ours)} results for {len(theirs)}"
    exact = call.name not in UNDETERMINED
    found = (difference(a, b, exact) for a, b in zip(ours, theirs, strict=True))
    return next(filter(None, found), "")


def run_group(way, layout, calls):
    """Texts of differences, one a call; raises what the way raises."""
    def args_of():
        return [call.laid(layout) for call in calls]
    expected = [(call(*tensors), tensors) for call, tensors in zip(calls, args_of(), strict=True)]
    compiled = WAYS[way](module_of(calls), tuple(t for tensors in args_of() for t in tensors))
    args = args_of()
    results = compiled(*[t for tensors in args for t in tensors])
    return [differences(call, (result, tensors), wanted) for call, result, tensors, wanted
            in zip(calls, results, args, expected, strict=True)]


class Outcomes:
    """What came of each call: lists of (way, layout, call, text)."""

    def __init__(self):
        self.right, self.wrong, self.refused = 0, [], []

    def add(self, way, layout, calls):
        if not calls:
            return
        try:
            texts = run_group(way, layout, calls)
        except Exception as error:  # Of any type: it says of which when there is one call.
            self._apart(way, layout, calls, error)
            return
        for call, text in zip(calls, texts, strict=True):
            if text and len(calls) > 1:
                self.add(way, layout, [call])
            elif text:
                self.wrong.append((way, layout, call, text))
            else:
                self.right += 1

    def _apart(self, way, layout, calls, error):
        if len(calls) == 1:
            text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            self.refused.append((way, layout, calls[0], text))
        half = (len(calls) + 1) // 2 if len(calls) > 1 else 0
        self.add(way, layout, calls[:half])
        self.add(way, layout, calls[half:] if half else [])


def is_eager(call, layout):
    """Whether the layout is one of its own for the call, and PyTorch takes tensors that lie so."""
    def places(name):
        return [(t.stride(), t.storage_offset()) for t in call.laid(name)]
    if layout != "dense" and places(layout) == places("dense"):
        return False
    if layout in MISREAD and re.match(MISREAD[layout], call.name):
        return False
    try:
        call(*call.laid(layout))
    except Exception:  # It refuses writes to expanded tensors, views of permuted ones, ...
        return False
    return True


class Stays(logging.Handler):
    """Collects what the log says stays with PyTorch."""

    def __init__(self):
        super().__init__()
        self.texts = set()

    def emit(self, record):
        what, _, names = record.getMessage().partition(": ")
        if what == "calls that stay with PyTorch":
            self.texts.update(names.split(", "))
        elif what == "a whole graph stays with PyTorch":
            self.texts.add(f"{what}: {names}")


@contextlib.contextmanager
def staying():
    """Collects the names of what stays with PyTorch meanwhile."""
    log, stays = logging.getLogger("fxjit"), Stays()
    log.addHandler(stays)
    propagates, log.propagate = log.propagate, False
    try:
        yield stays.texts
    finally:
        log.removeHandler(stays)
        log.propagate = propagates


def groups_of(calls, alone):
    """Calls whose names fit `alone` one by one, the others in groups."""
    together = []
    for call in calls:
        if alone and re.match(alone, call.name):
            yield [call]
        else:
            together.append(call)
    for i in range(0, len(together), GROUP):
        yield together[i:i + GROUP]


def try_all(pattern, ways, layouts, wide=False, alone=None):
    """(Outcomes, names of what stays with PyTorch) of the overloads whose names fit. Names that fit
    `alone` are expected to fail: no group has to be taken apart for them."""
    calls = [c for name in names() if re.search(pattern, name) for c in calls_of(name, wide)]
    outcomes = Outcomes()
    with staying() as stays, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for layout in layouts:
            taken = [call for call in calls if is_eager(call, layout)]
            for way in ways:
                for group in groups_of(taken, alone):
                    outcomes.add(way, layout, group)
    return outcomes, stays


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--layouts", default=",".join(LAYOUTS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    outcomes, stays = try_all(options.pattern, options.ways.split(","),
                              options.layouts.split(","), options.wide)
    for way, layout, call, text in outcomes.refused:
        print(f"refused: {way} {layout} {call}: {text}")
    for way, layout, call, text in outcomes.wrong:
        print(f"wrong: {way} {layout} {call}: {text}")
    print(f"with PyTorch: {', '.join(sorted(stays))}")
    print(f"{outcomes.right} right, {len(outcomes.wrong)} wrong, {len(outcomes.refused)} refused")
    return 1 if outcomes.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
