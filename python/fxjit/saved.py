"""Models in pickles and in files of PyTorch's kind."""

import os
import tempfile


def restore(name, program, weights, options, written):
    """The model of which a pickle holds the files' bytes."""
    from ._fxjit import Model

    with tempfile.TemporaryDirectory(prefix="fxjit-") as folder:
        path, weights_path = os.path.join(folder, "program"), ""
        with open(path, "wb") as file:
            file.write(program)
        if weights is not None:
            weights_path = os.path.join(folder, "weights")
            with open(weights_path, "wb") as file:
                file.write(weights)
        model = Model(path, weights_path, options, name)  # Keeps what it maps.
    model._set_written(written)
    return model


def restore_by_path(name, path, weights_path, options, written):
    """The model of which a pickle names the files."""
    from ._fxjit import Model

    model = Model(path, weights_path, options, name)
    model.pickled_by_path = True
    model._set_written(written)
    return model
