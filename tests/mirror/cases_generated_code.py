"""Code generation replaced or looked at: signatures, returns, inputs, lines."""

import copy
import typing

import torch
import torch.fx as fx
from torch.fx import Graph, GraphModule, Transformer, symbolic_trace
from torch.fx.graph import CodeGen

from mirror import case, fill, filled


class TakesList(CodeGen):
    """forward(self, args_list) in the place of one argument each."""

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        names = ", ".join(free_vars)
        return (
            f"def forward(self, args_list: List){maybe_return_annotation}:\n"
            f"    {names}, = args_list"
        )

    def additional_globals(self):
        return [("List", typing.List)]

    def process_inputs(self, *inputs):
        assert len(inputs) == 1
        return inputs[0]


class ReturnsDict(CodeGen):
    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        return f"return {{'result': {repr(output_args)}}}"

    def process_outputs(self, outputs):
        return {"result": outputs}


def two(x, y):
    return torch.relu(x) + y


@case
def inputs_from_a_list(m):
    gm = symbolic_trace(two)
    gm.graph.set_codegen(TakesList())
    gm.recompile()
    m.graph(gm)
    m.code(gm)
    m.value("result", gm([fill([3]), fill([3], 1)]))
    m.value("processed", list(gm.graph.process_inputs([1, 2])))


@case
def interpreted_with_a_list(m):
    gm = symbolic_trace(two)
    gm.graph.set_codegen(TakesList())
    gm.recompile()
    inputs = [fill([3]), fill([3], 1)]
    m.value("with", fx.Interpreter(gm).run(inputs))
    m.value("without", fx.Interpreter(gm).run(*inputs, enable_io_processing=False))


@case
def outputs_in_a_dict(m):
    gm = symbolic_trace(two)
    gm.graph.set_codegen(ReturnsDict())
    gm.recompile()
    m.code(gm)
    m.value("result", gm(fill([3]), fill([3], 1)))
    m.value("processed", gm.graph.process_outputs((1, "a")))
    m.value("interpreted", fx.Interpreter(gm).run(fill([3]), fill([3], 1)))


@case
def generation_copied_and_transformed(m):
    gm = symbolic_trace(two)
    gm.graph.set_codegen(TakesList())
    gm.recompile()
    m.code(copy.deepcopy(gm))
    m.code(copy.deepcopy(gm.graph))
    made = Transformer(gm).transform()
    m.code(made)
    m.value("result", made([fill([3]), fill([3], 1)]))


@case
def standard_generation_again(m):
    gm = symbolic_trace(two)
    gm.graph.set_codegen(TakesList())
    gm.recompile()
    gm.graph.set_codegen(CodeGen())
    gm.recompile()
    m.code(gm)
    m.outputs(gm, fill([3]), fill([3], 1))


@case
def definitions_by_hand(m):
    codegen = CodeGen()
    m.text("none", codegen.gen_fn_def([], ""))
    m.text("two", codegen.gen_fn_def(["a", "b : int"], " -> int"))
    m.text("self", codegen.gen_fn_def(["self", "x"], ""))
    m.text("expanded", codegen.gen_fn_def(["x", "*args"], "", expanded_def=True))
    m.text("output", codegen.generate_output((1, [2.5])))
    m.value("inputs", list(codegen.process_inputs(1, 2)))
    m.value("outputs", codegen.process_outputs({"a": 1}))
    m.value("globals", list(codegen.additional_globals()))


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)

    def forward(self, x, y=1.5):
        z = self.lin(x) * y
        return torch.nn.functional.gelu(z), float("inf")


@case
def names_used_by_code(m):
    gm = symbolic_trace(filled(Layers()))
    made = gm.graph.python_code("self")
    used = [name for name in made.globals if name in made.src]
    m.value("used", sorted(used))
    m.text("source", made.src)


@case
def code_of_another_root(m):
    gm = symbolic_trace(filled(Layers()))
    m.text("source", gm.graph.python_code("module").src)
    m.text("nested", gm.graph.python_code("self.owner").src)


@case
def lines_of_nodes(m):
    gm = symbolic_trace(filled(Layers()))
    made = gm.graph.python_code("self")
    m.value("lines", [[k, v] for k, v in sorted(made._lineno_map.items())])


@case
def bodies_changed_twice(m):
    gm = symbolic_trace(two)

    def noted(text):
        def change(body):
            return [f"# {text}\n"] + body
        return change

    with gm.graph.on_generate_code(lambda _: noted("first")):
        with gm.graph.on_generate_code(
            lambda before: lambda body: noted("second")(before(body))
        ):
            m.code(gm.graph)
        m.code(gm.graph)
    m.code(gm.graph)


@case
def bodies_with_lines_taken_out(m):
    gm = symbolic_trace(lambda x: torch.relu(torch.neg(x)))

    def without_frees(_):
        return lambda body: [
            line.split(";")[0] + "\n" for line in "".join(body).splitlines()]

    gm.graph.on_generate_code(without_frees)
    gm.recompile()
    m.code(gm)
    m.value("result", gm(fill([3])))


@case
def containers_taken_apart(m):
    class M(torch.nn.Module):
        def forward(self, pair, more):
            total = pair["a"] + pair["b"][0]
            return {"sum": total, "rest": [more[0] * 2, pair["b"][1]]}

    PH = fx.PH
    gm = symbolic_trace(M(), {"pair": {"a": PH, "b": (PH, PH)}, "more": [PH]})
    m.code(gm)
    given = {"a": fill([2]), "b": (fill([2], 1), fill([2], 2))}
    m.value("inputs", list(gm.graph.process_inputs(given, [fill([2], 3)])))
    m.value("outputs", gm.graph.process_outputs([1, 2, 3]))
    m.value("result", gm(given, [fill([2], 3)]))
    m.outputs(gm, given, [fill([2], 3)])


@case
def containers_run_flat(m):
    PH = fx.PH
    gm = symbolic_trace(lambda pair: (pair[0] - pair[1], pair[0]),
                        {"pair": (PH, PH)})
    interpreter = fx.Interpreter(gm)
    flat = interpreter.run(fill([2]), fill([2], 1), enable_io_processing=False)
    m.value("flat", flat)
    m.value("whole", interpreter.run((fill([2]), fill([2], 1))))


@case
def leaves_of_outputs(m):
    graph = Graph()
    x = graph.placeholder("x")
    neg = graph.call_function(torch.neg, (x,))
    graph.output({"a": (neg, 1), "b": [None, {"c": x}]})
    gm = GraphModule({}, graph)
    m.code(gm)
    m.outputs(gm, fill([2]))
