"""How nodes are named: words that may not be names, numbers, what code renames."""

import math

import torch
import torch.fx as fx
from torch.fx import Graph

from mirror import case

# Python's keywords and builtins, what generated code defines, and others.
WORDS = """
ArithmeticError AssertionError AttributeError BaseException
BaseExceptionGroup BlockingIOError BrokenPipeError BufferError BytesWarning
ChildProcessError ConnectionAbortedError ConnectionError
ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError
Ellipsis EncodingWarning EnvironmentError Exception ExceptionGroup F False
FileExistsError FileNotFoundError FloatingPointError FutureWarning
GeneratorExit IOError ImportError ImportWarning IndentationError IndexError
InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError
MemoryError ModuleNotFoundError NameError None NoneType NotADirectoryError
NotImplemented NotImplementedError OSError OverflowError
PendingDeprecationWarning PermissionError ProcessLookupError RecursionError
ReferenceError ResourceWarning RuntimeError RuntimeWarning
StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError
SystemExit TabError TimeoutError TrUe True TypeError UnboundLocalError
UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
UnicodeWarning UserWarning ValueError Warning ZeroDivisionError _
__build_class__ __debug__ __doc__ __import__ __loader__ __name__ __package__
__spec__ abs add aiter all and anext annotations any args as ascii assert
async await bin bool break breakpoint bytearray bytes callable case chr
class classmethod compile complex continue copyright credits cuda def del
delattr device dict dir divmod elif else enumerate eval except exec exit
filter finally float for format from frozenset fx_pytree getattr global
globals hasattr hash help hex id if import in inf input int is isinstance
issubclass iter kwargs lambda len license list locals map match math max
memoryview min nan next nn none nonlocal not np numpy object oct open
operator or ord output pass placeholder pow print property pytree quit raise
range relu repr return reversed root round self set setattr slice sorted
staticmethod str sum super torch try tuple type typing vars while with wrap
yield zip
"""

WISHES = [
    "1", "_1", "__1", "x_1_2", "x__1", "a.b", "a-b.c", " ", "\u00e9",
    "\u65e5\u672cx", "x y", "0", "None", "None_1", "inf_3", "nan", "x_007", "x_7",
    "x_99999999999999999999", "x_18446744073709551615", "x_9223372036854775807",
    "add_000000000000000000000000001", "y_999999999999999999", "class",
    "__class__", "__init__", "_", "__", "___", "_0", "__0_0", "0_0", "x_",
]

METHODS = [
    "__add__", "__", "___", "____", "PascalCase", "ALL_CAPS", "aBC", "HTTPServer",
    "a.B.c", "__PrivateName__", "_x_", "relu_", "__iadd__", "T", "x1Y2z",
]


def name_of(graph, wish):
    return graph.create_node("call_function", torch.neg, (), {}, wish).name


@case
def every_word(m):
    graph = Graph()
    lines = []
    for word in WORDS.split():
        lines.append(f"{word}: {name_of(graph, word)} {name_of(graph, word)}")
    m.text("names", "\n".join(lines))
    graph.output(None)
    m.code(graph)


@case
def wishes_of_all_kinds(m):
    graph = Graph()
    lines = []
    for wish in WISHES:
        given = [name_of(graph, wish) for _ in range(3)]
        lines.append(" ".join([wish + ":"] + given))
    m.text("names", "\n".join(lines))


@case
def methods_and_paths(m):
    graph = Graph()
    x = graph.placeholder("x")
    for method in METHODS:
        graph.call_method(method, (x,))
    for path in ["a.b", "0", "a.0.B", "None", "self", "é"]:
        graph.get_attr(path)
        graph.call_module(path, (x,))
    graph.output(x)
    m.graph(graph)
    m.code(graph)


@case
def numbers_go_on_in_copies(m):
    graph = Graph()
    for wish in ["x", "x", "x_7", "x_3", "x"]:
        name_of(graph, wish)
    graph.erase_node(list(graph.nodes)[-1])
    m.text("original", " ".join(n.name for n in graph.nodes))
    import copy

    made = copy.deepcopy(graph)
    m.text("copy", " ".join(n.name for n in made.nodes))
    m.text("next", f"{name_of(graph, 'x')} {name_of(made, 'x')}")


@case
def code_renames_what_clashes(m):
    graph = Graph()
    x = graph.placeholder("math_sqrt")
    sqrt = graph.call_function(math.sqrt, (x,))
    none = graph.create_node("call_function", torch.neg, (sqrt,), {}, "None")
    one = graph.create_node("call_function", torch.neg, (none,), {}, "None_1")
    exp = graph.call_function(math.exp, (one,))
    late = graph.create_node("call_function", torch.neg, (exp, none), {}, "math_exp")
    graph.output((late, {"a": [none]}))
    m.graph(graph)
    m.code(graph)


@case
def code_renames_forced_names(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.neg, (x,))
    z = graph.call_function(torch.add, (y, x))
    y.name = "inf"
    z.name = "class"
    w = graph.call_function(torch.neg, (z,))
    w.name = "class_1"
    graph.output(w)
    m.graph(graph)
    m.code(graph)


@case
def renamed_nodes(m):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.neg, (x,))
    z = graph.call_function(torch.neg, (y,))
    names = []
    for wish in ["x", "z", "neg_1", "neg", "class", "9", "neg_5", "z"]:
        z._rename(wish)
        names.append(z.name)
    m.text("names", " ".join(names))
    m.text("next", name_of(graph, "neg") + " " + name_of(graph, "z"))
