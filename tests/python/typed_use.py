"""Read by a type checker alone: the package's annotations say what it gives."""

from typing import assert_type

import fxjit
from fxjit.drawing import Graph
from fxjit.report import Input, Output, Profile, Report

model = fxjit.load("model.pt2", threads=1)
assert_type(model, fxjit.Model)
assert_type(model.inputs, list[Input])
assert_type(model.inputs[0].sizes, list[int | str])
assert_type(model.outputs, list[Output])
assert_type(model.graph, Graph)
assert_type(model.report(), Report)
assert_type(model.profile(1.0), Profile)
assert_type(model.report().native, bool)
assert_type(fxjit.version_text(), str)
