"""Sizes that change from call to call, as torch.export spells them."""

import ast
import re

_LARGEST = 2**63 - 1


def declare(model, dynamic_shapes):
    """Gives the model the names of its inputs' sizes: `dynamic_shapes` is that of
    torch.export.export, a text may stand for a Dim."""
    arguments = {}  # By name: (path inside of it, place among the inputs) of each leaf.
    for place, leaf in enumerate(model.inputs):
        name, path = _split(leaf.path)
        arguments.setdefault(name, []).append((path, place))
    if isinstance(dynamic_shapes, (tuple, list)):
        if len(dynamic_shapes) > len(arguments):
            raise ValueError(f"dynamic_shapes: {len(dynamic_shapes)} entries for "
                             f"{len(arguments)} arguments")
        dynamic_shapes = dict(zip(arguments, dynamic_shapes))
    sizes = [[] for _ in model.inputs]
    for name, spec in dynamic_shapes.items():
        if name not in arguments:
            raise ValueError(f"dynamic_shapes: there is no argument {name!r}; there are "
                             f"{', '.join(arguments)}")
        for path, place in arguments[name]:
            leaf = model.inputs[place]
            sizes[place] = _sizes_of(_inside(spec, path, leaf.path), leaf.path)
    model._declare(sizes)


def _split(path):
    """"d['b'][0]" as "d" and ["b", 0]."""
    name, bracket, _ = path.partition("[")
    keys = re.findall(r"\[([^\]]*)\]", path) if bracket else []
    return name, [ast.literal_eval(key) for key in keys]


def _inside(spec, path, where):
    for key in path:
        if spec is None:
            return None
        try:
            spec = spec[key]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"dynamic_shapes: nothing for {where}") from None
    return spec


def _sizes_of(spec, where):
    if spec is None:
        return []
    if isinstance(spec, (tuple, list)):
        spec = dict(enumerate(spec))
    if not isinstance(spec, dict):  # Of a number: its name alone.
        return [_entry(spec, where)]
    if not all(isinstance(dim, int) and dim >= 0 for dim in spec):
        raise ValueError(f"dynamic_shapes of {where}: expected dims as numbers from 0, got "
                         f"{list(spec)}")
    return [_entry(spec.get(dim), where) for dim in range(max(spec, default=-1) + 1)]


def _entry(size, where):
    """None, or (name, least, most) with None for no largest one."""
    if size is None or isinstance(size, int):
        return None
    if isinstance(size, str):
        return size, 0, None
    kind = getattr(getattr(size, "type", None), "name", None)  # Of Dim.AUTO and the like.
    if kind == "STATIC":
        return None
    if kind is None and not hasattr(size, "__name__"):
        raise TypeError(f"dynamic_shapes of {where}: expected torch.export.Dim, a name, a number "
                        f"or None, got {size!r}")
    name = size.__name__ if kind is None else ""
    least, most = getattr(size, "min", None), getattr(size, "max", None)
    most = most if isinstance(most, int) and most < _LARGEST else None
    return name, least if isinstance(least, int) else 0, most
