"""What torch.compile(model, backend="fxjit") makes of a model."""

import torch

from . import torch_backend


class Explanation(str):
    """Prints as text. `graphs`: a Profile for each graph, with the time of each step; `breaks`:
    (reason, "file:line") of each graph break; `in_python`: functions that PyTorch runs inside
    the graphs; `native_share`: of the graphs' time, what native code takes; `compile_seconds`:
    what fxjit took for them, without Dynamo and AOT autograd."""

    def __new__(cls, profiles, breaks, in_python, compile_seconds, notes):
        rows = [row for profile in profiles for row in profile.rows]
        total = sum(row["microseconds"] for row in rows)
        native = sum(row["microseconds"] for row in rows if not row["reason"])
        share = native / total if total else 0.0
        lines = [f"{len(profiles)} graphs, {len(breaks)} graph breaks, "
                 f"{100 * share:.1f}% of the graphs' time in native code"]
        lines += [f"break at {place}: {reason}" for reason, place in breaks]
        lines += notes
        if in_python:
            lines.append(f"in PyTorch: {', '.join(in_python)}")
        for number, profile in enumerate(profiles):
            lines += [f"graph {number}:", profile]
        made = super().__new__(cls, "\n".join(lines))
        made.graphs, made.breaks, made.in_python = profiles, breaks, in_python
        made.native_share, made.compile_seconds = share, compile_seconds
        return made


def _break(reason):
    place = reason.user_stack[-1] if reason.user_stack else None
    return reason.reason.split("\n")[0], f"{place.filename}:{place.lineno}" if place else "?"


def _notes(model):
    layers = model.modules() if isinstance(model, torch.nn.Module) else ()
    kinds = sorted({f"nn.{type(m).__name__}" for m in layers if isinstance(m, torch.nn.RNNBase)})
    if not kinds or torch._dynamo.config.allow_rnn:
        return []
    return [f"{', '.join(kinds)}: left to PyTorch by Dynamo, which "
            "torch._dynamo.config.allow_rnn = True changes"]


def explain(model, *args, **kwargs):
    """As fxjit.explain."""
    with torch.no_grad():
        torch._dynamo.reset()
        found = torch._dynamo.explain(model)(*args, **kwargs)
        torch._dynamo.reset()
        calls = []
        with torch_backend.recorded(calls):
            torch.compile(model, backend=torch_backend.backend)(*args, **kwargs)
    profiles = [graph.model.profile(*inputs) for graph, inputs in calls]
    graphs = {graph for graph, _ in calls}
    in_python = sorted({name for graph in graphs for name in graph.in_python})
    return Explanation(profiles, [_break(reason) for reason in found.break_reasons], in_python,
                       sum(graph.compile_seconds for graph in graphs), _notes(model))
