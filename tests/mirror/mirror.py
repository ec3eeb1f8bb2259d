"""What the Python cases of this folder share; see README.md.

A case is a function `name(m)` decorated with @case. What it hands to the recorder
`m` becomes the sections of the case in expected/<area>.txt, in this order.
"""

import os

# The same numbers on every machine: no kernels chosen by the CPU.
os.environ.setdefault("ATEN_CPU_CAPABILITY", "default")
os.environ.setdefault("MKL_CBWR", "COMPATIBLE")

import contextlib
import io
import warnings

import numpy
import tabulate
import torch
import torch.fx

torch.set_num_threads(1)
torch.backends.mkldnn.enabled = False
torch.set_grad_enabled(False)

CASES = []
TABULATE = tabulate.tabulate


def case(function):
    """Makes `function` a case of the area that its module cases_<area> names."""
    area = function.__module__.removeprefix("cases_")
    CASES.append((area, function.__name__, function))
    return function


def fill(sizes, seed=0, dtype=torch.float32):
    """A tensor that both sides can make: floats are in [-1, 1], whole multiples
    of 1/8; integers are in [0, 10); bools mix."""
    count = 1
    for size in sizes:
        count *= size
    whole = [i * 7 + i // 5 + seed * 13 for i in range(count)]
    if dtype == torch.bool:
        values = [v % 3 == 0 for v in whole]
    elif dtype.is_floating_point:
        values = [(v % 17 - 8) / 8 for v in whole]
    else:
        values = [v % 10 for v in whole]
    return torch.tensor(values, dtype=dtype).reshape(sizes)


def seed_of(name):
    return sum(name.encode())


def filled(module):
    """`module` with every parameter and float buffer filled by its name's seed,
    in eval mode. Variances become positive."""
    for name, parameter in module.named_parameters():
        parameter.copy_(fill(parameter.shape, seed_of(name), parameter.dtype))
    for name, buffer in module.named_buffers():
        if buffer.is_floating_point():
            value = fill(buffer.shape, seed_of(name), buffer.dtype)
            positive = name.endswith("running_var")
            buffer.copy_(value.abs() + 0.5 if positive else value)
    return module.eval()


def float_text(x, dtype):
    """The shortest text that gives the float of this type back."""
    if dtype == torch.float32 and x == x and abs(x) != float("inf"):
        return repr(float(str(numpy.float32(x))))
    return repr(x)


def describe(value):
    """The lines that stand for `value`: one per leaf or opening container."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        sizes = ", ".join(str(size) for size in value.shape)
        numbers = [
            float_text(x, value.dtype) if isinstance(x, float) else str(int(x))
            for x in value.detach().reshape(-1).tolist()
        ]
        return [f"{dtype}[{sizes}]: {' '.join(numbers)}".rstrip()]
    if isinstance(value, dict):
        lines = [f"dict {len(value)}"]
        for key, item in value.items():
            lines += [f"key {key!r}"] + describe(item)
        return lines
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        lines = [f"{kind} {len(value)}"]
        for item in value:
            lines += describe(item)
        return lines
    if isinstance(value, float):
        return [f"float: {value!r}"]
    return [repr(value)]


def graph_of(graph):
    return graph.graph if isinstance(graph, torch.fx.GraphModule) else graph


def error_text(error, until):
    """Type and message, less the trailer that torch puts behind a node."""
    plain = isinstance(error, KeyError) and error.args
    text = str(error.args[0]) if plain else str(error)
    text = text.split("\nOriginal traceback:")[0]
    return type(error).__name__, text.split(until)[0] if until else text


def without_addresses(rows, **options):
    """tabulate, with the plain name of each function that prints as an address."""
    name = torch.fx.node._get_qualified_name
    rows = [
        [name(x) if callable(x) and " at 0x" in repr(x) else x for x in row]
        for row in rows
    ]
    return TABULATE(rows, **options)


class Recorder:
    """Collects the sections of one case."""

    def __init__(self):
        self.sections = []

    def add(self, kind, text):
        self.sections.append((kind, text))

    def graph(self, graph):
        """str(graph), of a Graph or a GraphModule."""
        self.add("graph", str(graph_of(graph)))

    def code(self, graph):
        """.code of a GraphModule, or what a Graph generates."""
        if isinstance(graph, torch.fx.GraphModule):
            self.add("code", graph.code)
        else:
            self.add("code", graph.python_code("self").src)

    def tabular(self, graph):
        """What print_tabular prints; names stand for addresses."""
        printed = io.StringIO()
        tabulate.tabulate = without_addresses
        with contextlib.redirect_stdout(printed):
            graph_of(graph).print_tabular()
        tabulate.tabulate = TABULATE
        self.add("tabular", printed.getvalue().removesuffix("\n"))

    def text(self, label, text):
        """Any text that both sides make, such as str(gm)."""
        self.add("text " + label, text)

    def value(self, label, value):
        """Any number, string, tensor or container of them."""
        self.add("value " + label, "\n".join(describe(value)))

    def error(self, function, until=""):
        """The error that calling `function` raises; its message up to `until`,
        for messages that go on with addresses."""
        try:
            function()
        except Exception as error:
            kind, text = error_text(error, until)
            self.add("error " + kind, text)
            return
        raise AssertionError("expected an error")

    def outputs(self, gm, *inputs):
        """What gm(*inputs) gives; the interpreter must give the same."""
        got = describe(gm(*inputs))
        assert got == describe(torch.fx.Interpreter(gm).run(*inputs))
        self.add("outputs", "\n".join(got))

    def warning(self, function):
        """The text of the one warning that calling `function` gives."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function()
        assert len(caught) == 1, caught
        self.add("warning", str(caught[0].message))
        return result
