"""Control flow in graphs: nodes that call branches and bodies."""

import operator

import torch
import torch.fx as fx
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as map_slices
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.split_module import split_module

from mirror import case, fill

HIGHER = torch.ops.higher_order


def shown(m, gm, *bodies):
    """A graph module with its branches and bodies."""
    m.graph(gm)
    m.code(gm)
    for name in bodies:
        m.graph(gm.get_submodule(name))
        m.code(gm.get_submodule(name))


@case
def cond_of_two_branches(m):
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))

    gm = make_fx(f)(fill([2, 3]))
    shown(m, gm, "true_graph_0", "false_graph_0")
    m.text("str", str(gm))
    m.outputs(gm, fill([2, 3]).abs())
    m.outputs(gm, -fill([2, 3]).abs())


@case
def cond_with_several_results(m):
    def f(x):
        return torch.cond(
            x.sum() > 0,
            lambda x: {"a": x + 1, "b": [x * 2]},
            lambda x: {"a": x - 1, "b": [x * 3]},
            (x,),
        )

    gm = make_fx(f)(fill([2, 3]))
    shown(m, gm, "true_graph_0", "false_graph_0")
    m.outputs(gm, fill([2, 3]).abs())
    m.outputs(gm, -fill([2, 3]).abs())


@case
def cond_lifts_what_it_uses(m):
    def f(x, y, z):
        return torch.cond(
            x.sum() > 0, lambda x: x + y, lambda x: x * z, (x,)
        )

    inputs = fill([2, 3]), fill([3], 1), fill([3], 2)
    gm = make_fx(f)(*inputs)
    shown(m, gm, "true_graph_0", "false_graph_0")
    m.outputs(gm, *inputs)


@case
def cond_in_cond(m):
    def f(x):
        def inner(x):
            return torch.cond(
                x.sum() > 5, lambda x: x + 1, lambda x: x - 1, (x,)
            )

        return torch.cond(x.sum() > 0, inner, lambda x: x * 2, (x,))

    gm = make_fx(f)(fill([2, 3]))
    shown(
        m, gm, "true_graph_0", "true_graph_0.true_graph_0",
        "true_graph_0.false_graph_0", "false_graph_0",
    )
    m.outputs(gm, fill([2, 3]).abs() + 3)
    m.outputs(gm, fill([2, 3]).abs())
    m.outputs(gm, -fill([2, 3]).abs())


@case
def one_cond_after_another(m):
    def f(x):
        y = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))
        return torch.cond(y.sum() > 9, lambda x: x - 1, lambda x: x * 3, (y,))

    gm = make_fx(f)(fill([2, 3]))
    shown(m, gm, "true_graph_0", "true_graph_1")
    m.outputs(gm, fill([2, 3]).abs() + 2)
    m.outputs(gm, -fill([2, 3]).abs())


@case
def while_loop_over_two_tensors(m):
    def f(i, x):
        return while_loop(
            lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (i, x)
        )

    gm = make_fx(f)(torch.tensor(0), fill([2, 3]))
    shown(m, gm, "while_loop_cond_graph_0", "while_loop_body_graph_0")
    m.outputs(gm, torch.tensor(0), fill([2, 3]))
    m.outputs(gm, torch.tensor(4), fill([2, 3]))
    m.outputs(gm, torch.tensor(7), fill([2, 3]))


@case
def while_loop_lifts_what_it_uses(m):
    def f(i, x, n, z):
        return while_loop(
            lambda i, x: i < n, lambda i, x: (i + 1, x * z), (i, x)
        )

    inputs = torch.tensor(0), fill([2, 3]), torch.tensor(3), fill([3], 1)
    gm = make_fx(f)(*inputs)
    shown(m, gm, "while_loop_cond_graph_0", "while_loop_body_graph_0")
    m.outputs(gm, *inputs)
    m.outputs(gm, torch.tensor(3), *inputs[1:])


@case
def scan_with_carry_and_stack(m):
    def f(c, x):
        return scan(lambda c, x: (c + x, c * x), c, x)

    gm = make_fx(f)(fill([3]), fill([4, 3], 1))
    shown(m, gm, "scan_combine_graph_0")
    m.outputs(gm, fill([3]), fill([4, 3], 1))
    m.outputs(gm, fill([3]), fill([1, 3], 1))


@case
def map_with_an_argument(m):
    def f(x, y):
        return map_slices(lambda x, y: x * y, x, y)

    gm = make_fx(f)(fill([4, 3]), fill([3], 1))
    shown(m, gm, "body_graph_0")
    m.outputs(gm, fill([4, 3]), fill([3], 1))


@case
def associative_scan_of_sums(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.combine = fx.symbolic_trace(lambda a, b: [a + b])

    root = M()
    graph = fx.Graph()
    x = graph.placeholder("x")
    combine = graph.get_attr("combine")
    call = graph.call_function(HIGHER.associative_scan, (combine, [x], ()))
    graph.output(call)
    gm = fx.GraphModule(root, graph, "M")
    shown(m, gm, "combine")
    m.outputs(gm, fill([5, 2]))
    m.outputs(gm, fill([1, 2]))


class Hand(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = fx.symbolic_trace(lambda x: (x + 1,))
        self.down = fx.symbolic_trace(lambda x: (x - 1,))


def by_hand():
    graph = fx.Graph()
    x = graph.placeholder("x")
    pred = graph.placeholder("pred")
    up = graph.get_attr("up")
    down = graph.get_attr("down")
    call = graph.call_function(HIGHER.cond, (pred, up, down, (x,)))
    first = graph.call_function(operator.getitem, (call, 0))
    graph.output(graph.call_function(torch.neg, (first,)))
    return fx.GraphModule(Hand(), graph, "Hand")


@case
def tools_leave_it_whole(m):
    gm = by_hand()
    gm.graph.lint()
    m.graph(fx.Transformer(gm).transform())
    m.graph(fx.GraphModule(gm, gm.graph))
    copy = fx.Graph()
    copy.output(copy.graph_copy(gm.graph, {}))
    m.graph(copy)
    m.tabular(gm)
    split = split_module(
        gm, gm, lambda node: 1 if node.target is torch.neg else 0
    )
    m.graph(split)
    for name, part in split.named_children():
        if name.startswith("submod"):
            m.graph(part)
    m.outputs(split, fill([2, 3]), torch.tensor(True))
    m.outputs(split, fill([2, 3]), torch.tensor(False))
    gm.graph.eliminate_dead_code()
    gm.recompile()
    m.outputs(gm, fill([2, 3]), torch.tensor(False))


@case
def replaced_inside(m):
    gm = by_hand()
    fx.replace_pattern(gm, lambda x: torch.neg(x), lambda x: torch.abs(x))
    m.graph(gm)
    fx.replace_pattern(gm.down, lambda x: x - 1, lambda x: x - 2)
    m.graph(gm.down)
    m.outputs(gm, fill([2, 3]), torch.tensor(False))


@case
def wrong_calls(m):
    x = fill([2, 3])
    down = fx.symbolic_trace(lambda x: (x - 1,))
    many = fx.symbolic_trace(lambda x: (x, x))
    a_list = fx.symbolic_trace(lambda x: [x])
    small = fx.symbolic_trace(lambda x: x.sum() < 10)
    each = fx.symbolic_trace(lambda x: x < 10)
    true = torch.tensor(True)
    m.error(lambda: HIGHER.cond(x, down, down, (x,)))
    m.error(lambda: HIGHER.while_loop(each, down, (x,), ()), until=" but got")
    m.error(lambda: HIGHER.while_loop(small, many, (x,), ()))
    m.error(lambda: HIGHER.while_loop(small, a_list, (x,), ()))
    m.error(lambda: torch.cond(x > 0, lambda x: x, lambda x: x, (x,)),
            until=", but got")
    m.error(lambda: torch.cond(true, lambda x: x, lambda x: x, (3,)),
            until=", but got")
    m.error(lambda: torch.cond("yes", lambda x: x, lambda x: x, (x,)),
            until=", but got")
    m.error(lambda: scan(lambda c, x: (c, x), fill([3]), fill([0, 3])))
    m.error(lambda: scan(lambda c, x: (c, x), [], fill([2, 3])))
    m.error(lambda: map_slices(lambda x: x, fill([0, 3])))
