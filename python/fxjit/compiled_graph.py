"""A graph that torch.compile made, as it is called."""

import threading
import time

import torch

from ._fxjit import WeightCheck
from .discarded import discard
from .graphs import GraphReader, in_pairs, log
from .places import Places
from .written_places import read_where_written


class CompiledGraph:
    """A graph of ATen ops with its weights, bound at the first call and when they change."""

    _boxed_call = True
    recorder = None  # Called with (graph, inputs) of each call.

    def __init__(self, graph_module, static_indices, options, discards=False):
        in_pairs(graph_module)
        read_where_written(graph_module)
        self._graph_module = graph_module
        self._options = options
        self._discards = discards  # The memory of the weights, once they are bound.
        placeholders = graph_module.graph.find_nodes(op="placeholder")
        self._weights = [i for i in static_indices if not _is_written(placeholders[i])]
        weights = set(self._weights)
        self._inputs = [i for i in range(len(placeholders)) if i not in weights]
        self._places = Places(graph_module)
        self.in_python = []  # What stays with PyTorch, once bound.
        self._in_pytorch = False  # The whole graph.
        self.compile_seconds = 0.0  # Of binding and the first call after it, in all.
        self._lock = threading.Lock()
        self._ids = set()
        self._bound = None  # (WeightCheck, Model)

    def __call__(self, args):
        bound = self._bound
        if bound is None or bound[0].changed(args):
            return self._first_call(args)
        return self._run(bound, args)

    def _first_call(self, args):
        begin = time.perf_counter()
        bound = self._bind(args)
        if bound is None:
            return self._graph_module(*args)
        results = self._run(bound, args)
        self.compile_seconds += time.perf_counter() - begin
        return results

    def _run(self, bound, args):
        inputs = [args[i] for i in self._inputs]
        views = self._places.views(args)
        args.clear()
        if self.recorder:
            self.recorder((self, inputs))
        return self._places.laid(bound[1](*inputs), views)

    @property
    def model(self):
        """The fxjit.Model of the last call; None before the first, and where PyTorch runs it."""
        return self._bound and self._bound[1]

    def refresh(self, held):
        """Binds the weights anew at the next call, where one has an id among `held` or it is
        None."""
        with self._lock:
            if held is None or held & self._ids:
                self._bound = None

    def _bind(self, args):
        with self._lock:
            bound = self._bound
            if self._in_pytorch or (bound is not None and not bound[0].changed(args)):
                return bound  # Another thread was first.
            self._bound = None  # Frees what was packed before the new weights are.
            if self._discards:
                discard([args[i] for i in self._weights])
            try:
                self._bound = (WeightCheck(self._weights, args), self._model_with(args))
            except Exception as error:  # Whatever it is, PyTorch can run its own graph.
                log.warning("a whole graph stays with PyTorch: %s: %s", type(error).__name__,
                            error)
                self._in_pytorch = True
                self.in_python = ["a whole graph"]
            self._ids = {id(args[i]) for i in self._weights}
            return self._bound

    def _model_with(self, args):
        placeholders = self._graph_module.graph.find_nodes(op="placeholder")
        weights = {placeholders[i]: args[i] for i in self._weights}
        reader = GraphReader("torch.compile", weights)
        result = reader.read(self._graph_module.graph)
        self.in_python = sorted(set(reader.in_python))
        if self.in_python:
            log.warning("calls that stay with PyTorch: %s", ", ".join(self.in_python))
        options = {"threads": torch.get_num_threads(), **self._options}
        return reader.builder.compile(list(result), **options)


def _is_written(placeholder):
    return any(user.args and user.args[0] is placeholder
               and isinstance(user.target, torch._ops.OpOverload)
               and user.target._schema.is_mutable for user in placeholder.users)
