"""Calls of each ATen overload of the op table, with tensors that lie in memory in several ways.

The calls are those of tests/ops/make_overload_reference.py: written by hand or guessed from schemas.
"""

import functools
import itertools
import pathlib
import sys

import torch
from torch.utils import _pytree as pytree

TESTS = pathlib.Path(__file__).parent.parent
sys.path.append(str(TESTS / "ops"))
_threads = torch.get_num_threads()  # structured_format sets them.
import make_overload_reference as guesses  # noqa: E402
import overload_cases  # noqa: E402
from structured_format import L, T  # noqa: E402

torch.set_num_threads(_threads)

# Their numbers are not determined: only how the results lie can be the same.
UNDETERMINED = set(overload_cases.WITHOUT)
# PyTorch's functions read other memory than these elements, or write each several times.
MISREAD = {
    "permuted": r"_scaled_dot_product_flash_attention_for_cpu|_weight_norm_interface",
    "channels_last": r"_scaled_dot_product_flash_attention_for_cpu",
    "expanded": r"_weight_norm_interface|(nan)?median\.dim|kthvalue|.*[a-z0-9]_\.|_index_put_impl_",
    "offset": r"_weight_norm_interface",
}


def dense(x):
    return x.clone(memory_format=torch.contiguous_format)


def permuted(x):
    """The same numbers with the first dim innermost."""
    order = [*range(1, x.dim()), 0] if x.dim() else []
    back = [order.index(d) for d in range(x.dim())]
    return x.permute(order).contiguous().permute(back)


def channels_last(x):
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return x.clone(memory_format=formats.get(x.dim(), torch.contiguous_format))


def expanded(x):
    """Other numbers: each row of the last dim but one is the first."""
    if x.dim() < 2:
        return x.clone()
    return x.select(-2, 0).clone().unsqueeze(-2).expand_as(x)


def offset(x):
    """With elements before it and between its rows."""
    if not x.dim():
        return torch.stack([x, x])[1]
    room = x.new_zeros([*x.shape[:-1], x.shape[-1] + 3])
    return room.narrow(-1, 2, x.shape[-1]).copy_(x)


LAYOUTS = {f.__name__: f for f in (dense, permuted, channels_last, expanded, offset)}


class OverloadCall:
    """A call as a function of its tensors."""

    def __init__(self, name, args, kwargs):
        self.name = name
        self.function = guesses.overload(name)
        leaves, self._spec = pytree.tree_flatten((list(args), dict(kwargs)))
        self._leaves = [leaf.value() if isinstance(leaf, (T, L)) else leaf for leaf in leaves]
        self._places = [i for i, leaf in enumerate(self._leaves) if isinstance(leaf, torch.Tensor)]
        self.tensors = [self._leaves[i] for i in self._places]

    def _with(self, tensors):
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        return pytree.tree_unflatten(leaves, self._spec)

    def __call__(self, *tensors):
        args, kwargs = self._with(tensors)
        return self.function(*args, **kwargs)

    def in_graph(self, graph, nodes):
        """A node of the call with these nodes for its tensors."""
        args, kwargs = self._with(nodes)
        return graph.call_function(self.function, tuple(args), kwargs)

    def laid(self, layout):
        return [LAYOUTS[layout](t) for t in self.tensors]

    def __repr__(self):
        def text(leaf):
            return f"T{tuple(leaf.shape)}" if isinstance(leaf, torch.Tensor) else repr(leaf)
        args, kwargs = pytree.tree_unflatten([text(leaf) for leaf in self._leaves], self._spec)
        return f"{self.name}({args}, {kwargs})"


def names():
    """The overloads of the table that something serves."""
    return sorted(guesses.make_schemas.served())


def _is_taken(call):
    try:
        call(*[dense(t) for t in call.tensors])
    except Exception:  # Whatever torch refuses is no call.
        return False
    return True


def _guessed(name, kinds, sizes, limit):
    schema = guesses.overload(name)._schema
    for whole in (False, True):
        made = (OverloadCall(name, *guesses.arguments(schema, size, kind, whole))
                for kind, size in itertools.product(kinds, sizes))
        yield from itertools.islice(filter(_is_taken, made), limit)


@functools.cache
def calls_of(name, wide=False):
    """The calls of an overload: one or two, or, of guesses, those of all sizes and types."""
    given = [OverloadCall(name, *call) for call in overload_cases.CASES.get(name, [])]
    if wide:
        kinds = (*guesses.KINDS, "float64", "float16", "bfloat16", "int32", "uint8", "complex64")
        sizes = (*guesses.SIZES, (0, 3), (1,), (2, 1, 3))
        given += _guessed(name, kinds, sizes, 24)
    elif not given:
        given = list(_guessed(name, guesses.KINDS, guesses.SIZES, 1))
    return list({repr(call): call for call in given if _is_taken(call)}.values())
