"""Why a compiled model gives a wrong number: fxjit.check."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from . import reference
from ._fxjit import Model, UserError


class Check(str):
    """What fxjit.check found. Prints as text. `difference` is empty where all agree (`agrees`).

    node: the first node whose value differs: a dict with name, target, file, line, trace and
        difference, or None.
    pass_: the compiler's pass that makes it wrong, or None. right_without: passes without which
        the result is right.
    step: the step of the compiled program that computes the node, a dict with label, kernel and
        nodes, or None.
    reduced, inputs: the smallest model that still shows it, and the arrays it is called with.
    """

    difference: str
    node: dict[str, Any] | None
    pass_: str | None
    right_without: list[str]
    step: dict[str, Any] | None
    reduced: Model | None
    inputs: list[Any]

    def __new__(cls, text: str, difference: str, node: dict[str, Any] | None, pass_: str | None,
                right_without: list[str], step: dict[str, Any] | None, reduced: Model | None,
                inputs: list[Any]) -> Check:
        made = super().__new__(cls, text)
        made.difference, made.node, made.pass_ = difference, node, pass_
        made.right_without, made.step = right_without, step
        made.reduced, made.inputs = reduced, inputs
        return made

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.difference

    def save(self, folder: str | os.PathLike[str], format: str = "fx") -> str:
        """Writes the smallest model to FOLDER/model.FORMAT and its inputs to FOLDER/NAME.npy, and
        gives the model's path. format: "fx" (of fx::save), "pt2" or "onnx", which torch makes."""
        if self.reduced is None:
            raise UserError("there is no smaller model to be written")
        if format not in ("fx", "pt2", "onnx"):
            raise ValueError(f"format: expected fx, pt2 or onnx, got {format}")
        os.makedirs(folder, exist_ok=True)
        arrays = {one.name: _numpy(value) for one, value in zip(self.reduced.inputs, self.inputs)}
        for name, array in arrays.items():
            reference.package("numpy").save(os.path.join(folder, f"{name}.npy"), array)
        path = os.path.join(folder, f"model.{format}")
        if format == "fx":
            self.reduced.save(path)
            return path
        with tempfile.TemporaryDirectory(prefix="fxjit-") as package:
            place = os.path.join(package, "reduced_model")
            self.reduced.to_folder(place)
            reference.export(place, arrays, path)
        return path


def _numpy(value: Any) -> Any:
    return reference.package("numpy").asarray(
        value.detach().cpu() if hasattr(value, "detach") else value)


def check(model: Any, inputs: Any = (), *, against: str = "interpreter",
          tolerance: float | None = None, reduce: bool = True, **options: Any) -> Check:
    """As fxjit.check."""
    if against not in ("interpreter", "torch", "onnxruntime"):
        raise ValueError(f"against: expected interpreter, torch or onnxruntime, got {against}")
    made, path = _model(model, tuple(inputs), options)
    given = None if against == "interpreter" else _reference(against, made, path, inputs)
    return made._check(*inputs, tolerance=tolerance, reference=given, reduce=reduce)


def _model(model: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> tuple[Model, str]:
    """The model, and its file where it is known."""
    from . import compile, load

    if isinstance(model, Model):
        if options:
            raise ValueError("options are those that the model was loaded with")
        return model, ""
    if isinstance(model, (str, os.PathLike)):
        return load(model, **options), os.fspath(model)
    return compile(model, inputs, **options), ""


def _reference(against: str, model: Model, path: str, inputs: Any) -> tuple[Any, ...]:
    named = {one.name: _numpy(value) for one, value in zip(model.inputs, inputs)}
    with tempfile.TemporaryDirectory(prefix="fxjit-") as folder:
        if not path:
            path = os.path.join(folder, "model.pt2" if against == "torch" else "model.onnx")
            model.save(path)
        try:
            if against == "torch":
                return reference.torch_values(path, named)
            return reference.onnxruntime_values(path, named, folder)
        except reference.Missing as missing:
            raise UserError(str(missing)) from None
