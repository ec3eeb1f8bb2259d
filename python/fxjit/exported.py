"""Modules of PyTorch by way of torch.export."""

import collections
import functools
import os
import tempfile


def compile(module, args=(), kwargs=None, *, dynamic_shapes=None, **options):
    """As fxjit.compile."""
    import torch

    if module.training:
        raise ValueError(f"{type(module).__name__} is in training mode: call .eval() first")
    with torch.no_grad():
        args, kwargs = _apart((tuple(args), kwargs))
        program = _in_known_functions(
            torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes))
    _host_functions(program)
    tree = _named_tuples(program.module_call_graph[0].signature.out_spec)
    model = _loaded(program, f"{type(module).__name__}.pt2", options)
    if tree is not None:
        model._containers = NamedTuples(tree)
    return model


def load_in_known_functions(path, options):
    """A Model of a .pt2 file whose functions PyTorch's rules replace; None where they replace none.
    """
    import torch

    if not path.endswith(".pt2"):
        return None
    program = torch.export.load(path)
    known = _in_known_functions(program)
    hosted = _host_functions(known)
    if known is program and not hosted:
        return None
    return _loaded(known, os.path.basename(path), options)


def host_functions_of(path):
    """Has PyTorch run the calls of a .pt2 file that fxjit lacks."""
    import torch

    _host_functions(torch.export.load(path))


def _loaded(program, name, options):
    import torch

    from ._fxjit import Model

    signature = program.module_call_graph[0].signature
    signature.out_spec = _in_known_containers(signature.out_spec)
    with tempfile.TemporaryDirectory(prefix="fxjit-") as folder:
        path = os.path.join(folder, name)
        torch.export.save(program, path)
        return Model(path, "", options)  # Keeps the file mapped after it is removed.


class NamedTuples:
    """Makes named tuples of the tuples that a file has for them. `tree`: of a result without any,
    None; else the class and the trees of its items, by key for dicts."""

    def __init__(self, tree):
        self._tree = tree

    def __call__(self, result):
        return _with_names(self._tree, result)

    def __reduce__(self):
        return NamedTuples, (self._tree,)


def _with_names(tree, value):
    if tree is None:
        return value
    kind, items = tree
    if isinstance(items, dict):
        return kind((key, _with_names(items[key], item)) for key, item in value.items())
    made = map(_with_names, items, value)
    # Those of torch.return_types take one iterable.
    return kind(*made) if hasattr(kind, "_fields") else kind(made)


def _named_tuples(spec):
    """The tree for NamedTuples of a result's."""
    items = [_named_tuples(child) for child in spec.children()]
    kind = spec.context if spec.type is collections.namedtuple else spec.type
    if isinstance(kind, type) and issubclass(kind, tuple) and kind is not tuple:
        return kind, items
    if not any(items):
        return None
    if kind in (dict, collections.OrderedDict):
        return kind, dict(zip(spec.context, items, strict=True))
    return (kind, items) if kind in (tuple, list) else None


def _in_known_containers(spec):
    """The tree of a result with tuples for named ones of classes that files cannot name."""
    from torch.utils import _pytree

    try:
        _pytree.treespec_dumps(spec)
        return spec
    except NotImplementedError:  # What it raises for such classes.
        pass
    children = [_in_known_containers(child) for child in spec.children()]
    if spec.type is collections.namedtuple or issubclass(spec.type, tuple):
        return _pytree.treespec_tuple(children)
    return _pytree.TreeSpec(spec.type, spec.context, children)


def _apart(examples):
    """The examples with memory of their own: those that share it would be one input, though later
    calls may have several."""
    import torch
    from torch.utils import _pytree

    storages = set()

    def own(leaf):
        if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided:
            return leaf
        storage = leaf.untyped_storage()._cdata
        if storage not in storages:
            storages.add(storage)
            return leaf
        copy = torch.empty_strided(leaf.size(), leaf.stride(), dtype=leaf.dtype,
                                   requires_grad=leaf.requires_grad)
        return copy.copy_(leaf) if 0 not in leaf.stride() else copy

    return _pytree.tree_map(own, examples)


def _targets(program):
    return {node.target for module in program.graph_module.modules() if hasattr(module, "graph")
            for node in module.graph.nodes if node.op == "call_function"}


def _is_lacking(target):
    import torch

    from .graphs import is_known

    return isinstance(target, torch._ops.OpOverload) and not is_known(target)


def _refuses_shared_places(target):
    """Whether PyTorch refuses a tensor whose elements share places as what the function writes;
    None where it writes no elements, or nothing is known of it."""
    import torch

    from ._fxjit import refuses_shared_places
    from .graphs import function_name, is_known

    first = next(iter(target._schema.arguments), None)
    if not (first and first.alias_info and first.alias_info.is_write) or (
            torch.Tag.inplace_view in target.tags):
        return None
    if is_known(target):
        return refuses_shared_places(function_name(target))
    pointwise = torch.Tag.pointwise in target.tags
    return pointwise or target._schema.name in ("aten::put_", "aten::index_reduce_") or None


def _refuse_overlapping_writes(program):
    """Raises where elements that share a place are written, mostly as PyTorch does: of such writes
    its rules would make results with other numbers."""
    import torch

    for node in program.graph.nodes:
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        refuses = _refuses_shared_places(node.target)
        written = node.args[0].meta.get("val") if node.args and refuses is not None else None
        if not isinstance(written, torch.Tensor) or not _has_shared_places(written):
            continue
        if not refuses:
            raise NotImplementedError(
                f"{node.target} of a tensor whose elements share places is not supported beside "
                "calls of functions that are taken apart or stay with PyTorch")
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor "
                           f"refers to a single memory location, in {node.target}")


def _has_shared_places(tensor):
    return any(stride == 0 and not (isinstance(size, int) and size == 1)
               for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _host_functions(program):
    """Has PyTorch run the program's calls of functions that fxjit lacks, and gives these. Those
    that write arguments or give views of them stay refused."""
    from ._fxjit import host_function
    from .graphs import function_name, log

    lacking = [target for target in _targets(program)
               if _is_lacking(target) and not _names_memory(target._schema)]
    names = sorted(map(function_name, lacking))
    for target in lacking:
        host_function(function_name(target), target)
    for target in _writing_calls(program):
        host_function(function_name(target), functools.partial(_call_named, target))
        names.append(function_name(target))
    if names:
        log.warning("calls that stay with PyTorch: %s", ", ".join(names))
    return names


def _writing_calls(program):
    """What calls functions that write arguments, with copies of these, and gives the copies."""
    from torch._higher_order_ops import auto_functionalize

    kinds = (auto_functionalize.AutoFunctionalized, auto_functionalize.AutoFunctionalizedV2)
    return [target for target in _targets(program) if isinstance(target, kinds)]


def _call_named(target, name, **kwargs):
    """A call of a function that a file names by text."""
    import torch

    namespace, packet, overload = name.removeprefix("torch.ops.").split(".")
    function = getattr(getattr(getattr(torch.ops, namespace), packet), overload)
    return target(function, **kwargs)


def _names_memory(schema):
    return any(part.alias_info is not None for part in (*schema.arguments, *schema.returns))


def _in_known_functions(program):
    """The program in functions that fxjit has, as far as PyTorch has rules that make it so: these
    replace writes by results, too. torch.export also records what happens inside torch.vmap for one
    slice, between calls that add and remove the mapped dim; the rules make batched functions of
    these. What else is taken apart are composites that may give views, so that writes reach them
    (see torch_backend)."""
    import torch

    from . import decompositions
    from .graphs import gives_views, is_known

    targets = _targets(program)
    has_vmap = any(getattr(target, "__module__", None) == "torch._functorch.predispatch"
                   for target in targets)
    lacking = any(map(_is_lacking, targets))
    if not has_vmap and not lacking:
        return program
    _refuse_overlapping_writes(program)
    rules = {**torch.export.default_decompositions(), **decompositions.table(),
             **decompositions.OF_PROGRAMS}
    return program.run_decompositions(
        {op: rule for op, rule in rules.items()
         if op not in decompositions.WHOLE and (gives_views(op) or (lacking and not is_known(op)))})
