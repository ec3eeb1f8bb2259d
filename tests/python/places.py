"""What tests of the places of tensors share: models of one function, and comparing tensors by
numbers, types and the memory that they lie in."""

import torch
from torch import nn


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def tensors_of(tree):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree)
            if isinstance(leaf, torch.Tensor)]


def place(tensor):
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset()


def same(got, expected):
    for ours, theirs in zip(tensors_of(got), tensors_of(expected), strict=True):
        assert ours.dtype == theirs.dtype
        assert place(ours)[:2] == place(theirs)[:2]
        torch.testing.assert_close(ours, theirs, equal_nan=True)


def lies_in(tensor, base):
    return tensor.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()


def copied(base, views):
    """The views, of a copy of their base."""
    base = base.clone()
    return base, [base.as_strided(v.shape, v.stride(), v.storage_offset()) for v in views]


# What fxjit gives for views of the base, and what becomes of the base when its results are written.
def check(function, base, views, compiled):
    ours, our_views = copied(base, views)
    theirs, their_views = copied(base, views)
    got, expected = compiled(*our_views), function(*their_views)
    same(got, expected)
    for one, other in zip(tensors_of(got), tensors_of(expected), strict=True):
        assert lies_in(one, ours) == lies_in(other, theirs)
        if lies_in(other, theirs):
            assert one.storage_offset() == other.storage_offset()
        if torch._debug_has_internal_overlap(other) == 0:
            one.add_(100)
            other.add_(100)
    torch.testing.assert_close(ours, theirs)
