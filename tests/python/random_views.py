"""Random programs over views and special numbers, three ways: random_views.py [COUNT] [SEED]

Each program makes some calls on inputs that begin in the middle of a storage, overlap, are turned,
expanded or channels last, and hold infinities, NaN, signed zeros, subnormal and great numbers. It
runs in PyTorch and in three ways of fxjit: torch.compile, fxjit.compile, and fxjit.load of a file.
Numbers, dtypes, sizes, strides of dims with more than one element, offsets, what becomes of the
inputs, and refusals have to be PyTorch's. What PyTorch's own backend aot_eager does otherwise than
eager mode in the same way, and what torch.export refuses, is counted apart. Prints the programs that
differ, and counts; exit code 1 where one does.
"""

import functools
import logging
import os
import random
import re
import sys
import tempfile
import warnings

import fxjit
import torch
from torch import nn
from torch.utils import _pytree as pytree

SPECIAL = [0., -0., float("inf"), -float("inf"), float("nan"), 1e-42, -1e-42, 1.17e-38, 3.4e38,
           -3.4e38, 1., -1., .5, -.5, 2., -3., 1e20, -1e20, 1e-20, 88.8, -104., 16777217., 7., 1e5]
# A call and how many values it reads; each takes `r`, a source of random numbers.
LAST = torch.channels_last
CALLS = [
    ("{0}[1:]", 1), ("{0}[..., 1:]", 1), ("{0}.transpose(0, -1)", 1), ("{0}.flatten()[3:]", 1),
    ("{0}.narrow(-1, 1, {0}.shape[-1] - 1)", 1), ("{0}.select(-1, 0)", 1), ("{0}.chunk(2)[-1]", 1),
    ("{0}.unsqueeze(1)", 1), ("{0}[::2]", 1), ("{0}.diagonal(0, 0, -1)", 1),
    ("{0}.reshape(-1)", 1), ("{0}.contiguous()", 1), ("{0}.clone()", 1), ("{0}.flip(0)", 1),
    ("{0}.roll(1, -1)", 1), ("{0}.contiguous(memory_format=LAST)", 1),
    ("{0}.clone(memory_format=LAST)", 1), ("{0}.to(memory_format=LAST)", 1),
    ("{0}.as_strided((2, 3), (3, 1), 1)", 1), ("{0}.as_strided((2, 2), (1, 2))", 1),
    ("{0}.view(torch.int32).view(torch.float32)", 1), ("torch.cat([{0}, {1}], -1)", 2),
    ("{0} + {1}", 2), ("{0} - {1}", 2), ("{0} * {1}", 2), ("{0} / {1}", 2), ("{0} + 1", 1),
    ("0 - {0}", 1), ("{0} * -1", 1),
    # Of zeros of different signs, a maximum is either.
    ("torch.maximum({0}, {1}) + 0.", 2),
    ("torch.where({0} > 0, {0}, {1})", 2), ("torch.where({0} > {1}, {0}, 0.)", 2),
    ("{0}.abs()", 1), ("{0}.neg()", 1), ("{0}.relu()", 1), ("{0}.sign()", 1), ("{0}.sqrt()", 1),
    ("{0}.rsqrt()", 1), ("{0}.reciprocal()", 1), ("{0}.floor()", 1), ("{0}.clamp(-1, 2)", 1),
    ("{0}.isnan().float()", 1), ("{0}.masked_fill({0} > 1, -2.)", 1), ("{0}.half().float()", 1),
    ("{0}.bfloat16().float()", 1), ("{0}.double().float()", 1), ("{0}.amax(-1)", 1),
    ("{0}.nan_to_num()", 1), ("{0}.sort(-1)[0]", 1),
    # The signs of NaN are nobody's promise.
    ("torch.signbit(torch.where({0} == {0}, {0}, 1.)).float()", 1),
    ("{0}.add_(1)", 1), ("{0}.mul_({1})", 2), ("{0}[..., 0].zero_()", 1), ("{0}.copy_({1})", 2),
    ("{0}[1:].neg_()", 1), ("{0}.fill_(2)", 1), ("{0}.clamp_(max=1)", 1),
]


def special(r, count):
    return torch.tensor([r.choice(SPECIAL) if r.random() < .5 else r.uniform(-4, 4)
                         for _ in range(count)])


def made_inputs(r):
    """Storages, and views of them as (storage, sizes, strides, offset)."""
    storages = [special(r, 160) for _ in range(2)]
    views = []
    for _ in range(r.randint(1, 3)):
        sizes = [r.randint(2, 4) for _ in range(r.choice([1, 2, 3, 4, 4]))]
        order = list(range(len(sizes)))
        kind = r.choice(["plain", "last", "turned", "gaps", "expanded"])
        if kind == "last" and len(sizes) == 4:
            order = [0, 2, 3, 1]
        elif kind == "turned":
            r.shuffle(order)
        strides, reach = [0] * len(sizes), 2 if kind == "gaps" and len(sizes) < 4 else 1
        for d in reversed(order):
            strides[d] = reach
            reach *= sizes[d]
        if kind == "expanded":
            strides[r.randrange(len(sizes))] = 0
        if reach < 150:
            views.append((r.randrange(2), sizes, strides, r.choice([0, 1, 4])))
    return storages, views or [(0, [3], [1], 1)]


def placed(storages, views):
    storages = [s.clone() for s in storages]
    return storages, [storages[at].as_strided(sizes, strides, offset)
                      for at, sizes, strides, offset in views]


def reads_beside(line, reads):
    """Whether a write reads other elements of the memory that it writes: eager mode gives what its
    loop happens to read first."""
    written, *others = reads
    return "_(" in line and any(
        other.untyped_storage().data_ptr() == written.untyped_storage().data_ptr()
        and (other.data_ptr(), other.shape, other.stride())
        != (written.data_ptr(), written.shape, written.stride()) for other in others)


def made_program(r, storages, views):
    """Lines that PyTorch runs, tried one after the other."""
    _, inputs = placed(storages, views)
    names = [f"x{i}" for i in range(len(inputs))]
    values, lines = dict(zip(names, inputs, strict=True)), []
    for number in range(r.randint(1, 8)):
        text, reads = r.choice(CALLS)
        # What was made last is read more often.
        chosen = [r.choice(names[-3:]) for _ in range(reads)]
        line = text.format(*chosen)
        if reads_beside(line, [values[name] for name in chosen]):
            continue
        trial = {name: value for name, value in values.items()}
        try:
            value = eval(line, {"torch": torch, "LAST": LAST}, trial)
        except (RuntimeError, IndexError):
            continue
        if value.numel() == 0 or value.dim() > 5:
            continue
        name = f"v{number}"
        lines.append(f"{name} = {line}")
        names.append(name)
        values[name] = value
    results = r.sample(names, min(len(names), r.randint(1, 3)))
    arguments = ", ".join(f"x{i}" for i in range(len(inputs)))
    body = "\n    ".join([*lines, f"return ({', '.join(results)},)"])
    return f"def program({arguments}):\n    {body}\n"


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def bits(tensor):
    """Numbers in which NaN is one, and zeros have their sign."""
    tensor = tensor.detach().clone(memory_format=torch.contiguous_format)
    if tensor.is_floating_point():
        tensor[tensor.isnan()] = float("nan")
    return tensor.flatten()


def home(tensor, storages):
    """(number of the storage that it lies in, offset there); None for memory of its own."""
    for number, storage in enumerate(storages):
        if tensor.untyped_storage().data_ptr() == storage.untyped_storage().data_ptr():
            return number, tensor.storage_offset()
    return None


def seen_strides(tensor):
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


def differences(got, expected, ours_in=(), theirs_in=()):
    for ours, theirs in zip(got, expected, strict=True):
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return f"{ours.dtype} {tuple(ours.shape)} for {theirs.dtype} {tuple(theirs.shape)}"
        if seen_strides(ours) != seen_strides(theirs):
            return f"strides {ours.stride()} for {theirs.stride()}"
        if home(ours, ours_in) != home(theirs, theirs_in):
            return f"place {home(ours, ours_in)} for {home(theirs, theirs_in)}"
        one, other = bits(ours), bits(theirs)
        exact = torch.signbit(one) == torch.signbit(other) if one.is_floating_point() else True
        close = torch.isclose(one, other, rtol=1e-6, atol=0, equal_nan=True)
        wrong = ~(close & (exact | one.isnan()))
        if wrong.any():
            return f"{one[wrong][:4].tolist()} for {other[wrong][:4].tolist()}"
    return None


class NotExported(Exception):
    """PyTorch cannot export the program."""


def exported(module, inputs):
    try:
        return torch.export.export(module, tuple(inputs))
    except Exception as error:
        raise NotExported(str(error)) from error


def ways(function, storages, views):
    """Each way by name: a function that makes it, and PyTorch's own way to the same or None."""
    module = Call(function).eval()
    for name, dynamic in (("torch.compile", None), ("dynamic", True)):
        make = functools.partial(torch.compile, function, dynamic=dynamic)
        yield (name, functools.partial(make, backend="fxjit"),
               functools.partial(make, backend="aot_eager"))

    def compiled():
        exported(module, placed(storages, views)[1])
        return fxjit.compile(module, placed(storages, views)[1])
    yield "fxjit.compile", compiled, None

    def loaded():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.pt2")
            inputs = [torch.empty_strided(v.shape, v.stride())
                      for v in placed(storages, views)[1]]
            torch.export.save(exported(module, inputs), path)
            return fxjit.load(path)
    yield "fxjit.load", loaded, None


def outcome(call, storages, views):
    """Results and storages after the call, or the error."""
    storages, inputs = placed(storages, views)
    try:
        return pytree.tree_leaves(call(*inputs)), storages
    except Exception as error:
        return error, storages


def what_differs(make, expected, after, storages, views):
    """What a way does otherwise, in words; None for nothing."""
    torch._dynamo.reset()
    try:
        fast = make()
    except NotExported:
        raise
    except Exception as error:
        return f"not made: {in_words(error)}"
    got, ours = outcome(fast, storages, views)
    if isinstance(got, Exception):
        return in_words(got)
    return differences(got, expected, ours, after) or differences(ours, after)


def in_words(error):
    """Its type and message, without numbers, names of backends and hints of PyTorch's."""
    text = re.sub(r"0x[0-9a-f]+|\d+|backend='\w+' raised", "_", str(error))
    text = text.split("Set TORCH")[0].split("Please use torch.compile")[0]
    return f"{type(error).__name__}: {' '.join(text.split())[:200]}"


def try_program(text, storages, views):
    """The ways that differ, with what differs, and whether it is PyTorch's own difference."""
    scope = {"torch": torch, "LAST": LAST}
    exec(text, scope)
    function = scope["program"]
    expected, after = outcome(function, storages, views)
    if isinstance(expected, Exception):
        return
    for name, make, pytorchs in ways(function, storages, views):
        try:
            found = what_differs(make, expected, after, storages, views)
        except NotExported as error:
            yield name, in_words(error), True
            continue
        if found:
            own = pytorchs and what_differs(pytorchs, expected, after, storages, views)
            yield name, found, own == found


@torch.no_grad()
def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    logging.getLogger("fxjit").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    wrong = of_pytorch = 0
    for number in range(seed, seed + count):
        r = random.Random(number)
        storages, views = made_inputs(r)
        text = made_program(r, storages, views)
        for name, found, is_pytorchs in try_program(text, storages, views):
            of_pytorch += is_pytorchs
            if is_pytorchs:
                continue
            wrong += 1
            print(f"program {number}, {name}: {found}\n  inputs {views}\n{text}", flush=True)
    print(f"{count} programs, {wrong} differences; {of_pytorch} of PyTorch's own")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
