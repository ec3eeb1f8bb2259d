"""The public names of torch.fx, found by walking its packages.

Public are names without a leading "_", those that torch marks with `@compatibility`,
and a few classes that users need in spite of their names. A class comes with its methods, properties and attributes; those
it inherits belong to the base that has them. Needs torch.
"""

import ast
import importlib
import inspect
import pkgutil
import textwrap
import types
from dataclasses import dataclass, field

import torch.fx
from torch.fx import _compatibility

MARKED = _compatibility._MARKED_WITH_COMPATIBILITY
# Base classes that users derive from or make, in spite of their names.
USED_ANYWAY = {
    "_MinimizerBase", "_MinimizerSettingBase", "_PyTreeCodeGen", "_SplitterBase",
    "_SplitterSettingBase",
}


@dataclass
class Name:
    """One public name: "torch.fx.graph.Graph.lint"."""

    path: str
    kind: str  # "function", "class", "method", "property" or "attribute".
    value: object  # The function, class or property; None for attributes.
    owner: type | None = None  # The class of a member.
    cases: set = field(default_factory=set)  # Those that use it themselves.
    reached: set = field(default_factory=set)  # Those that reach it by others.


def modules():
    """The modules of torch.fx, its tests left out."""
    yield torch.fx
    for info in pkgutil.walk_packages(torch.fx.__path__, "torch.fx."):
        if "tests" not in info.name.split("."):
            yield importlib.import_module(info.name)


def is_public(name, value):
    if not name.startswith("_") or name in USED_ANYWAY:
        return True
    try:
        return value in MARKED and name != "__init__"
    except TypeError:  # What cannot be hashed is not marked.
        return False


def assigned_attributes(cls):
    """Names that the class annotates, or that its code assigns to `self`."""
    found = list(cls.__dict__.get("__annotations__", {}))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return found
    for node in ast.walk(tree):
        stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if stored and isinstance(node.value, ast.Name) and node.value.id == "self":
            found.append(node.attr)
    return found


def kind_of_member(value):
    if isinstance(value, property):
        return "property"
    if isinstance(value, (staticmethod, classmethod)) or inspect.isroutine(value):
        # What C++ stores in an object counts as its attribute.
        return "attribute" if inspect.isdatadescriptor(value) else "method"
    return "attribute"


def own_members(cls):
    """The members of a class and of the bases that it has from C++."""
    own = {}
    for base in reversed(cls.__mro__):
        if base is cls or base.__module__.startswith("torch._C"):
            own.update(vars(base))
    return own


def members(cls, path):
    own = own_members(cls)
    for name, value in own.items():
        if is_public(name, value):
            yield Name(f"{path}.{name}", kind_of_member(value), value, cls)
    inherited = {name for base in cls.__mro__ for name in vars(base)}
    for name in sorted(set(assigned_attributes(cls)) - inherited):
        if not name.startswith("_"):
            yield Name(f"{path}.{name}", "attribute", None, cls)


def names_of(module):
    """What the module defines, in its order."""
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        path = f"{module.__name__}.{name}"
        if not is_public(name, value):
            continue
        if inspect.isclass(value) and value.__qualname__ == name:
            yield Name(path, "class", value)
            yield from members(value, path)
        elif isinstance(value, types.FunctionType):
            yield Name(path, "function", value)
