"""Models in pickles and in files of PyTorch's kind."""

import importlib.util
import os
import tempfile

from ._fxjit import MissingFunctions, Model
from .exported import host_functions_of


def restore(name, program, weights, options, written, containers=None):
    """The model of which a pickle holds the files' bytes."""
    with tempfile.TemporaryDirectory(prefix="fxjit-") as folder:
        path, weights_path = os.path.join(folder, "program"), ""
        with open(path, "wb") as file:
            file.write(program)
        if weights is not None:
            weights_path = os.path.join(folder, "weights")
            with open(weights_path, "wb") as file:
                file.write(weights)
        model = _model(path, weights_path, options, name)  # Keeps what it maps.
    model._set_written(written)
    model._containers = containers
    return model


def restore_by_path(name, path, weights_path, options, written, containers=None):
    """The model of which a pickle names the files."""
    model = _model(path, weights_path, options, name)
    model.pickled_by_path = True
    model._set_written(written)
    model._containers = containers
    return model


def _model(path, weights, options, name):
    try:
        return Model(path, weights, options, name)
    except MissingFunctions:
        if importlib.util.find_spec("torch") is None:
            raise
    host_functions_of(path)
    return Model(path, weights, options, name)
