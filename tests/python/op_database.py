"""Holds torch's own op database against fxjit: python tests/python/op_database.py [REGEX]

Every op, f32, f64, bf16, f16, i64 and bool, the sample inputs that torch has for it: the sample's
call is traced to a graph as torch.compile's back ends get it, run by fxjit, and compared with
torch, where they differ in double precision. Needs the package expecttest. Prints what is wrong, and counts: samples right, those of which all steps are native, left
to PyTorch inside the graph (fxjit lacks the function), refused (PyTorch runs the whole graph),
and not traced by torch. Exit code 1 when a number, dtype or size is wrong.
"""

import collections
import logging
import re
import sys
import warnings

import torch
from fxjit import torch_backend
from fxjit.compiled_graph import CompiledGraph
from torch.export import exported_program
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.bool]
SAMPLES = 12  # Of an op and dtype; torch has up to hundreds.
# How far results may differ, relative to a result's largest number: about what two orders of
# summing do.
BOUNDS = {torch.float64: 1e-10, torch.float32: 3e-5, torch.complex64: 3e-5,
          torch.complex128: 1e-10, torch.complex32: 4e-3, torch.bfloat16: 3e-2,
          torch.float16: 4e-3}
# Their numbers are not determined: uninitialised memory, random numbers.
UNDETERMINED = re.compile(r"empty|rand|bernoulli|multinomial|normal|dropout|uniform|cauchy|"
                          r"exponential|geometric|poisson|rrelu|fractional_max_pool|svd|eig|qr|lu")


class Wrong(Exception):
    """A result that is not torch's."""


def tensors_of(tree):
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def compare(got, expected):
    if len(got) != len(expected):
        raise Wrong(f"{len(got)} results for {len(expected)}")
    for ours, theirs in zip(got, expected, strict=True):
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            raise Wrong(f"{ours.dtype} {tuple(ours.shape)} for "
                        f"{theirs.dtype} {tuple(theirs.shape)}")
        if theirs.dtype not in BOUNDS:
            if not torch.equal(ours, theirs):
                raise Wrong(f"{ours.flatten()[:5].tolist()} for {theirs.flatten()[:5].tolist()}")
            continue
        wide = torch.complex128 if theirs.is_complex() else torch.float64
        finite = theirs[torch.isfinite(theirs)].to(wide).abs()
        largest = finite.max().item() if finite.numel() else 1.0
        bound = BOUNDS[theirs.dtype] * max(largest, 1e-30)
        if not torch.allclose(ours.to(wide), theirs.to(wide), atol=bound, rtol=0,
                              equal_nan=True):
            raise Wrong(f"off by {(ours.to(wide) - theirs.to(wide)).abs().max():.2e}, largest "
                        f"{largest:.2e}")


def widened(tensor):
    wide = torch.complex128 if tensor.is_complex() else torch.float64
    return tensor.to(wide) if tensor.is_floating_point() or tensor.is_complex() else tensor


def compare_twice(got, call, tensors, expected):
    """With torch's results; where those are far off themselves, with those of doubles."""
    try:
        compare(got, [t.resolve_conj() for t in expected])
    except Wrong as wrong:
        exact = call(*[widened(t) for t in tensors])
        try:
            compare(got, [e.to(t.dtype) for e, t in zip(exact, expected, strict=True)])
        except Wrong:
            raise wrong from None


def traced(op, sample):
    """The graph of a sample's call on its tensors, and these."""
    leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def call(*tensors):
        filled = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(filled, spec)
        return tuple(tensors_of(op(first, *args, **kwargs)))
    tensors = [leaves[i] for i in places]
    with exported_program._override_composite_implicit_decomp(torch_backend._kept_whole()):
        graph = make_fx(torch.func.functionalize(call),
                        decomposition_table=torch_backend._decompositions())(*tensors)
    return graph, tensors, call


def is_undetermined(op, sample):
    drops = sample.kwargs.get("dropout_p") or (
        op.name == "nn.functional.multi_head_attention_forward" and sample.kwargs["training"])
    return UNDETERMINED.search(op.name) or drops


def picked(op, sample, results):
    """Sorting may choose among equal elements: what was found in place of where."""
    place = {"topk": 1, "sort": 0, "argsort": 0}.get(op.name)
    if place is None or sample.kwargs.get("stable"):
        return results
    dim = sample.args[place] if len(sample.args) > place else sample.kwargs.get("dim", -1)
    return [*results[:-1], sample.input.gather(dim, results[-1])]


def try_sample(op, sample):
    """How it went, and a text for what is wrong."""
    try:
        graph, tensors, call = traced(op, sample)
        expected = call(*[t.clone() for t in tensors])
    except Exception as error:  # torch's own refusals, of any type.
        return "not traced", str(error)
    if not graph.graph.output_node().args[0]:
        return "not traced", "no results"
    if any(tensor.layout != torch.strided for tensor in expected):
        return "not traced", "sparse results, at which Dynamo breaks the graph"
    compiled = CompiledGraph(graph, [], {"threads": 1})
    got = compiled([t.clone() for t in tensors])
    if not is_undetermined(op, sample):
        compare_twice(picked(op, sample, pytree.tree_leaves(got)),
                      lambda *t: picked(op, sample, call(*t)), tensors,
                      picked(op, sample, expected))
    if compiled.model is None:
        return "refused", ""
    if compiled.in_python:
        return "left to PyTorch", ", ".join(compiled.in_python)
    return ("native" if compiled.model.report().native else "not native"), ""


def try_op(op, dtype, counts):
    samples = op.sample_inputs("cpu", dtype, requires_grad=False)
    for number, sample in enumerate(samples):
        if number == SAMPLES:
            return
        place = f"{op.name} {op.variant_test_name} {dtype} sample {number}"
        try:
            outcome, text = try_sample(op, sample)
        except Exception as error:
            outcome = "wrong" if isinstance(error, Wrong) else "failed"
            print(f"{outcome}: {place}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        else:
            if outcome in ("left to PyTorch", "refused", "not native"):
                counts["names"][f"{outcome}: {op.name} {text}"] += 1
        counts[outcome] += 1


def main():
    warnings.simplefilter("ignore")
    logging.getLogger("fxjit").setLevel(logging.ERROR)
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    counts = collections.Counter()
    counts["names"] = collections.Counter()
    torch.set_num_threads(1)
    with torch.no_grad():
        for op in op_db:
            for dtype in DTYPES:
                if pattern.search(op.name) and dtype in op.supported_dtypes("cpu"):
                    torch.manual_seed(0)
                    try_op(op, dtype, counts)
    names = counts.pop("names")
    for name, count in sorted(names.items()):
        print(f"{name}: {count}")
    print(dict(counts))
    return 1 if counts["wrong"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
