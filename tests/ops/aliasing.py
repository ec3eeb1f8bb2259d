"""Whose memory torch's results are. The scripts that make the references of the
op table show every call to `note`; make_aliasing.py writes what was seen."""

import torch

# By row: the text of each call and what `memories` says of its result.
seen = {}


def apart(value):
    """The argument with memory of its own, laid out as before."""
    if isinstance(value, torch.Tensor):
        copy = torch.empty(0, dtype=value.dtype)
        return copy.set_(value.untyped_storage().clone(),
                         value.storage_offset(), value.shape, value.stride())
    if isinstance(value, (list, tuple)):
        return type(value)(apart(item) for item in value)
    if isinstance(value, slice):
        return slice(*map(apart, (value.start, value.stop, value.step)))
    return value


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, slice):
        return tensors((value.start, value.stop, value.step))
    if isinstance(value, dict):
        return tensors(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors(item)]
    return []


def memories(result, arguments):
    """For each tensor of the result which tensor of the arguments has the same
    storage; own storages are a, b, ... in order of appearance."""
    known = {t.untyped_storage()._cdata: str(i)
             for i, t in enumerate(arguments)}
    words, own = [], 0
    for tensor in tensors(result):
        key = tensor.untyped_storage()._cdata
        if key not in known:
            known[key] = chr(ord('a') + own)
            own = min(own + 1, 25)
        words.append(known[key])
    return ' '.join(words)


def note(row, text, function, args, kwargs):
    if row.endswith('_') and hasattr(torch.Tensor, row):
        function = getattr(torch.Tensor, row)  # Some cases write a copy.
    if row.endswith('_out'):
        pure = getattr(torch, row[:-4])
        function = lambda out, *given: pure(*given, out=out)
    args, kwargs = apart(list(args)), {k: apart(v) for k, v in kwargs.items()}
    result = function(*args, **kwargs)
    cases = seen.setdefault(row, {})
    cases[text] = memories(result, tensors([args, kwargs]))
